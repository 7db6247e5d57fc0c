// Numbers, amounts and times as the pages write them. Pure: what depends on the clock takes `now` in milliseconds.

const THIN = "\u202f"; // thin and unbreakable
export const NONE = "–";
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/** What a quantity comes as: a number, a number as text, or nothing. */
export type Amount = number | string | null | undefined;
/** Milliseconds, or an ISO time. */
export type Time = number | string | null | undefined;

const known = (value: Amount) =>
  value !== null && value !== undefined && value !== "" && Number.isFinite(Number(value));

// 162, 0.5, 12.25: at most two decimals, no trailing zeros.
export function gpus(value: Amount) {
  return known(value) ? count(Math.round(Number(value) * 100) / 100) : NONE;
}

// "1 GPU", "0.5 GPUs", "8 GPUs".
export function gpuCount(value: Amount) {
  return known(value) ? `${gpus(value)} ${Number(value) === 1 ? "GPU" : "GPUs"}` : NONE;
}

// "1 workload", "3 workloads".
export function plural(value: Amount, one: string, many = one + "s") {
  return `${count(value)} ${Number(value) === 1 ? one : many}`;
}

// Thin spaces from 10 000; no "k".
export function count(value: Amount) {
  if (!known(value)) return NONE;
  const number = Number(value);
  if (Math.abs(number) < 10000) return String(number);
  const [whole, rest] = String(number).split(".");
  return whole.replace(/\B(?=(\d{3})+$)/g, THIN) + (rest ? "." + rest : "");
}

// Whole percent; a whole of 0 has no ratio.
export function ratio(part: Amount, whole: Amount) {
  return known(part) && known(whole) && Number(whole) > 0 ? percent((Number(part) / Number(whole)) * 100) : NONE;
}

export function percent(value: Amount) {
  return known(value) ? Math.round(Number(value)) + THIN + "%" : NONE;
}

const UNITS: Record<string, number> = {
  "": 1,
  m: 1e-3,
  k: 1e3,
  K: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  Mib: 2 ** 20,
  Gib: 2 ** 30,
};

// "100M", "1.5Gi", 1048576 -> bytes; what is no quantity gives null.
export function bytes(quantity: Amount) {
  if (typeof quantity === "number") return quantity;
  const match = /^\+?(\d*\.?\d+(?:[eE][-+]?\d+)?)\s*([A-Za-z]*)$/.exec(String(quantity ?? "").trim());
  return match && match[2] in UNITS ? Number(match[1]) * UNITS[match[2]] : null;
}

// Binary units, three digits: 79.6 GiB.
export function memory(quantity: Amount) {
  const value = bytes(quantity);
  if (value === null || !Number.isFinite(value)) return NONE;
  let amount = value,
    unit = 0;
  const names = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  while (amount >= 999.5 && unit < names.length - 1) {
    amount /= 1024;
    unit += 1;
  }
  const digits = unit === 0 || amount >= 99.95 ? 0 : amount >= 9.995 ? 1 : 2;
  return `${Number(amount.toFixed(digits))} ${names[unit]}`;
}

// Cores with one decimal; below 0.1 in millicores: 25 m.
export function cpu(cores: Amount) {
  if (!known(cores)) return NONE;
  const value = Number(cores);
  return value > 0 && value < 0.1 ? `${Math.round(value * 1000)} m` : count(Math.round(value * 10) / 10);
}

// The two largest units: 2 d 4 h, 3 h 27 min, 26 min, 24 s.
export function duration(seconds: Amount) {
  if (!known(seconds)) return NONE;
  const total = Math.max(0, Math.floor(Number(seconds)));
  const days = Math.floor(total / 86400),
    hours = Math.floor(total / 3600) % 24,
    minutes = Math.floor(total / 60) % 60;
  if (days) return `${count(days)} d` + (hours ? ` ${hours} h` : "");
  if (hours) return `${hours} h` + (minutes ? ` ${minutes} min` : "");
  return minutes ? `${minutes} min` : `${total} s`;
}

