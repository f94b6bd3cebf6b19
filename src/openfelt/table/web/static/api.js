// The server's HTTP API. A failure becomes an Error whose message is one sentence for the user.

class ApiError extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

async function request(path, options) {
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new ApiError("The server does not respond; is felt play still running?", 0);
  }
  const body = await answer.json().catch(() => null);
  if (!answer.ok) throw new ApiError(body?.error ?? `The server responded with status ${answer.status}.`, answer.status);
  if (body === null) throw new ApiError("The response of the server could not be read.", answer.status);
  return body;
}

export function get(path) {
  return request(path, { headers: { Accept: "application/json" } });
}

export function post(path, body) {
  return request(path, {
    method: "POST",
    headers: { Accept: "application/json", "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
}

/** Sends a file as it is. */
export function upload(path, file) {
  return request(path, { method: "POST", headers: { Accept: "application/json", "Content-Type": "application/octet-stream" }, body: file });
}

/** The last part of this page's path, such as the session in /play/SESSION. */
export function lastOfPath() {
  return location.pathname.split("/").filter(Boolean).at(-1) ?? "";
}
