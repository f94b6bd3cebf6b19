// What this browser stores: its sessions, and the commitment of each deal.
// Storage may be switched off or full; the pages then work without it.

const MOST_SESSIONS = 50;
const MOST_ANNOUNCED = 3; // per session, without a nonce: the current hand, the next one, and one more
const MOST_DRAWN = 50; // per session, with a nonce of this browser
const MOST_REPLAYED = 500; // of all sessions, for reviews

const unsaved = new Map(); // what the browser did not store; lost when the page closes

/** The browser's storage of a kind; null if it is switched off, which may raise an error on access. */
function storage(kind) {
  try {
    return window[kind];
  } catch {
    return null;
  }
}

/** What is stored under a key, or `otherwise`. */
export function read(key, otherwise, kind = "localStorage") {
  if (unsaved.has(key)) return unsaved.get(key);
  try {
    return JSON.parse(storage(kind).getItem(key)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

/** Stores a value; null removes it. */
export function write(key, value, kind = "localStorage") {
  unsaved.delete(key);
  try {
    if (value === null) storage(kind).removeItem(key);
    else storage(kind).setItem(key, JSON.stringify(value));
  } catch {
    unsaved.set(key, value);
  }
}

/** Ids of this browser's sessions, the latest first. */
export function sessions() {
  const ids = read("felt.sessions", []);
  return Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : [];
}

export function rememberSession(id) {
  const all = [id, ...sessions().filter((other) => other !== id)];
  write("felt.sessions", all.slice(0, MOST_SESSIONS));
  for (const old of all.slice(MOST_SESSIONS)) write(dealsKey(old), null);
}

function dealsKey(session) {
  return `felt.deals.${session}`;
}

function deals(session) {
  const known = read(dealsKey(session), []);
  return Array.isArray(known) ? known : [];
}

function saveDeal(session, deal) {
  const all = [deal, ...deals(session).filter((other) => other.number !== deal.number)];
  const drawn = all.filter((each) => each.nonce).slice(0, MOST_DRAWN);
  const announced = all.filter((each) => !each.nonce).slice(0, MOST_ANNOUNCED);
  write(dealsKey(session), [...drawn, ...announced]);
}

/** What this browser stores of a deal: {number, commitment, nonce (null: it drew none)}; null if nothing. */
export function announcedDeal(session, number) {
  return deals(session).find((deal) => deal.number === number) ?? null;
}

/** Stores the commitment of a hand; once a nonce was drawn, the commitment does not change any more. */
export function rememberCommitment(session, number, commitment) {
  if (!announcedDeal(session, number)?.nonce) saveDeal(session, { number, commitment, nonce: null });
}

/**
 * This browser's nonce for a hand that was announced. It is drawn once and sent again at every attempt:
 * otherwise a server could reject nonces until the cards suit it.
 */
export function nonceFor(session, number, draw) {
  const deal = announcedDeal(session, number);
  if (deal?.nonce) return deal.nonce;
  const nonce = draw();
  saveDeal(session, { number, commitment: deal?.commitment ?? null, nonce });
  if (deal) rememberDrawn(deal.commitment, number, nonce);
  return nonce;
}

function drawnDeals() {
  const known = read("felt.drawn", []);
  return Array.isArray(known) ? known : [];
}

function rememberDrawn(commitment, number, nonce) {
  write("felt.drawn", [[commitment, number, nonce], ...drawnDeals()].slice(0, MOST_REPLAYED));
}

/** The nonces that this browser drew for a hand by its commitment, in any session; usually one, or none. */
export function drawnNonces(commitment, number) {
  return drawnDeals()
    .filter((deal) => deal[0] === commitment && deal[1] === number)
    .map((deal) => deal[2]);
}

/** What this window saw of the current hand of a session, as stored by `rememberSeen`; null if nothing. */
export function seenHand(session) {
  return read(`felt.seen.${session}`, null, "sessionStorage");
}

export function rememberSeen(session, seen) {
  write(`felt.seen.${session}`, seen, "sessionStorage");
}
