// Requests to our own server; an answer that is no success becomes an error with its status and details.

export class Refused extends Error {
  constructor(status, details) {
    super(details.error || `the server answered ${status}`);
    this.status = status;
    this.details = details;
  }
}

async function ask(method, path, body) {
  const options = { method, headers: {}, cache: "no-store" };
  if (body instanceof Blob) options.body = body;
  else if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers["content-type"] = "application/json";
  }
  const answer = await fetch(path, options);
  const details = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refused(answer.status, details);
  return details;
}

export const get = (path, query) => ask("GET", query ? `${path}?${new URLSearchParams(query)}` : path);
export const post = (path, body = {}) => ask("POST", path, body);
export const putJson = (path, body) => ask("PUT", path, body);
