// Calls to the server. One function per method; an answer that is not 2xx becomes an ApiError with the server's own
// {code, message, details}. The session is a cookie that scripts can't see; writes carry a header foreign pages can't send.
import { signal } from "@preact/signals";
import { learn } from "./clock";
import type { Answer, AnyQuery, Body, Path, Query } from "./types";
import { WORDS } from "./words";

export const connection = signal({ lost: false, seen: Date.now() }); // lost: the last call got no answer at all
export const signedOut = signal(false); // true: a call was answered 401; the frame opens the sign-in dialog
export const leaving = signal<Promise<unknown> | null>(null); // signing out; ends when the server has answered

/** How long a call may take. */
export const TIMEOUT_S = 10;

interface Issue {
  field: string;
  rule?: string;
  details?: string;
}
interface ErrorBody {
  message?: string;
  details?: string;
  complianceIssues?: Issue[];
}

export class ApiError extends Error {
  status: number; // 0: no answer
  details: string;
  issues: Issue[];
  request?: string;
  late = false; // no answer came in time

  constructor(status: number, body: ErrorBody, request?: string) {
    super(body.message || WORDS.noReason(status));
    this.name = "ApiError";
    this.status = status;
    this.details = body.details ?? "";
    this.issues = body.complianceIssues ?? [];
    this.request = request;
  }
}

/** {a: 1, b: ["x", "y"], c: undefined} -> "?a=1&b=x,y"; commas stay, because lists are comma separated. */
export function queryString(query: AnyQuery = {}) {
  const parts = Object.entries(query).filter(
    ([, v]) => v !== undefined && v !== null && v !== "" && !(Array.isArray(v) && !v.length),
  );
  const word = (v: unknown) => encodeURIComponent(v as string);
  return parts.length ? "?" + parts.map(([k, v]) => `${k}=${[v].flat().map(word).join(",")}`).join("&") : "";
}

function lose(lost: boolean) {
  if (lost !== connection.peek().lost || !lost)
    connection.value = { lost, seen: lost ? connection.peek().seen : Date.now() };
}

export interface Options {
  signal?: AbortSignal;
  quiet401?: boolean; // a 401 opens no dialog
}
interface WriteOptions extends Options {
  query?: AnyQuery;
}
interface Call extends Options {
  query?: AnyQuery;
  body?: unknown;
  accept?: string;
}

function headersOf(method: string, { body, accept = "application/json" }: Call) {
  const headers: Record<string, string> = { Accept: accept };
  if (method !== "GET") headers["X-Prorata-Request"] = "1";
  if (body !== undefined) headers["Content-Type"] = "application/json";
  return headers;
}

const reads = new Set<AbortController>(); // on their way

/** Signs out by `request`. Reads would be answered 401 from now on: those on their way are called off, and none begins. */
export async function leave<T>(request: () => Promise<T>) {
  const answered = request();
  leaving.value = answered;
  for (const read of reads) read.abort();
  try {
    return await answered;
  } finally {
    leaving.value = null;
  }
}

// What a read says that signing out ended: after it, when no page is there to show it.
async function unread(url: string) {
  await leaving.peek()?.catch(() => {});
  return new ApiError(401, { message: WORDS.signInAgain }, url);
}

// Sends it; throws an ApiError where no answer comes in time, and what `abort` says where it was called off.
async function send(method: string, url: string, options: Call) {
  const { body, signal: abort } = options;
  if (leaving.peek()) throw await unread(url);
  const timeout = AbortSignal.timeout(TIMEOUT_S * 1000);
  const stop = new AbortController();
  if (method === "GET") reads.add(stop);
  timeout.addEventListener("abort", () => stop.abort(timeout.reason), { once: true });
  abort?.addEventListener("abort", () => stop.abort(abort.reason), { once: true });
  try {
    return await fetch(url, {
      method,
      headers: headersOf(method, options),
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: stop.signal,
      credentials: "same-origin",
    });
  } catch (cause) {
    if (abort?.aborted) throw cause;
    if (leaving.peek()) throw await unread(url);
    if (!timeout.aborted) lose(true);
    const error = new ApiError(0, { message: timeout.aborted ? WORDS.noAnswer(TIMEOUT_S) : WORDS.unreachable }, url);
    error.late = timeout.aborted;
    throw error;
  } finally {
    reads.delete(stop);
  }
}

