// Verifies fair dealing in the browser. The server commits to a seed by its SHA-256 before the browser draws the
// nonce; seed and nonce determine the shuffle. crypto.subtle is missing on plain http to other hosts, hence our
// own SHA-256 (FIPS 180-4).

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

/**
 * Whether a text is this many hex digits in lower case. The commitment is that of the seed's bytes, the shuffle
 * uses its text: with capitals allowed, one commitment would stand for many decks.
 */
function isHex(text, digits) {
  return typeof text === "string" && text.length === digits && /^[0-9a-f]*$/.test(text);
}

/** The commitment to a seed: SHA-256 of its bytes; null if it is not a seed. */
export function commitmentOf(seed) {
  if (!isHex(seed, 64)) return null;
  return sha256(Uint8Array.from(seed.match(/../g), (pair) => parseInt(pair, 16)));
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

/** Numbers of players, hole cards and board cards of a game. */
export function sizesOf(game) {
  const players = Number(/players=(\d+)/.exec(game)?.[1] ?? 2);
  if (game.startsWith("holdem")) return { players, hole: 2, board: 5 };
  return { players, hole: 1, board: game.startsWith("leduc") ? 1 : 0 };
}

/** A function draw(n) that returns the next number below n from seed and nonce. */
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
  const each = sizesOf(game).hole;
  const hands = Array.from({ length: players }, (_, seat) => cards.slice(each * seat, each * (seat + 1)));
  return { hands, board: cards.slice(each * players) };
}

function malformed({ seed, nonce, commitment }) {
  return [
    isHex(seed, 64) ? "" : "The server has not revealed a seed of 64 hex digits in lower case.",
    isHex(nonce, 32) ? "" : "The nonce is not 32 hex digits in lower case.",
    isHex(commitment, 64) ? "" : "The commitment is not 64 hex digits in lower case.",
  ].filter(Boolean);
}

/** Faults in the seats and in the numbers of cards. */
function miscounted({ game, number, seat, hands, board, folded }) {
  const { players, hole, board: most } = sizesOf(game);
  const faults = [];
  if (hands.length !== players) faults.push("The number of seats is not the number of players.");
  const turn = Number.isInteger(number) && number >= 1 ? (number - 1) % players : null;
  if (seat !== turn) faults.push("You were not in the seat that follows from the number of the hand.");
  hands.forEach((cards, place) => {
    if (cards.length !== hole || cards.includes("??")) faults.push(`Seat ${place + 1} does not show all its cards.`);
  });
  const showdown = folded.filter((out) => !out).length > 1;
  if (board.length > most || (showdown && board.length < most)) faults.push("The board has the wrong number of cards.");
  return faults;
}

function agree(seen, expected) {
  return seen.every((card, place) => card === expected?.[place]);
}

/**
 * Checks a finished hand. `hands` are the cards by seat, `folded` tells who has folded, `seat` is the person's, and
 * `number` that of the hand. Returns a list of faults, each a sentence; it is empty if everything matches.
 */
export function verify(hand) {
  const { game, seed, nonce, commitment, hands, board } = hand;
  const faults = malformed(hand);
  if (faults.length) return faults;
  if (commitmentOf(seed) !== commitment) faults.push("The seed does not match the commitment.");
  faults.push(...miscounted(hand));
  const deal = dealt(game, sizesOf(game).players, seed, nonce);
  hands.forEach((cards, seat) => {
    const open = cards.map((card, place) => (card === "??" ? deal.hands[seat]?.[place] : card));
    if (!agree(open, deal.hands[seat])) faults.push(`The cards of seat ${seat + 1} do not match the shuffle.`);
  });
  if (!agree(board, deal.board)) faults.push("The board does not match the shuffle.");
  return faults;
}
