/** The chat page: brings conversation, connection, view and composer together. */

import { CrisisCard } from "./card.js";
import { Composer } from "./composer.js";
import {
  disconnected,
  isWaiting,
  newConversation,
  received,
  retried,
  said,
} from "./conversation.js";
import { ChatSocket } from "./socket.js";
import { SessionStorage } from "./storage.js";
import { ConversationView } from "./view.js";
import { WritingMeter } from "./writing.js";

const SEND_AGAIN_AFTER = 5000;
const LEAVE_AFTER = 4000;
const ASK_WHILE_PAUSED = 15000;
const DRAW_WITHIN = 100;

class ChatPage {
  constructor(root, config) {
    this.root = root;
    this.config = config;
    this.texts = root.querySelector("#chat-texts").dataset;
    this.storage = new SessionStorage(config.websocket_path);
    this.state = newConversation(this.storage.readUnsent());
    this.view = new ConversationView(root, this.texts, { onRetry: (seq) => this.retry(seq) });
    this.composer = new Composer(root, this.texts, config.limits, this.storage, {
      onSend: (text) => this.say(text),
      onTyping: () => this.socket.send({ type: "typing" }),
    });
    /** How messages were written that aren't acknowledged yet; only where that was agreed to. */
    this.meter = config.writing_url ? new WritingMeter(root.querySelector("#chat-text")) : null;
    this.written = new Map();
    this.card = new CrisisCard(root, this.texts, this.storage);
    this.dialog = root.querySelector("#finish-dialog");
    this.asksToFinish = false;
    this.askedAt = 0;
  }

  start() {
    this.socket = new ChatSocket(websocketUrl(this.config.websocket_path), {
      settledSeq: () => this.state.settledSeq,
      isWaiting: () => isWaiting(this.state),
      onFrame: (frame) => this.take(frame),
      onLost: () => this.lost(),
      onRefused: (code) => this.refused(code),
    });
    this.view.showBanner(this.texts.connecting);
    if (!this.storage.lasting) this.composer.showNotice(this.texts.storageForbidden);
    setInterval(() => this.everySecond(), 1000);
    this.wireDialog();
    this.draw();
    this.composer.focus();
  }

  take(frame) {
    const { state, effects } = received(this.state, frame, performance.now());
    this.forgetAcknowledged(state);
    this.state = state;
    for (const effect of effects) this.perform(effect);
    if (frame.type === "history") this.view.showBanner(state.draining ? this.texts.closing : "");
    if (frame.type === "timer") this.tick();
    this.card.render(state.card);
    if (state.paused !== this.composer.paused) this.composer.pause(state.paused);
    this.draw();
  }

  perform(effect) {
    const actions = {
      ask: () => this.socket.ask(),
      send: () => this.sendUnsent(),
      send_later: () => setTimeout(() => this.sendUnsent(), SEND_AGAIN_AFTER),
      announce: () => this.view.announce(effect.text),
      refused: () => this.composer.giveBack(effect.text),
      notice: () => this.composer.showNotice(effect.text),
      leave: () => this.leave(effect.nextUrl),
    };
    actions[effect.kind]();
  }

  say(text) {
    const message = { clientId: newClientId(), text };
    this.storage.keepUnsent(message);
    if (this.meter) this.written.set(message.clientId, this.meter.take());
    this.state = said(this.state, message);
    if (this.state.ready) this.sendOne(message);
    this.view.follow();
    this.draw();
  }

  sendUnsent() {
    if (this.state.ready) this.state.unsent.forEach((message) => this.sendOne(message));
  }

  sendOne({ clientId, text }) {
    this.socket.send({ type: "say", client_id: clientId, text }, { answered: true });
  }

  forgetAcknowledged(next) {
    const kept = new Set(next.unsent.map((message) => message.clientId));
    for (const { clientId } of this.state.unsent) {
      if (kept.has(clientId)) continue;
      this.storage.dropUnsent(clientId);
      this.tellWriting(clientId);
    }
  }

  /** Beside the conversation, which doesn't wait for it: what gets lost is only missing. */
  tellWriting(clientId) {
    const measured = this.written.get(clientId);
    if (!this.written.delete(clientId)) return;
    fetch(this.config.writing_url, {
      method: "POST",
      keepalive: true,
      headers: {
        "Content-Type": "application/json",
        "X-CSRFToken": this.root.querySelector("[name=csrfmiddlewaretoken]").value,
      },
      body: JSON.stringify({ client_id: clientId, ...measured }),
    }).catch((error) => console.warn(error));
  }