async function call(method: string, path: string, options: Call = {}) {
  const url = path + queryString(options.query);
  if (method !== "GET" && connection.peek().lost) throw new ApiError(0, { message: WORDS.writingOff }, url);
  const response = await send(method, url, options);
  learn(response.headers.get("Date"));
  lose(false);
  const text = await response.text();
  const json = /json/.test(response.headers.get("Content-Type") ?? "");
  const data = text === "" ? null : json ? JSON.parse(text) : text;
  if (response.ok) return data;
  if (response.status === 401 && !options.quiet401) signedOut.value = true;
  throw new ApiError(
    response.status,
    json && data ? data : { message: WORDS.noReason(response.status) },
    `${method} ${url}`,
  );
}

/** Paths are those of the API, with values in their places; queries, bodies and answers follow from them. */
export const get = <P extends Path<"get">>(path: P, query?: Query<P>, options?: Options): Promise<Answer<P>> =>
  call("GET", path, { query, ...options });
export const post = <P extends Path<"post">>(
  path: P,
  body?: Body<P, "post">,
  options?: Options,
): Promise<Answer<P, "post">> => call("POST", path, { body, ...options });
export const put = <P extends Path<"put">>(path: P, body: Body<P, "put">): Promise<Answer<P, "put">> =>
  call("PUT", path, { body });
export const patch = <P extends Path<"patch">>(path: P, body: Body<P, "patch">): Promise<Answer<P, "patch">> =>
  call("PATCH", path, { body });
export const del = <P extends Path<"delete">>(path: P, query?: Query<P, "delete">): Promise<Answer<P, "delete">> =>
  call("DELETE", path, { query });
export const getCsv = (path: string, query: AnyQuery): Promise<string> =>
  call("GET", path, { query, accept: "text/csv" });

/** A list whose path is chosen at run time: the rows are what the caller says. */
export const getList = (path: string, query: AnyQuery, options?: Options): Promise<unknown> =>
  call("GET", path, { query, ...options });

/** A write whose path is chosen at run time. */
export const write = (
  method: "POST" | "PUT" | "PATCH",
  path: string,
  body: unknown,
  options?: WriteOptions,
): Promise<unknown> => call(method, path, { body, ...options });
export const remove = (path: string, query?: AnyQuery): Promise<unknown> => call("DELETE", path, { query });

type Row<A, K> = A extends (infer R)[]
  ? R
  : K extends keyof A
    ? NonNullable<A[K]> extends (infer R)[]
      ? R
      : never
    : never;

/** All pages of a list, up to `most` rows, whose path is chosen at run time; for lists with and without `next`. */
export async function allRows<R>(
  path: string,
  key: string | null,
  query: AnyQuery,
  most: number,
  abort?: AbortSignal,
): Promise<R[]> {
  const rows: R[] = [];
  const step = Math.min(500, most);
  for (let more = true; more && rows.length < most;) {
    const page = await call("GET", path, { query: { limit: step, offset: rows.length, ...query }, signal: abort });
    const list = key ? (page?.[key] ?? []) : (page ?? []);
    rows.push(...list);
    more = list.length === step || Boolean(page?.next);
  }
  return rows.slice(0, most);
}

/** All rows of a list of the API. */
export const getAll = <P extends Path<"get">, K extends string | null>(
  path: P,
  key: K,
  query: Query<P> = {},
  { most = 500, signal: abort }: { most?: number; signal?: AbortSignal } = {},
) => allRows<Row<Answer<P>, K>>(path, key, query, most, abort);

const FIELD = /^([A-Za-z_][\w-]*(?:[.[][\w\]-]+)*):\s+(.+)$/s;

/** The fields an error speaks of, {"spec.image": "missing"}; empty when it names none. */
export function fieldErrors(error: unknown) {
  const found: Record<string, string> = {};
  if (!(error instanceof ApiError)) return found;
  for (const issue of error.issues) found[issue.field] = issue.details || issue.rule || "";
  for (const text of [error.message, error.details].flatMap(t => String(t ?? "").split("\n"))) {
    const match = FIELD.exec(text.trim());
    if (match && !(match[1] in found)) found[match[1]] = match[2];
  }
  return found;
}
