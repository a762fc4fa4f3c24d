/** Seconds that a page was looked at: time in the background doesn't count. */
export class Stopwatch {
  constructor() {
    this.restart();
    document.addEventListener("visibilitychange", () => this.#turn());
  }

  restart() {
    this.total = 0;
    this.since = document.hidden ? null : performance.now();
  }

  seconds() {
    const running = this.since === null ? 0 : performance.now() - this.since;
    return Math.round((this.total + running) / 10) / 100;
  }

  #turn() {
    if (document.hidden && this.since !== null) {
      this.total += performance.now() - this.since;
      this.since = null;
    } else if (!document.hidden && this.since === null) {
      this.since = performance.now();
    }
  }
}