  retry(seq) {
    if (!this.state.ready) return;
    this.socket.send({ type: "retry", seq }, { answered: true });
    this.state = retried(this.state, seq);
    this.composer.focus();
    this.draw();
  }

  lost() {
    this.state = disconnected(this.state);
    this.view.showBanner(this.texts.reconnecting);
    this.draw();
  }

  refused(code) {
    this.state = disconnected(this.state);
    const texts = { 4401: this.texts.signedOut, 4403: this.texts.forbidden };
    this.view.showBanner(texts[code] ?? this.texts.gone, { atOnce: true });
    this.composer.close();
    this.draw();
  }

  /** Go on; at once if the participant asked for it, else after time to read what happened. */
  leave(nextUrl) {
    this.socket.close();
    this.storage.clear();
    this.view.showBanner("");
    const link = this.root.querySelector("#chat-next");
    link.href = ownPath(nextUrl, this.config.next_url);
    this.composer.close();
    this.root.querySelector("#chat-over").hidden = false;
    if (this.dialog.open) this.dialog.close();
    link.focus();
    setTimeout(() => window.location.assign(link.href), this.asksToFinish ? 0 : LEAVE_AFTER);
  }

  wireDialog() {
    this.root.querySelector("#chat-finish").addEventListener("click", () => this.openDialog());
    this.root.querySelector("#finish-no").addEventListener("click", () => this.dialog.close());
    this.root.querySelector("#finish-yes").addEventListener("click", () => {
      this.asksToFinish = true;
      this.socket.send({ type: "end" }, { answered: true });
      this.dialog.close();
    });
  }

  openDialog() {
    this.socket.ask();
    this.drawDialog();
    this.dialog.showModal();
  }

  everySecond() {
    this.tick();
    if (this.state.paused && performance.now() - this.askedAt > ASK_WHILE_PAUSED) {
      this.askedAt = performance.now();
      this.socket.ask();
    }
    // By this page's count nothing is missing any more: let the server say so.
    if (this.dialog.open && !this.mayFinish() && this.missingLines().length === 0) {
      this.socket.ask();
    }
  }

  mayFinish() {
    return this.state.timer?.may_finish === true && this.state.ready;
  }

  missingLines() {
    return this.view.missingLines(this.state, performance.now());
  }

  tick() {
    this.view.renderClock(this.state, performance.now());
    if (this.dialog.open) this.drawDialog();
  }

  drawDialog() {
    const lines = this.missingLines();
    const mayFinish = this.mayFinish();
    this.dialog.querySelector("#finish-ready").hidden = !mayFinish;
    this.dialog.querySelector("#finish-missing").hidden = mayFinish || lines.length === 0;
    this.dialog.querySelector("#finish-unknown").hidden = mayFinish || lines.length > 0;
    this.dialog.querySelector("#finish-yes").hidden = !mayFinish;
    const list = this.dialog.querySelector("#finish-missing ul");
    if (list.textContent === lines.join("")) return;
    list.replaceChildren(
      ...lines.map((line) => {
        const item = document.createElement("li");
        item.textContent = line;
        return item;
      }),
    );
  }

  /** Draw once a frame at most. A covered page has no frames but must be right when it is seen. */
  draw() {
    if (this.drawing) return;
    this.drawing = true;
    const paint = () => {
      if (!this.drawing) return;
      this.drawing = false;
      this.view.render(this.state);
    };
    requestAnimationFrame(paint);
    setTimeout(paint, DRAW_WITHIN);
  }
}

function websocketUrl(path) {
  const url = new URL(path, window.location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return url.href;
}

/** `path` if it stays on this site, else `fallback`. */
function ownPath(path, fallback) {
  const url = new URL(path, window.location.href);
  return url.origin === window.location.origin ? url.href : fallback;
}

/** A version 4 UUID; `crypto.randomUUID` is missing where the page isn't served over https. */
function newClientId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** Phones shrink the visual viewport, not the layout, when their keyboard opens. */
function fitToKeyboard() {
  const viewport = window.visualViewport;
  if (!viewport) return;
  const fit = () =>
    document.documentElement.style.setProperty("--visible-height", `${viewport.height}px`);
  viewport.addEventListener("resize", fit);
  fit();
}

fitToKeyboard();
const config = JSON.parse(document.querySelector("#chat-config").textContent);
new ChatPage(document, config).start();
