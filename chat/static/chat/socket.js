/** The connection: reconnects, greets, notices silence. It knows nothing of what frames mean. */

import ReconnectingWebSocket from "../vendor/partysocket/ws.js";

/** Close codes after which trying again can't help: see docs/protocol.md. */
const FINAL_CODES = new Set([4401, 4403, 4404]);
/** Why this page gave a silent connection up, for the server's log. */
const CODE_SILENCE = 4000;
const ASK_AFTER_SILENCE = 2000;
const DEAD_AFTER_SILENCE = 8000;
const LOOK_EVERY = 500;

export class ChatSocket {
  /**
   * `settledSeq()` and `isWaiting()` read the conversation; `onFrame(frame)`, `onLost()` and
   * `onRefused(code)` are told what happens.
   */
  constructor(url, { settledSeq, isWaiting, onFrame, onLost, onRefused }) {
    Object.assign(this, { settledSeq, isWaiting, onFrame, onLost, onRefused });
    this.left = false;
    this.heardAt = 0;
    this.answerDueSince = null;
    this.socket = new ReconnectingWebSocket(url, [], {
      minReconnectionDelay: 1000,
      maxReconnectionDelay: 8000,
      reconnectionDelayGrowFactor: 1.6,
      connectionTimeout: 8000,
      maxEnqueuedMessages: 0,
      shouldReconnectOnClose: (event) => !FINAL_CODES.has(event.code),
    });
    this.socket.addEventListener("open", () => this.#opened());
    this.socket.addEventListener("message", (event) => this.#heard(event));
    this.socket.addEventListener("close", (event) => this.#closed(event));
    this.watch = setInterval(() => this.#look(), LOOK_EVERY);
    window.addEventListener("online", () => this.#hurry());
    document.addEventListener("visibilitychange", () => document.hidden || this.#hurry());
  }

  get isOpen() {
    return this.socket.readyState === WebSocket.OPEN;
  }

  /** Send one frame if connected. `answered` frames make silence mean a dead connection. */
  send(frame, { answered = false } = {}) {
    if (!this.isOpen) return;
    this.socket.send(JSON.stringify(frame));
    if (answered) this.answerDueSince ??= performance.now();
  }

  /** Ask the server for everything above what is settled here. */
  ask() {
    this.heardAt = performance.now();
    this.send({ type: "hello", settled_seq: this.settledSeq() }, { answered: true });
  }

  /** Leave for good; nothing is reported afterwards. */
  close() {
    this.left = true;
    clearInterval(this.watch);
    this.socket.close();
  }

  #opened() {
    this.answerDueSince = null;
    this.ask();
  }

  #heard(event) {
    this.heardAt = performance.now();
    this.answerDueSince = null;
    this.onFrame(JSON.parse(event.data));
  }

  #closed(event) {
    if (this.left) return;
    this.answerDueSince = null;
    if (FINAL_CODES.has(event.code)) {
      clearInterval(this.watch);
      this.onRefused(event.code);
    } else {
      this.onLost();
    }
  }

  #look() {
    if (!this.isOpen) return;
    const now = performance.now();
    if (this.answerDueSince !== null && now - this.answerDueSince > DEAD_AFTER_SILENCE) {
      this.answerDueSince = null;
      this.socket.reconnect(CODE_SILENCE, "silence");
    } else if (this.isWaiting() && now - this.heardAt > ASK_AFTER_SILENCE) {
      this.ask();
    }
  }

  /** The network or the reader came back: don't sit out the rest of a long delay. */
  #hurry() {
    if (this.isOpen) this.ask();
    else if (this.socket.shouldReconnect && this.socket.readyState === WebSocket.CLOSED) {
      this.socket.reconnect();
    }
  }
}
