// What this browser remembers: its sessions, and what was announced before each deal.
// Storage may be switched off or full; the pages then work without it.

const MOST_SESSIONS = 50;
const MOST_ANNOUNCED = 3; // of a session, without a nonce: the hand that is on, the next one, and one more
const MOST_DRAWN = 50; // of a session, with a nonce of this browser
const MOST_REPLAYED = 500; // of all sessions, for looking back at hands

const unkept = new Map(); // what the browser would not store; forgotten when the page closes

/** The browser's storage of a kind; null where it is switched off, which may be an error even to look at. */
function storage(kind) {
  try {
    return window[kind];
  } catch {
    return null;
  }
}

function read(key, otherwise, kind = "localStorage") {
  if (unkept.has(key)) return unkept.get(key);
  try {
    return JSON.parse(storage(kind).getItem(key)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

function write(key, value, kind = "localStorage") {
  unkept.delete(key);
  try {
    if (value === null) storage(kind).removeItem(key);
    else storage(kind).setItem(key, JSON.stringify(value));
  } catch {
    unkept.set(key, value);
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

function keepDeal(session, deal) {
  const all = [deal, ...deals(session).filter((other) => other.number !== deal.number)];
  const drawn = all.filter((each) => each.nonce).slice(0, MOST_DRAWN);
  const announced = all.filter((each) => !each.nonce).slice(0, MOST_ANNOUNCED);
  write(dealsKey(session), [...drawn, ...announced]);
}

/** What this browser knows of a hand's deal: {number, commitment, nonce (null: it drew none)}; null if nothing. */
export function announcedDeal(session, number) {
  return deals(session).find((deal) => deal.number === number) ?? null;
}

/** Keeps the commitment that was announced for a hand; once a nonce was drawn no other one counts. */
export function rememberCommitment(session, number, commitment) {
  if (!announcedDeal(session, number)?.nonce) keepDeal(session, { number, commitment, nonce: null });
}

/**
 * This browser's nonce for a hand that was announced. It is drawn once and sent again at every try: a server that
 * could refuse nonces until it likes one would choose the cards.
 */
export function nonceFor(session, number, draw) {
  const deal = announcedDeal(session, number);
  if (deal?.nonce) return deal.nonce;
  const nonce = draw();
  keepDeal(session, { number, commitment: deal?.commitment ?? null, nonce });
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

/** The nonces that this browser drew for a hand by its commitment, in whatever session; usually one, or none. */
export function drawnNonces(commitment, number) {
  return drawnDeals()
    .filter((deal) => deal[0] === commitment && deal[1] === number)
    .map((deal) => deal[2]);
}

/** What this window saw of the hand of a session that is on: as `rememberSeen` was given it; null if nothing. */
export function seenHand(session) {
  return read(`felt.seen.${session}`, null, "sessionStorage");
}

export function rememberSeen(session, seen) {
  write(`felt.seen.${session}`, seen, "sessionStorage");
}
