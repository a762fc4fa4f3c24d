/**
 * Answers that the server doesn't have yet, kept on this device until it does.
 *
 * A draft names the revision it was written on. If the server has gone on since, on another device
 * or in another tab, what it has wins and the draft only fills in what it lacks.
 */

export class Draft {
  /** `storage` is the browser's, or null where it keeps nothing. */
  constructor(response, storage = available()) {
    this.key = `memlab.answers.${response}`;
    this.storage = storage;
  }

  /** `answers` of the server at `revision`, with what was written here. */
  over(answers, revision) {
    const draft = this.read();
    if (draft === null) return answers;
    return draft.revision === revision
      ? { ...answers, ...draft.answers }
      : { ...draft.answers, ...answers };
  }

  read() {
    const text = this.storage?.getItem(this.key) ?? null;
    return text === null ? null : JSON.parse(text);
  }

  write(answers, revision) {
    this.storage?.setItem(this.key, JSON.stringify({ revision, answers }));
  }

  remove() {
    this.storage?.removeItem(this.key);
  }
}

function available() {
  try {
    window.localStorage.setItem("memlab.probe", "1");
    window.localStorage.removeItem("memlab.probe");
    return window.localStorage;
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    return null;
  }
}
