/**
 * Sending a page until the server has it. The server takes the same page twice as once, so whatever
 * was lost on the way is simply sent again.
 */

const PATIENCE = 20_000;
const PAUSES = [1000, 2000, 4000, 8000, 15_000];

/**
 * The server's answer: {status, body}, body null where it isn't JSON. Tries until it comes; `onLost`
 * is called each time it doesn't.
 */
export async function post(url, page, token, onLost) {
  for (let attempt = 0; ; attempt += 1) {
    const answer = await once(url, page, token);
    if (answer !== null) return answer;
    onLost();
    await pause(PAUSES[Math.min(attempt, PAUSES.length - 1)]);
  }
}

async function once(url, page, token) {
  let response;
  try {
    response = await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-CSRFToken": token },
      body: JSON.stringify(page),
      credentials: "same-origin",
      signal: AbortSignal.timeout(PATIENCE),
    });
    if (response.status >= 502) return null;
    const isJson = response.headers.get("Content-Type")?.startsWith("application/json");
    return { status: response.status, body: isJson ? await response.json() : null };
  } catch (error) {
    // What fetch throws when there is no network, no answer in time, or a cut one.
    if (!(error instanceof TypeError || error instanceof DOMException)) throw error;
    return null;
  }
}

/** Wait, or less long if the browser says that the network is back. */
function pause(milliseconds) {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
    window.addEventListener("online", resolve, { once: true });
  });
}
