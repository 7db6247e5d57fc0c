// Calls to the server. One function per method; an answer that is not 2xx becomes an ApiError with the server's own
// {code, message, details}. The session is a cookie that scripts can't see; writes carry a header foreign pages can't send.
import { signal } from "@preact/signals";
import { learn } from "./clock";
import { WORDS } from "./words";

export const connection = signal({ lost: false, seen: Date.now() }); // lost: the last call got no answer at all
export const signedOut = signal(false); // true: a call was answered 401; the frame opens the sign-in dialog

const TIMEOUT_MS = 10000;

export class ApiError extends Error {
  constructor(status, body, request) {
    super(body.message || WORDS.noReason(status));
    this.name = "ApiError";
    this.status = status;
    this.details = body.details ?? "";
    this.issues = body.complianceIssues ?? [];
    this.request = request;
  }
}

// {a: 1, b: ["x", "y"], c: undefined} -> "?a=1&b=x,y"; commas stay, because lists are comma separated.
export function queryString(query = {}) {
  const parts = Object.entries(query).filter(
    ([, v]) => v !== undefined && v !== null && v !== "" && !(Array.isArray(v) && !v.length),
  );
  return parts.length
    ? "?" + parts.map(([k, v]) => `${k}=${[v].flat().map(encodeURIComponent).join(",")}`).join("&")
    : "";
}

function lose(lost) {
  if (lost !== connection.peek().lost || !lost)
    connection.value = { lost, seen: lost ? connection.peek().seen : Date.now() };
}

async function call(method, path, { query, body, signal: abort, accept = "application/json", quiet401 = false } = {}) {
  const url = path + queryString(query);
  const write = method !== "GET";
  if (write && connection.peek().lost) throw new ApiError(0, { message: WORDS.writingOff }, url);
  const headers = { Accept: accept };
  if (write) headers["X-Prorata-Request"] = "1";
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const stop = new AbortController();
  timeout.addEventListener("abort", () => stop.abort(timeout.reason), { once: true });
  abort?.addEventListener("abort", () => stop.abort(abort.reason), { once: true });
  let response;
  try {
    response = await fetch(url, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: stop.signal,
      credentials: "same-origin",
    });
  } catch (cause) {
    if (abort?.aborted) throw cause;
    if (!timeout.aborted) lose(true);
    throw new ApiError(0, { message: timeout.aborted ? WORDS.noAnswer(TIMEOUT_MS / 1000) : WORDS.unreachable }, url);
  }
  learn(response.headers.get("Date"));
  lose(false);
  const text = await response.text();
  const json = /json/.test(response.headers.get("Content-Type") ?? "");
  const data = text === "" ? null : json ? JSON.parse(text) : text;
  if (response.ok) return data;
  if (response.status === 401 && !quiet401) signedOut.value = true;
  throw new ApiError(
    response.status,
    json && data ? data : { message: WORDS.noReason(response.status) },
    `${method} ${url}`,
  );
}

export const get = (path, query, options) => call("GET", path, { query, ...options });
export const post = (path, body, options) => call("POST", path, { body, ...options });
export const put = (path, body, options) => call("PUT", path, { body, ...options });
export const patch = (path, body, options) => call("PATCH", path, { body, ...options });
export const del = (path, options) => call("DELETE", path, options);
export const getCsv = (path, query) => call("GET", path, { query, accept: "text/csv" });

// All pages of a list, up to `most` rows; for lists with and without `next`.
export async function getAll(path, key, query = {}, { most = 500, signal: abort } = {}) {
  const rows = [];
  const step = Math.min(500, most);
  for (let more = true; more && rows.length < most;) {
    const page = await get(path, { limit: step, offset: rows.length, ...query }, { signal: abort });
    const list = key ? (page?.[key] ?? []) : (page ?? []);
    rows.push(...list);
    more = list.length === step || Boolean(page?.next);
  }
  return rows.slice(0, most);
}

const FIELD = /^([A-Za-z_][\w-]*(?:[.[][\w\]-]+)*):\s+(.+)$/s;

// The fields an error speaks of, {"spec.image": "missing"}; empty when it names none.
export function fieldErrors(error) {
  if (!(error instanceof ApiError)) return {};
  const found = {};
  for (const issue of error.issues) found[issue.field] = issue.details || issue.rule;
  for (const text of [error.message, error.details].flatMap(t => String(t ?? "").split("\n"))) {
    const match = FIELD.exec(text.trim());
    if (match && !(match[1] in found)) found[match[1]] = match[2];
  }
  return found;
}
