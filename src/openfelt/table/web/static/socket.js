// The connection to a session: reconnects by itself, with growing pauses.

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 10_000;
// Codes with which the server closes a socket: no such session, or one that cannot be opened now.
const NO_SESSION = 4404;
const REFUSED = 1011;

/**
 * Opens the socket of a session. `on` has message(object), up() before the first state, down({refused}) when the
 * connection is lost, and gone() when the session does not exist. Returns {send}, which returns whether the message
 * was sent.
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
        attempts = 0; // not before: a socket that opens only to be closed must not be retried without pause
        on.up();
      }
      on.message(message);
    });
    mine.addEventListener("close", (event) => {
      if (mine !== socket) return;
      if (event.code === NO_SESSION) gone = true;
      if (gone) on.gone();
      else reconnect(event.code === REFUSED);
    });
  }

  function reconnect(refused) {
    const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 1.7 ** attempts) * (0.8 + 0.4 * Math.random());
    attempts += 1;
    timer = setTimeout(connect, pause);
    on.down({ refused });
  }

  function reconnectNow() {
    if (timer !== null && !gone) connect();
  }

  addEventListener("online", reconnectNow);
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && reconnectNow());
  // A page that the browser kept for "back" has lost its socket without an event.
  addEventListener("pageshow", (event) => event.persisted && socket.readyState > WebSocket.OPEN && reconnectNow());
  connect();

  return {
    send(message) {
      if (socket.readyState !== WebSocket.OPEN) return false;
      socket.send(JSON.stringify(message));
      return true;
    },
  };
}
