/** The text box: draft, growth, length, Enter and input methods. */

import { filled } from "./view.js";

const TYPING_EVERY = 5000;
const COUNT_FROM_LAST = 400;
/** Room for everything in a `say` frame but its text. */
const FRAME_OVERHEAD = 128;

/** Length in Unicode code points, as the server counts. */
export function characterCount(text) {
  return [...text].length;
}

export class Composer {
  /** `onSend(text)` gets a message of legal length; `onTyping()` comes at most every 5 s. */
  constructor(root, texts, limits, storage, { onSend, onTyping }) {
    Object.assign(this, { texts, limits, storage, onSend, onTyping });
    this.form = root.querySelector("#chat-composer");
    this.box = root.querySelector("#chat-text");
    this.button = root.querySelector("#chat-send");
    this.notice = root.querySelector("#chat-notice");
    this.counter = root.querySelector("#chat-counter");
    this.pauseNote = root.querySelector("#chat-paused");
    this.paused = false;
    this.typedAt = -Infinity;
    this.box.value = storage.readDraft();
    this.box.addEventListener("input", () => this.#typed());
    this.box.addEventListener("keydown", (event) => this.#pressed(event));
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#send();
    });
    this.#measure();
  }

  focus() {
    this.box.focus({ preventScroll: true });
  }

  /** Put a message that was refused back, before what has been written since. */
  giveBack(text) {
    this.box.value = this.box.value === "" ? text : `${text}\n${this.box.value}`;
    this.storage.writeDraft(this.box.value);
    this.#measure();
  }

  showNotice(text) {
    this.notice.textContent = text;
  }

  close() {
    this.form.hidden = true;
  }

  /** While the participant is paused nothing can be written; the draft stays. */
  pause(paused) {
    this.paused = paused;
    this.box.readOnly = paused;
    this.form.classList.toggle("composer--paused", paused);
    this.pauseNote.hidden = !paused;
    this.#measure();
  }

  #typed() {
    this.storage.writeDraft(this.box.value);
    this.showNotice("");
    this.#measure();
    const now = performance.now();
    if (this.box.value === "" || now - this.typedAt < TYPING_EVERY) return;
    this.typedAt = now;
    this.onTyping();
  }

  #pressed(event) {
    if (event.key !== "Enter" || event.shiftKey) return;
    // While an input method is composing, Enter picks a candidate (229: older WebKit says it so).
    if (event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    this.#send();
  }

  #send() {
    const text = this.box.value.trim();
    if (this.paused || text === "" || this.#isTooLong(text)) return;
    this.box.value = "";
    this.showNotice("");
    this.onSend(text);
    this.storage.writeDraft("");
    this.#measure();
    this.focus();
  }

  #isTooLong(text) {
    const bytes = new TextEncoder().encode(JSON.stringify(text)).length;
    return (
      characterCount(text) > this.limits.message_characters ||
      bytes > this.limits.frame_bytes - FRAME_OVERHEAD
    );
  }

  #measure() {
    const text = this.box.value.trim();
    const left = this.limits.message_characters - characterCount(text);
    const tooLong = this.#isTooLong(text);
    const template = left < 0 ? this.texts.charactersOver : this.texts.charactersLeft;
    this.counter.textContent =
      left < COUNT_FROM_LAST ? filled(template, { count: Math.abs(left) }) : "";
    this.counter.classList.toggle("composer__counter--over", tooLong);
    this.box.setAttribute("aria-invalid", String(tooLong));
    this.button.setAttribute("aria-disabled", String(this.paused || text === "" || tooLong));
    this.box.style.height = "auto";
    this.box.style.height = `${this.box.scrollHeight + 2}px`;
  }
}
