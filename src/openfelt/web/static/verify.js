// Fair dealing, checked in the browser. The server commits itself to a seed by its sha256 before the browser
// draws the nonce; seed and nonce together give the shuffle. crypto.subtle is missing on plain http to other
// hosts, hence a sha256 of our own (FIPS 180-4).

/** The first `count` primes' roots, as the first 32 bits of their fractional parts. */
function fractions(count, root) {
  const out = [];
  for (let n = 2; out.length < count; n += 1) {
    let prime = true;
    for (let d = 2; d * d <= n; d += 1) prime &&= n % d !== 0;
    if (prime) out.push(Math.floor((root(n) % 1) * 2 ** 32) >>> 0);
  }
  return out;
}

const ROUND = fractions(64, Math.cbrt);
const START = fractions(8, Math.sqrt);

function rotate(word, by) {
  return (word >>> by) | (word << (32 - by));
}

/** The message with a one bit, zeros and its length in bits, in whole blocks of 64 bytes. */
function padded(bytes) {
  const out = new Uint8Array((((bytes.length + 8) >> 6) + 1) << 6);
  out.set(bytes);
  out[bytes.length] = 0x80;
  const view = new DataView(out.buffer);
  view.setUint32(out.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(out.length - 4, (bytes.length << 3) >>> 0);
  return view;
}

function schedule(view, offset) {
  const w = new Int32Array(64);
  for (let i = 0; i < 16; i += 1) w[i] = view.getInt32(offset + 4 * i);
  for (let i = 16; i < 64; i += 1) {
    const low = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ (w[i - 15] >>> 3);
    const high = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ (w[i - 2] >>> 10);
    w[i] = w[i - 16] + low + w[i - 7] + high;
  }
  return w;
}

function compress(state, w) {
  let [a, b, c, d, e, f, g, h] = state;
  for (let i = 0; i < 64; i += 1) {
    const mixed = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const first = (h + mixed + ((e & f) ^ (~e & g)) + ROUND[i] + w[i]) | 0;
    const second = ((rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  return [a, b, c, d, e, f, g, h].map((word, i) => (word + state[i]) | 0);
}

/** sha256 of bytes, as eight unsigned 32-bit words. */
export function sha256Words(bytes) {
  const view = padded(bytes);
  let state = START;
  for (let offset = 0; offset < view.byteLength; offset += 64) state = compress(state, schedule(view, offset));
  return state.map((word) => word >>> 0);
}

/** sha256 of bytes, in hex. */
export function sha256(bytes) {
  return sha256Words(bytes)
    .map((word) => word.toString(16).padStart(8, "0"))
    .join("");
}

/** The bytes that hex digits stand for; null if they are none. */
export function fromHex(hex) {
  if (typeof hex !== "string" || hex.length % 2 || !/^[0-9a-f]*$/i.test(hex)) return null;
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

/** The commitment to a seed: sha256 of its bytes. */
export function commitmentOf(seed) {
  const bytes = fromHex(seed);
  return bytes ? sha256(bytes) : null;
}

/** 32 hex digits that only this browser knows before it sends them. */
export function drawNonce() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The game's deck in its order. */
export function deckOf(game, players) {
  const ranks = "23456789TJQKA";
  if (game.startsWith("holdem")) return [...ranks].flatMap((rank) => [..."cdhs"].map((suit) => rank + suit));
  if (game.startsWith("kuhn")) return [..."JQKA"].slice(0, players + 1);
  const count = Number(/ranks=(\d+)/.exec(game)?.[1] ?? 3);
  const used = count <= 4 ? "JQKA".slice(0, count) : ranks.slice(-count);
  return [...used].flatMap((rank) => [rank, rank]);
}

/** A function draw(n) that gives the numbers of seed and nonce, one after the other, each below n. */
export function drawer(seed, nonce) {
  let block = 0;
  let words = [];
  const next = () => {
    if (!words.length) {
      words = sha256Words(new TextEncoder().encode(`${seed}:${nonce}:${block}`));
      block += 1;
    }
    return words.shift();
  };
  return (n) => {
    const limit = 2 ** 32 - (2 ** 32 % n);
    let word = next();
    while (word >= limit) word = next();
    return word % n;
  };
}

/** The deck as seed and nonce shuffle it. */
export function shuffled(deck, seed, nonce) {
  const cards = [...deck];
  const draw = drawer(seed, nonce);
  for (let place = 0; place < cards.length - 1; place += 1) {
    const other = place + draw(cards.length - place);
    [cards[place], cards[other]] = [cards[other], cards[place]];
  }
  return cards;
}

/** What the shuffle deals: {hands: cards by seat, board: the cards after them}. */
export function dealt(game, players, seed, nonce) {
  const cards = shuffled(deckOf(game, players), seed, nonce);
  const each = game.startsWith("holdem") ? 2 : 1;
  const hands = Array.from({ length: players }, (_, seat) => cards.slice(each * seat, each * (seat + 1)));
  return { hands, board: cards.slice(each * players) };
}

function agree(seen, expected) {
  return seen.every((card, place) => card === "??" || card === expected[place]);
}

/**
 * Checks a finished hand. `hands` are cards by seat and `board` the board, as they were seen ("??" if hidden).
 * Returns a list of faults, each a sentence; an empty list means that the deal was fair.
 */
export function verify({ game, seed, nonce, commitment, hands, board }) {
  const made = commitmentOf(seed);
  if (made === null) return ["The seed that the server revealed is not in hex."];
  const faults = [];
  if (made !== String(commitment).toLowerCase()) faults.push("The seed does not match the commitment.");
  const deal = dealt(game, hands.length, seed, nonce);
  hands.forEach((cards, seat) => {
    if (!agree(cards, deal.hands[seat])) faults.push(`The cards of seat ${seat + 1} are not those of the shuffle.`);
  });
  if (!agree(board, deal.board)) faults.push("The board is not that of the shuffle.");
  return faults;
}
