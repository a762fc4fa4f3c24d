/** How a message is written, where the participant has agreed to that: never what. */

/** Whoever stops for longer is thinking, or away. */
const PAUSE = 2000;

export class WritingMeter {
  constructor(box) {
    this.#reset();
    box.addEventListener("input", () => this.#typed());
    box.addEventListener("paste", (event) => {
      this.measured.pastes += 1;
      this.measured.pasted_characters += [...(event.clipboardData?.getData("text") ?? "")].length;
    });
    window.addEventListener("blur", () => this.#left());
    window.addEventListener("focus", () => this.#returned());
  }

  /** What was measured since the last message. */
  take() {
    this.#returned();
    const { measured } = this;
    this.#reset();
    return Object.fromEntries(
      Object.entries(measured).map(([name, number]) => [name, Math.round(number)]),
    );
  }

  #reset() {
    this.typedAt = null;
    this.leftAt = null;
    this.measured = { typing_ms: 0, pastes: 0, pasted_characters: 0, departures: 0, away_ms: 0 };
  }

  #typed() {
    const now = performance.now();
    if (this.typedAt !== null && now - this.typedAt <= PAUSE) {
      this.measured.typing_ms += now - this.typedAt;
    }
    this.typedAt = now;
  }

  #left() {
    if (this.leftAt !== null) return;
    this.leftAt = performance.now();
    this.measured.departures += 1;
  }

  #returned() {
    if (this.leftAt === null) return;
    this.measured.away_ms += performance.now() - this.leftAt;
    this.leftAt = null;
  }
}
