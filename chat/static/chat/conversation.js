/**
 * What this tab knows of a conversation, as a pure function of what it was told.
 *
 * No DOM, no socket, no storage, no clock: every function takes a state and returns a new one, and
 * moments are given as milliseconds of a monotonic clock. docs/protocol.md explains the frames.
 *
 * An item is {seq, role, text, state, attempt, retryable, clientId, preview, nextToken}: `preview` is
 * the streamed beginning of a pending reply, `nextToken` the `n` that would continue it.
 */

const KEPT_AFTER = new Set(["rate_limited", "internal"]);
const ASK_AFTER = new Set(["not_open", "not_retryable", "paused"]);

/** A new conversation; `unsent` are messages that an earlier page could not get acknowledged. */
export function newConversation(unsent = []) {
  return {
    items: {},
    settledSeq: 0,
    unsent,
    ready: false,
    draining: false,
    paused: false,
    card: null,
    timer: null,
    nextUrl: null,
  };
}

/** A message that the participant just sent; it stays `unsent` until the server acknowledges it. */
export function said(state, { clientId, text }) {
  return { ...state, unsent: [...state.unsent, { clientId, text }] };
}

/** The connection is gone: nothing may be sent until the next `history`. */
export function disconnected(state) {
  return { ...state, ready: false };
}

/** The participant asked for another attempt at a failed reply. */
export function retried(state, seq) {
  return withItem(state, seq, { state: "pending", preview: "", nextToken: 0 });
}

/**
 * Take in one frame of the server at the moment `now`.
 *
 * Returns {state, effects}. An effect is one of {kind: "ask"} (send hello), {kind: "send"} (send
 * what is unsent), {kind: "send_later"}, {kind: "announce", text}, {kind: "refused", text},
 * {kind: "notice", text}, {kind: "leave", nextUrl}.
 */
export function received(state, frame, now) {
  const handler = HANDLERS[frame.type];
  return handler ? handler(state, frame, now) : { state, effects: [] };
}

const HANDLERS = {
  history: receivedHistory,
  ack: receivedAck,
  message: receivedMessage,
  waiting: receivedWaiting,
  token: receivedToken,
  reply: receivedReply,
  failed: receivedFailed,
  card: receivedCard,
  timer: (state, frame, now) => ({
    state: { ...state, timer: { ...frame, receivedAt: now } },
    effects: [],
  }),
  stage_over: (state, frame) => ({
    state: { ...state, draining: true, nextUrl: frame.next_url },
    effects: [{ kind: "leave", nextUrl: frame.next_url }],
  }),
  error: receivedError,
};

function receivedHistory(state, frame) {
  const effects = [];
  let next = {
    ...state,
    ready: true,
    draining: frame.draining === true,
    paused: frame.paused === true,
    card: frame.card ?? state.card,
  };
  for (const item of frame.items) {
    const known = state.items[item.seq];
    next = item.role === "participant" ? storedMessage(next, item) : recordedReply(next, item);
    if (known?.state === "pending" && item.state === "settled") {
      effects.push({ kind: "announce", text: item.text });
    }
  }
  next = settled({ ...next, settledSeq: Math.max(next.settledSeq, frame.settled_seq) });
  if (next.unsent.length > 0 && !next.draining && !next.paused) effects.push({ kind: "send" });
  return { state: next, effects };
}

/** When the participant may go on, what waited is sent after the `history` that is asked for. */
function receivedCard(state, frame) {
  const goesOn = state.paused && !frame.paused;
  return {
    state: { ...state, paused: frame.paused, card: frame },
    effects: goesOn ? [{ kind: "ask" }] : [],
  };
}

function recordedReply(state, item) {
  const known = state.items[item.seq];
  const attempt = item.attempt ?? 0;
  if (known?.state === "settled" || (known && known.attempt > attempt)) return state;
  const samePreview = item.state === "pending" && known?.attempt === attempt;
  return withItem(state, item.seq, {
    role: "assistant",
    text: item.text,
    state: item.state,
    attempt,
    retryable: item.retryable === true,
    preview: samePreview ? known.preview : "",
    nextToken: samePreview ? known.nextToken : 0,
  });
}

function storedMessage(state, { seq, client_id: clientId, text }) {
  const unsent = state.unsent.filter((message) => message.clientId !== clientId);
  const kept = unsent.length === state.unsent.length ? state : { ...state, unsent };
  if (kept.items[seq]) return kept;
  return withItem(kept, seq, { role: "participant", text, state: "settled", clientId });
}

function pendingReply(state, seq) {
  if (state.items[seq]) return state;
  return withItem(state, seq, newReply());
}

function newReply() {
  return {
    role: "assistant",
    text: "",
    state: "pending",
    attempt: 0,
    retryable: false,
    preview: "",
    nextToken: 0,
  };
}

function receivedAck(state, frame) {
  const own = state.unsent.find((message) => message.clientId === frame.client_id);
  const stored = own ? storedMessage(state, { ...frame, text: own.text }) : state;
  return { state: settled(pendingReply(stored, frame.reply_seq)), effects: [] };
}

function receivedMessage(state, frame) {
  const stored = pendingReply(storedMessage(state, frame), frame.reply_seq);
  return { state: settled(stored), effects: [] };
}

