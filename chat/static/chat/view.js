/** The conversation on the page: bubbles, banner, timer. Reads a state, changes the DOM, no more. */

import { entries, missingToFinish, remainingSeconds, retryableSeq } from "./conversation.js";
import { renderMarkdown } from "./markdown.js";

const NEAR_THE_END = 48;
const BANNER_AFTER = 800;
const BLOCKS = "p, ul, ol, li, blockquote, h3, h4, h5, h6, pre, pre > code";

/** `filled("{turns} of {minimum}", {turns: 2, minimum: 5})` is "2 of 5". */
export function filled(template, values) {
  return template.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

export class ConversationView {
  constructor(root, texts, { onRetry }) {
    this.texts = texts;
    this.onRetry = onRetry;
    this.log = root.querySelector("#chat-log");
    this.scroller = root.querySelector("#chat-scroller");
    this.jump = root.querySelector("#chat-jump");
    this.banner = root.querySelector("#chat-banner");
    this.announcer = root.querySelector("#chat-announcer");
    this.clock = root.querySelector("#chat-clock");
    this.turns = root.querySelector("#chat-turns");
    this.bubbles = new Map();
    this.following = true;
    this.scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    this.jump.addEventListener("click", () => this.follow());
    new ResizeObserver(() => this.following && this.#toEnd()).observe(this.scroller);
  }

  render(state) {
    const shown = entries(state);
    const retryable = retryableSeq(state);
    this.paused = state.paused;
    let changed = false;
    shown.forEach((entry, position) => {
      changed = this.#place(entry, position, entry.seq === retryable) || changed;
    });
    this.#forget(new Set(shown.map((entry) => entry.key)));
    if (this.following) this.#toEnd();
    else if (changed) this.jump.hidden = false;
  }

  /** Time and turns; called every second, so that the clock runs between two frames. */
  renderClock(state, now) {
    const { timer } = state;
    if (timer === null) return;
    const template =
      timer.turns < timer.minimum_turns ? this.texts.turnsOfMinimum : this.texts.turns;
    setText(this.turns, filled(template, { turns: timer.turns, minimum: timer.minimum_turns }));
    setText(this.clock, this.#clockText(remainingSeconds(state, now)));
  }

  /** The lines of the finish dialog that say what is missing; empty when nothing is. */
  missingLines(state, now) {
    const missing = missingToFinish(state, now);
    const lines = [];
    if (missing.turns > 0) lines.push(filled(this.texts.missingTurns, missing));
    if (missing.seconds > 0) {
      lines.push(filled(this.texts.missingTime, { minutes: Math.ceil(missing.seconds / 60) }));
    }
    return lines;
  }

  announce(text) {
    const plain = renderMarkdown(text).textContent.trim();
    this.announcer.textContent = `${this.texts.assistant}: ${plain}`;
  }

  /** Show `text` over the conversation; an empty one takes the banner away. */
  showBanner(text, { atOnce = false } = {}) {
    clearTimeout(this.bannerTimer);
    const show = () => {
      setText(this.banner, text);
      this.banner.classList.toggle("chat-banner--shown", text !== "");
    };
    // A connection that is back within a moment isn't worth a word.
    if (text === "" || atOnce) show();
    else this.bannerTimer = setTimeout(show, BANNER_AFTER);
  }

  /** Go to the end and stay there as the conversation grows. */
  follow() {
    this.following = true;
    this.#toEnd();
  }

  #clockText(seconds) {
    if (seconds === null) return "";
    if (seconds > 60) {
      return filled(this.texts.minutesLeft, { minutes: Math.ceil(seconds / 60) });
    }
    return filled(this.texts.secondsLeft, { seconds });
  }

  /** Put an entry's bubble where it belongs; true if it shows something new. */
  #place(entry, position, retryable) {
    const known = this.bubbles.get(entry.key);
    const bubble = known ?? newBubble(entry, this.texts);
    if (!known) this.bubbles.set(entry.key, bubble);
    if (this.log.children[position] !== bubble) {
      this.log.insertBefore(bubble, this.log.children[position] ?? null);
    }
    const failure = this.paused ? this.texts.withheld : this.texts.failed;
    const content = `${entry.state} ${retryable} ${entry.preview ?? ""} ${entry.text} ${failure}`;
    if (bubble.renderedContent === content) return false;
    bubble.renderedContent = content;
    this.#fill(bubble, entry, retryable);
    return true;
  }

  #fill(bubble, entry, retryable) {
    const body = bubble.querySelector(".message__body");
    bubble.dataset.state = entry.state;
    if (entry.role === "participant") {
      body.textContent = entry.text;
      const note = entry.state === "unsent" ? this.texts.unsent : "";
      setText(bubble.querySelector(".message__note"), note);
      return;
    }
    bubble.setAttribute("aria-busy", String(entry.state === "pending"));
    if (entry.state === "settled") body.replaceChildren(renderMarkdown(entry.text));
    else if (entry.state === "failed") body.replaceChildren(...this.#failure(entry, retryable));
    else body.replaceChildren(...preview(entry.preview, this.texts.typing));
  }

  #failure(entry, retryable) {
    const words = document.createElement("p");
    words.textContent = this.paused ? this.texts.withheld : this.texts.failed;
    if (!retryable) return [words];
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button button--small";
    button.textContent = this.texts.retry;
    button.addEventListener("click", () => this.onRetry(entry.seq));
    return [words, button];
  }

  #forget(keys) {
    for (const [key, bubble] of this.bubbles) {
      if (keys.has(key)) continue;
      bubble.remove();
      this.bubbles.delete(key);
    }
  }

  #scrolled() {
    const { scrollHeight, scrollTop, clientHeight } = this.scroller;
    this.following = scrollHeight - scrollTop - clientHeight < NEAR_THE_END;
    if (this.following) this.jump.hidden = true;
  }

  #toEnd() {
    this.jump.hidden = true;
    this.scroller.scrollTop = this.scroller.scrollHeight;
  }
}

function newBubble(entry, texts) {
  const bubble = document.createElement("article");
  bubble.className = `message message--${entry.role}`;
  const speaker = document.createElement("p");
  speaker.className = "message__speaker visually-hidden";
  speaker.textContent = entry.role === "participant" ? texts.you : texts.assistant;
  const body = document.createElement("div");
  body.className = entry.role === "participant" ? "message__body" : "message__body prose";
  const note = document.createElement("p");
  note.className = "message__note";
  bubble.append(speaker, body, note);
  return bubble;
}

/** The beginning of a reply with a caret at its end, or the typing sign while there is none. */
function preview(text, label) {
  const words = document.createElement("span");
  words.className = "visually-hidden";
  words.textContent = label;
  if (text === "") return [typingSign(words)];
  const fragment = renderMarkdown(text);
  const caret = document.createElement("span");
  caret.className = "caret";
  lastBlock(fragment).append(caret);
  return [fragment, words];
}

function lastBlock(node) {
  const last = node.lastElementChild;
  return last?.matches(BLOCKS) ? lastBlock(last) : node;
}

function typingSign(words) {
  const sign = document.createElement("p");
  sign.className = "typing";
  const dots = [1, 2, 3].map(() => {
    const dot = document.createElement("span");
    dot.className = "typing__dot";
    dot.setAttribute("aria-hidden", "true");
    return dot;
  });
  sign.append(words, ...dots);
  return sign;
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
