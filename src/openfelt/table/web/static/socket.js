// The connection to a session: comes back by itself, with growing pauses.

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 10_000;
// The codes with which the server closes a socket: to no session, and to one that cannot be opened this time.
const NO_SESSION = 4404;
const REFUSED = 1011;

/**
 * Opens the socket of a session. `on` has message(object), up() before the first state, down({refused}) when the
 * connection is lost, and gone() when there is no such session. Returns {send}, which tells whether the message
 * went out.
 */
export function openSocket(session, on) {
  let socket = null;
  let timer = null;
  let attempts = 0;
  let gone = false;

  function connect() {
    clearTimeout(timer);
    timer = null;
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const mine = new WebSocket(`${scheme}://${location.host}/ws/${encodeURIComponent(session)}`);
    let served = false;
    socket = mine;
    mine.addEventListener("message", (event) => {
      if (mine !== socket) return;
      const message = JSON.parse(event.data);
      if (!served && message.type === "state") {
        served = true;
        attempts = 0; // not before: a socket that only opens to be closed must not be tried ever so fast
        on.up();
      }
      on.message(message);
    });
    mine.addEventListener("close", (event) => {
      if (mine !== socket) return;
      if (event.code === NO_SESSION) gone = true;
      if (gone) on.gone();
      else later(event.code === REFUSED);
    });
  }

  function later(refused) {
    const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 1.7 ** attempts) * (0.8 + 0.4 * Math.random());
    attempts += 1;
    timer = setTimeout(connect, pause);
    on.down({ refused });
  }

  function soon() {
    if (timer !== null && !gone) connect();
  }

  addEventListener("online", soon);
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && soon());
  // A page that the browser keeps for "back" has lost its socket without a word.
  addEventListener("pageshow", (event) => event.persisted && socket.readyState > WebSocket.OPEN && soon());
  connect();

  return {
    send(message) {
      if (socket.readyState !== WebSocket.OPEN) return false;
      socket.send(JSON.stringify(message));
      return true;
    },
  };
}
