// A policy as text: what can stand at the caret, and what is wrong on which line. Pure.
import { YamlError, lineOf, readYaml } from "./yaml";

type Node = number | string | [Node];
/** Fields by kind: a number is a row of the table, a list holds its items, a text is a type or the words that are allowed. */
export interface Schema {
  roots: Record<string, Node>;
  table: Record<string, Node>[];
}
export interface Mistake {
  /** From 0. */
  line: number;
  message: string;
}
export interface Offer {
  label: string;
  /** What takes the place of the typed beginning. */
  insert: string;
  note: string;
}
/** Where the caret stands: the keys above it, what is typed of a word, and whether it is a value. */
export interface Place {
  path: string[];
  typed: string;
  isValue: boolean;
  /** Of the line, in spaces; null in JSON. */
  indent: number | null;
}

const LINE = /^( *)((?:- +)*)(?:(?:"([^"]*)"|([^\s:#"'-][^:#]*?))\s*:(?:\s+(.*))?)?/;

// The keys that a line of blocks lies in: those above it that are indented less.
function keysAbove(lines: string[], indent: number) {
  const path: string[] = [];
  let depth = indent;
  for (const line of lines.reverse()) {
    if (!line.trim() || /^\s*#/.test(line)) continue;
    const [, space, dashes, quoted, plain] = LINE.exec(line)!;
    const at = space.length + dashes.length,
      key = quoted ?? plain;
    if (key !== undefined && at < depth) {
      path.unshift(key);
      depth = at;
    }
    if (space.length < depth) depth = dashes ? space.length + 1 : space.length;
    if (depth === 0) break;
  }
  return path;
}

function placeInYaml(before: string): Place | null {
  const lines = before.split("\n"),
    line = lines.pop()!;
  const value = /^( *)((?:- +)*)(?:"([^"]*)"|([^\s:#"'-][^:#]*?))\s*:\s+(?:\[(?:[^\]]*,)?\s*)?([\w-]*)$/.exec(line);
  if (value) {
    const indent = value[1].length + value[2].length;
    return { path: [...keysAbove(lines, indent), value[3] ?? value[4]], typed: value[5], isValue: true, indent };
  }
  const key = /^( *)((?:- +)*)([\w-]*)$/.exec(line);
  if (!key) return null;
  const indent = key[1].length + key[2].length;
  return { path: keysAbove(lines, indent), typed: key[3], isValue: false, indent };
}

// The keys of the brackets that are open at the end of some JSON.
function placeInJson(before: string): Place | null {
  const open: { isMap: boolean; key: string }[] = [];
  let isValue = false;
  const tokens = before.matchAll(/"(?:[^"\\\n]|\\.)*"|[{}[\],:]/g);
  let end = 0;
  for (const { 0: token, index } of tokens) {
    end = index + token.length;
    const top = open.at(-1);
    if (token === "{" || token === "[") {
      open.push({ isMap: token === "{", key: "" });
      isValue = token === "[";
    } else if (token === "}" || token === "]") open.pop();
    else if (token === ":") isValue = true;
    else if (token === ",") isValue = !top?.isMap;
    else if (top?.isMap && !isValue) top.key = JSON.parse(token);
  }
  const typed = /^\s*"?([\w-]*)$/.exec(before.slice(end));
  if (!typed || !open.length) return null;
  const keys = open.filter(o => o.isMap).map(o => o.key);
  return { path: isValue ? keys : keys.slice(0, -1), typed: typed[1], isValue, indent: null };
}

export const placeAt = (text: string, caret: number) =>
  /^\s*\{/.test(text) ? placeInJson(text.slice(0, caret)) : placeInYaml(text.slice(0, caret));

const item = (node: Node | undefined): Node | undefined => (Array.isArray(node) ? item(node[0]) : node);

// What a kind's policy holds at a path.
function nodeAt({ roots, table }: Schema, kind: string, path: string[]) {
  const down = (node: Node | undefined, key: string) => {
    const found = item(node);
    return typeof found === "number" ? table[found][key] : undefined;
  };
  return path.reduce<Node | undefined>(down, roots[kind]);
}

const noteOf = (node: Node): string =>
  Array.isArray(node) ? "list" : typeof node === "number" ? "…" : node.replaceAll("|", ", ").slice(0, 40);

// A key as it goes on: to its value, or into what it holds.
function goesOn(key: string, node: Node, indent: number | null) {
  const isDeep = typeof node === "number";
  if (indent === null) return `${key}": ${isDeep ? "{" : Array.isArray(node) ? "[" : ""}`;
  const inner = " ".repeat(indent + 2);
  return `${key}:${isDeep ? `\n${inner}` : Array.isArray(node) ? `\n${inner}- ` : " "}`;
}

/** What can stand at the caret, best first. */
export function offers(schema: Schema, kind: string, place: Place): Offer[] {
  const found = nodeAt(schema, kind, place.path);
  const node = place.isValue || Array.isArray(found) ? item(found) : found;
  const begins = (word: string) => word.toLowerCase().startsWith(place.typed.toLowerCase()) && word !== place.typed;
  if (place.isValue)
    return typeof node === "string" && node.includes("|")
      ? node
          .split("|")
          .filter(begins)
          .map(word => ({ label: word, insert: word, note: "" }))
      : [];
  if (typeof node !== "number") return [];
  return Object.entries(schema.table[node])
    .filter(([key]) => begins(key))
    .map(([key, n]) => ({ label: key, insert: goesOn(key, n, place.indent), note: noteOf(n) }));
}

/** The policy that a text says, or the line where it can't be read. */
export function readPolicy(text: string): { policy?: Record<string, unknown>; mistakes: Mistake[] } {
  try {
    const { value } = readYaml(text);
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return { mistakes: [{ line: 0, message: "defaults: and rules: expected." }] };
    return { policy: value as Record<string, unknown>, mistakes: [] };
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    return { mistakes: [{ line: error.line, message: error.message }] };
  }
}

/** What the server refused by the fields it names, {"policy.rules.image.max": "…"}, each on its line. */
export function mistakesOf(text: string, refused: Record<string, string>): Mistake[] {
  const read = readYaml(text);
  const named = Object.entries(refused).filter(([path]) => path.startsWith("policy"));
  return named.map(([path, message]) => {
    const own = path.replace(/^policy\.?/, "");
    return { line: own ? lineOf(read, own) : 0, message: own ? `${own}: ${message}` : message };
  });
}
