// Rows of an operation that answers with all of them at once: filtered, searched, sorted and paged here, by the words that
// other operations take.
import type { Question } from "./table_rows";

const FORM = /^(\w+)(==|!=|=@|>=|<=)(.+)$/;
const TESTS: Record<string, (a: string, b: string) => boolean> = {
  "==": (a, b) => a === b,
  "!=": (a, b) => a !== b,
  "=@": (a, b) => a.toLowerCase().includes(b.toLowerCase()),
  ">=": (a, b) => a >= b,
  "<=": (a, b) => a <= b,
};

const word = (row: unknown, field: string) => String((row as Record<string, unknown>)[field] ?? "");

// A condition that can't be read keeps every row.
function fits(row: unknown, condition: string) {
  const [, field, op, value] = FORM.exec(condition) ?? [];
  return !field || TESTS[op](word(row, field), value);
}

// Numbers by what they are worth, texts by the numbers in them.
function compare(a: unknown, b: unknown, by: string) {
  const [x, y] = [a, b].map(row => (row as Record<string, unknown>)[by]);
  return typeof x === "number" && typeof y === "number"
    ? x - y
    : word(a, by).localeCompare(word(b, by), "en", { numeric: true });
}

const holds = (row: unknown, search: string) =>
  Object.values(row as object).some(v => typeof v === "string" && v.toLowerCase().includes(search));

/** All rows that the question asks for, in its order. */
export function localRows<R>(rows: R[], { sort, filters, search }: Omit<Question, "limit" | "offset">): R[] {
  const wanted = search.toLowerCase();
  const found = rows.filter(r => filters.every(f => fits(r, f)) && (!wanted || holds(r, wanted)));
  const by = sort?.replace(/^-/, ""),
    sign = sort?.startsWith("-") ? -1 : 1;
  return by ? found.sort((a, b) => sign * compare(a, b, by)) : found;
}

/** One page of them, and how many there are. */
export function localPage<R>(rows: R[], question: Question) {
  const found = localRows(rows, question);
  return { rows: found.slice(question.offset, question.offset + question.limit), total: found.length };
}