const millis = (time: Time) => (typeof time === "number" ? time : Date.parse(time ?? ""));
const two = (number: number) => String(number).padStart(2, "0");

// Seconds from a time until now, or until `end`.
export function since(time: Time, now: number) {
  const from = millis(time);
  return Number.isFinite(from) ? Math.max(0, (now - from) / 1000) : null;
}

export function clock(time: Time, seconds = false) {
  const date = new Date(millis(time));
  return Number.isFinite(date.getTime())
    ? `${two(date.getHours())}:${two(date.getMinutes())}` + (seconds ? `:${two(date.getSeconds())}` : "")
    : NONE;
}

export function day(time: Time) {
  const date = new Date(millis(time));
  return `${date.getDate()} ${MONTHS[date.getMonth()]}`;
}

// Today 14:32; this year 16 Nov 10:21; else 2025-11-16.
export function time(value: Time, now: number) {
  const at = millis(value);
  if (!Number.isFinite(at)) return NONE;
  const date = new Date(at),
    today = new Date(now);
  if (date.toDateString() === today.toDateString()) return clock(at);
  if (date.getFullYear() === today.getFullYear()) return `${day(at)} ${clock(at)}`;
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

// For a tooltip: ISO with the zone's offset.
export function iso(value: Time) {
  const at = millis(value);
  if (!Number.isFinite(at)) return "";
  const date = new Date(at),
    offset = -date.getTimezoneOffset(),
    abs = Math.abs(offset);
  const zone = offset === 0 ? "Z" : `${offset < 0 ? "-" : "+"}${two(Math.floor(abs / 60))}:${two(abs % 60)}`;
  return new Date(at + offset * 60000).toISOString().slice(0, 19) + zone;
}

const ISO = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;
const isDay = (at: string, now: number) => new Date(at).toDateString() === new Date(now).toDateString();
const PRECISIONS: ((at: string, now: number) => string)[] = [
  (at, now) => (isDay(at, now) ? clock(at, true) : time(at, now)),
  at => `${day(at)} ${clock(at, true)}`,
  (at, now) => `${isDay(at, now) ? "" : `${day(at)} `}${clock(at, true)}.${at.slice(20, 23).padEnd(3, "0")}`,
];

// The times in a sentence as the reader's: so exact that different ones differ.
export function localTimes(text: string, now: number) {
  const times = new Set(text.match(ISO) ?? []);
  const shown = PRECISIONS.find(p => new Set([...times].map(at => p(at, now))).size === times.size) ?? PRECISIONS[0];
  return text.replace(ISO, at => shown(at, now));
}

// {at, kind}: "in 22 s" decided, "15:10" set by a rule, "about 17:05" if nothing changes, "not as asked" never.
export function forecast(expected: { kind: string; at?: string | null } | null | undefined, now: number) {
  if (!expected || expected.kind === "unknown") return NONE;
  if (expected.kind === "never") return "not as asked";
  if (expected.kind === "now") return "now";
  if (expected.kind === "decided")
    return expected.at ? `in ${duration((millis(expected.at) - now) / 1000)}` : "decided";
  return (expected.kind === "estimate" ? "about " : "") + time(expected.at, now);
}

const SECONDS: Record<string, number> = { w: 604800, d: 86400, h: 3600, m: 60, s: 1, ms: 0.001 };

// Go-like duration of a node pool ("1d2h30m") -> seconds.
export function goSeconds(text: Amount) {
  let total = 0;
  const rest = String(text ?? "").replace(/(\d+(?:\.\d+)?)(ms|[wdhms])/g, (_, number: string, unit: string) => {
    total += Number(number) * SECONDS[unit];
    return "";
  });
  return rest === "" || rest === "0" ? total : null;
}

// A cell of a CSV file. A leading = + - @ would run as a formula in a spreadsheet, so text gets a quote in front.
export function csvCell(value: Amount) {
  const text = value === null || value === undefined ? "" : String(value);
  const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? "'" + text : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