function receivedWaiting(state, frame) {
  const known = state.items[frame.seq];
  if (known?.state === "settled" || known?.state === "pending") return { state, effects: [] };
  const next = known ? retried(state, frame.seq) : pendingReply(state, frame.seq);
  return { state: next, effects: known ? [] : [{ kind: "ask" }] };
}

function receivedToken(state, frame) {
  const known = state.items[frame.seq] ?? newReply();
  const effects = state.items[frame.seq] ? [] : [{ kind: "ask" }];
  const older = frame.attempt < known.attempt;
  const ended = known.state === "failed" && frame.attempt === known.attempt;
  if (known.state === "settled" || older || ended) return { state, effects };
  const fresh = frame.attempt > known.attempt || known.state === "failed";
  const reply = fresh
    ? { ...known, state: "pending", attempt: frame.attempt, preview: "", nextToken: 0 }
    : { ...known };
  if (frame.n === reply.nextToken) {
    reply.preview += frame.text;
    reply.nextToken += 1;
  }
  return { state: withItem(state, frame.seq, reply), effects };
}

function receivedReply(state, frame) {
  const known = state.items[frame.seq];
  if (known?.state === "settled" || (known && known.attempt > frame.attempt)) {
    return { state, effects: [] };
  }
  const next = withItem(state, frame.seq, {
    ...newReply(),
    text: frame.text,
    state: "settled",
    attempt: frame.attempt,
  });
  const effects = [{ kind: "announce", text: frame.text }];
  if (!known) effects.push({ kind: "ask" });
  return { state: settled(next), effects };
}

function receivedFailed(state, frame) {
  const known = state.items[frame.seq];
  if (known?.state === "settled" || (known && known.attempt > frame.attempt)) {
    return { state, effects: [] };
  }
  const next = withItem(state, frame.seq, {
    ...newReply(),
    state: "failed",
    attempt: frame.attempt,
    retryable: frame.retryable,
  });
  return { state: settled(next), effects: known ? [] : [{ kind: "ask" }] };
}

function receivedError(state, frame) {
  const effects = [{ kind: "notice", text: frame.message }];
  const own = state.unsent.find((message) => message.clientId === frame.client_id);
  if (ASK_AFTER.has(frame.code)) effects.push({ kind: "ask" });
  if (!own) return { state, effects };
  if (KEPT_AFTER.has(frame.code)) return { state, effects: [...effects, { kind: "send_later" }] };
  const unsent = state.unsent.filter((message) => message !== own);
  return { state: { ...state, unsent }, effects: [...effects, { kind: "refused", ...own }] };
}

function withItem(state, seq, changes) {
  const item = { ...state.items[seq], seq, ...changes };
  return { ...state, items: { ...state.items, [seq]: item } };
}

/** Advance `settledSeq` over everything that is settled without a gap. */
function settled(state) {
  let { settledSeq } = state;
  while (isSettled(state.items[settledSeq + 1])) settledSeq += 1;
  return settledSeq === state.settledSeq ? state : { ...state, settledSeq };
}

function isSettled(item) {
  return item?.state === "settled" || (item?.state === "failed" && !item.retryable);
}

/**
 * What is on the page, in order: items by `seq`, then what isn't acknowledged, which is "sending" on a
 * good connection and "unsent" without one. `key` never changes.
 */
export function entries(state) {
  const items = Object.values(state.items).sort((left, right) => left.seq - right.seq);
  const shown = items.map((item) => ({ ...item, key: item.clientId ?? `reply-${item.seq}` }));
  const unsent = state.unsent.map((message) => ({
    key: message.clientId,
    role: "participant",
    text: message.text,
    state: state.ready ? "sending" : "unsent",
  }));
  return [...shown, ...unsent];
}

/** Whether a reply is on its way, so that the server should be asked if nothing comes. */
export function isWaiting(state) {
  return Object.values(state.items).some((item) => item.state === "pending");
}

/** The reply that can be tried again: the last item of the conversation, or null. */
export function retryableSeq(state) {
  if (state.draining || state.unsent.length > 0) return null;
  const last = Object.values(state.items).reduce(
    (latest, item) => (latest && latest.seq > item.seq ? latest : item),
    null,
  );
  return last?.state === "failed" && last.retryable ? last.seq : null;
}

/** Whole seconds until the session closes, or null if nothing limits it. */
export function remainingSeconds(state, now) {
  const { timer } = state;
  if (timer === null || timer.remaining_seconds === null) return null;
  return Math.max(0, Math.ceil(timer.remaining_seconds - (now - timer.receivedAt) / 1000));
}

/** What still stands before the end of the session: {known, turns, seconds}, 0 where nothing does. */
export function missingToFinish(state, now) {
  const { timer } = state;
  if (timer === null) return { known: false, turns: 0, seconds: 0 };
  if (timer.may_finish) return { known: true, turns: 0, seconds: 0 };
  const elapsed = (now - timer.receivedAt) / 1000;
  return {
    known: true,
    turns: Math.max(0, timer.minimum_turns - timer.turns),
    seconds: Math.max(0, Math.ceil(timer.minimum_seconds_left - elapsed)),
  };
}
