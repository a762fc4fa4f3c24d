/**
 * What must survive a reload: the draft, and messages that the server hasn't acknowledged.
 *
 * Each unsent message has a key of its own, so that two tabs of one session can't overwrite each
 * other's.
 */

/** The browser's storage, or one that lasts as long as the page where the browser forbids it. */
function availableArea() {
  try {
    const area = window.localStorage;
    area.setItem("memlab.probe", "1");
    area.removeItem("memlab.probe");
    return { area, lasting: true };
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    return { area: new PageArea(), lasting: false };
  }
}

class PageArea {
  #entries = new Map();

  get length() {
    return this.#entries.size;
  }

  key(position) {
    return [...this.#entries.keys()][position] ?? null;
  }

  getItem(key) {
    return this.#entries.get(key) ?? null;
  }

  setItem(key, text) {
    this.#entries.set(key, text);
  }

  removeItem(key) {
    this.#entries.delete(key);
  }
}

export class SessionStorage {
  /** `name` tells sessions apart; `lasting` is false where nothing survives a reload. */
  constructor(name) {
    const { area, lasting } = availableArea();
    this.area = area;
    this.lasting = lasting;
    this.draftKey = `memlab.draft.${name}`;
    this.unsentPrefix = `memlab.unsent.${name}.`;
    this.putAwayKey = `memlab.card.${name}`;
  }

  readDraft() {
    return this.area.getItem(this.draftKey) ?? "";
  }

  writeDraft(text) {
    if (text === "") this.area.removeItem(this.draftKey);
    else this.area.setItem(this.draftKey, text);
  }

  /** Messages without an acknowledgement, oldest first. */
  readUnsent() {
    return Array.from({ length: this.area.length }, (_, position) => this.area.key(position))
      .filter((key) => key.startsWith(this.unsentPrefix))
      .map((key) => ({
        clientId: key.slice(this.unsentPrefix.length),
        ...JSON.parse(this.area.getItem(key)),
      }))
      .sort((left, right) => left.writtenAt - right.writtenAt)
      .map(({ clientId, text }) => ({ clientId, text }));
  }

  keepUnsent({ clientId, text }) {
    const entry = JSON.stringify({ text, writtenAt: Date.now() });
    this.area.setItem(this.unsentPrefix + clientId, entry);
  }

  dropUnsent(clientId) {
    this.area.removeItem(this.unsentPrefix + clientId);
  }

  /** Up to which `times` the crisis card was put away; 0 if it never was. */
  readPutAway() {
    return Number(this.area.getItem(this.putAwayKey) ?? 0);
  }

  writePutAway(times) {
    this.area.setItem(this.putAwayKey, String(times));
  }

  clear() {
    this.area.removeItem(this.putAwayKey);
    this.area.removeItem(this.draftKey);
    for (const { clientId } of this.readUnsent()) this.dropUnsent(clientId);
  }
}
