// What this browser remembers: its sessions, and what was announced before each deal.
// Storage may be switched off or full; the pages then work without it.

const MOST_SESSIONS = 50;
const MOST_DEALS = 3; // of a session: the hand that is on, the next one, and one more

function read(key, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(key)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

function write(key, value) {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // Nothing to do: it is forgotten when the page closes.
  }
}

/** Ids of this browser's sessions, the latest first. */
export function sessions() {
  const ids = read("felt.sessions", []);
  return Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : [];
}

export function rememberSession(id) {
  write("felt.sessions", [id, ...sessions().filter((other) => other !== id)].slice(0, MOST_SESSIONS));
}

export function forgetSession(id) {
  write("felt.sessions", sessions().filter((other) => other !== id));
  write(`felt.deals.${id}`, null);
}

function deals(session) {
  const known = read(`felt.deals.${session}`, []);
  return Array.isArray(known) ? known : [];
}

function keepDeal(session, deal) {
  const others = deals(session).filter((other) => other.number !== deal.number);
  write(`felt.deals.${session}`, [deal, ...others].slice(0, MOST_DEALS));
}

/** What is known of a hand's deal: {number, commitment, drawn, nonces}; null if nothing is. */
export function announcedDeal(session, number) {
  return deals(session).find((deal) => deal.number === number) ?? null;
}

/** Keeps the commitment that was announced for a hand; once a nonce was drawn no other one counts. */
export function rememberCommitment(session, number, commitment) {
  if (!announcedDeal(session, number)?.drawn) keepDeal(session, { number, commitment, drawn: false, nonces: [] });
}

export function rememberNonce(session, number, nonce) {
  const deal = announcedDeal(session, number);
  if (deal) keepDeal(session, { ...deal, drawn: true, nonces: [...deal.nonces, nonce] });
}

export function forgetNonce(session, number, nonce) {
  const deal = announcedDeal(session, number);
  if (deal) keepDeal(session, { ...deal, nonces: deal.nonces.filter((other) => other !== nonce) });
}
