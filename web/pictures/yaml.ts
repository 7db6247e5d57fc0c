// The YAML that policies are written in, and JSON, which is a part of it: blocks, lists, flow collections, quotes, comments.
// Each value knows its line. Anchors, tags, several documents and block text are refused by name. Pure.

export class YamlError extends Error {
  /** From 0. */
  line: number;
  constructor(line: number, message: string) {
    super(message);
    this.name = "YamlError";
    this.line = line;
  }
}
export interface Read {
  value: unknown;
  /** The line of each path: "rules.compute", "options.0.value". */
  lines: Map<string, number>;
}

const DEEPEST = 40;
const PLAIN_KEY = /([^\s#"'{}[\],&*!|>%@`][^#\n]*?)[ \t]*:(?=\s|$)/y;
const NUMBER = /^[-+]?(\d|[1-9]\d*|\d+\.\d*|\.\d+)([eE][-+]?\d+)?$/;
const OTHER: Record<string, string> = {
  "&": "An anchor is not read here.",
  "*": "An alias is not read here.",
  "!": "A tag is not read here.",
  "|": "Block text is not read here: write it in quotes.",
  ">": "Block text is not read here: write it in quotes.",
  "%": "A directive is not read here.",
  "@": "Quote what begins with @.",
  "`": "Quote what begins with `.",
};

function scalar(text: string): unknown {
  if (/^(~|null|)$/i.test(text)) return null;
  if (/^true$/i.test(text)) return true;
  if (/^false$/i.test(text)) return false;
  return NUMBER.test(text) ? Number(text) : text;
}

class Reader {
  lines = new Map<string, number>();
  at: { pos: number; indent: number } | null = null;
  depth = 0;

  constructor(readonly text: string) {
    this.next(0);
  }

  fail(pos: number, message: string): never {
    throw new YamlError(this.text.slice(0, pos).split("\n").length - 1, message);
  }

  mark(path: string, pos: number) {
    this.lines.set(path, this.text.slice(0, pos).split("\n").length - 1);
  }

  column = (pos: number) => pos - this.text.lastIndexOf("\n", pos - 1) - 1;
  // Is there nothing on this line from pos on?
  rest = (pos: number) => /^[ \t\r]*(#.*)?$/.test(this.line(pos)) || /^[ \t\r]+#/.test(this.line(pos));
  line = (pos: number) => {
    const end = this.text.indexOf("\n", pos);
    return this.text.slice(pos, end < 0 ? undefined : end);
  };

  // The first line at or after pos that says something.
  next(pos: number) {
    let start = pos;
    for (this.at = null; start < this.text.length; start += this.line(start).length + 1) {
      const [, space, tab] = /^( *)(\t?)/.exec(this.line(start))!;
      if (this.rest(start) || (/^---\s*$/.test(this.line(start)) && this.lines.size === 0)) continue;
      if (tab) this.fail(start, "A tab can't indent: use spaces.");
      this.at = { pos: start + space.length, indent: space.length };
      return;
    }
  }

  // What stood up to pos was the last of its line.
  end(pos: number) {
    if (!this.rest(pos)) this.fail(pos, `Unexpected: ${this.line(pos).trim().slice(0, 30)}`);
    this.next(pos + this.line(pos).length + 1);
  }

  key(pos: number): { name: string; after: number } | null {
    if (/["']/.test(this.text[pos])) {
      const { value, after } = this.quoted(pos);
      const colon = /^\s*:(?=\s|$)/.exec(this.line(after));
      return colon ? { name: value, after: after + colon[0].length } : null;
    }
    PLAIN_KEY.lastIndex = pos;
    const found = PLAIN_KEY.exec(this.text);
    return found ? { name: found[1], after: PLAIN_KEY.lastIndex } : null;
  }

  isDash = () => /^-(\s|$)/.test(this.line(this.at!.pos));

  block(path: string): unknown {
    if (++this.depth > DEEPEST) this.fail(this.at!.pos, `Deeper than ${DEEPEST} levels.`);
    const { pos } = this.at!;
    const value = this.isDash() ? this.sequence(path) : this.key(pos) ? this.mapping(path) : this.inline(pos, path);
    this.depth--;
    return value;
  }

  mapping(path: string) {
    const { indent } = this.at!;
    const found = new Map<string, unknown>();
    while (this.at && this.at.indent >= indent) {
      const { pos } = this.at;
      if (this.at.indent > indent) this.fail(pos, "Indented further than what it belongs to.");
      const key = this.isDash() ? null : this.key(pos);
      if (!key) this.fail(pos, "A key and a colon expected.");
      if (found.has(key.name)) this.fail(pos, `${key.name} is there twice.`);
      const here = path ? `${path}.${key.name}` : key.name;
      this.mark(here, pos);
      found.set(key.name, this.after(key.after, indent, here));
    }
    return Object.fromEntries(found);
  }

  // The value after a key: on its line, or the block below.
  after(pos: number, indent: number, path: string) {
    if (!this.rest(pos)) return this.inline(pos + /^[ \t]*/.exec(this.line(pos))![0].length, path);
    this.end(pos);
    const below = this.at && (this.at.indent > indent || (this.at.indent === indent && this.isDash()));
    return below ? this.block(path) : null;
  }

  sequence(path: string) {
    const { indent } = this.at!,
      list: unknown[] = [];
    while (this.at && this.at.indent === indent && this.isDash()) {
      const here = `${path}${path && "."}${list.length}`;
      const pos = this.at.pos + 1;
      this.mark(here, pos);
      if (this.rest(pos)) list.push(this.after(pos, indent, here));
      else {
        const first = pos + /^[ \t]*/.exec(this.line(pos))![0].length;
        this.at = { pos: first, indent: this.column(first) };
        list.push(this.block(here));
      }
    }
    if (this.at && this.at.indent > indent) this.fail(this.at.pos, "Indented further than what it belongs to.");
    return list;
  }

  inline(pos: number, path: string): unknown {
    const first = this.text[pos];
    if (OTHER[first]) this.fail(pos, OTHER[first]);
    if (/[{["']/.test(first)) {
      const { value, after } = this.flow(pos, path);
      this.end(after);
      return value;
    }
    const plain = this.line(pos).replace(/\s#.*$/, "");
    if (/:(\s|$)/.test(plain)) this.fail(pos, `Quote what holds a colon: ${plain.trim().slice(0, 30)}`);
    this.end(pos + plain.length);
    return scalar(plain.trim());
  }

  skip(pos: number): number {
    return pos + /^(\s|#.*(\n|$))*/.exec(this.text.slice(pos))![0].length;
  }

  flow(pos: number, path: string): { value: unknown; after: number } {
    const first = this.text[pos];
    if (++this.depth > DEEPEST) this.fail(pos, `Deeper than ${DEEPEST} levels.`);
    const found =
      first === "{" || first === "["
        ? this.collection(pos, path, first === "{")
        : /["']/.test(first)
          ? this.quoted(pos)
          : this.plain(pos);
    this.depth--;
    return found;
  }

  collection(open: number, path: string, isMap: boolean) {
    const close = isMap ? "}" : "]",
      found = new Map<string, unknown>();
    let pos = this.skip(open + 1);
    if (pos >= this.text.length) this.fail(open, `${close} is missing.`);
    while (this.text[pos] !== close) {
      const key = isMap ? this.flowKey(pos) : { name: String(found.size), after: pos };
      if (found.has(key.name)) this.fail(pos, `${key.name} is there twice.`);
      const here = path ? `${path}.${key.name}` : key.name;
      this.mark(here, pos);
      const { value, after } = this.flow(this.skip(key.after), here);
      found.set(key.name, value);
      pos = this.skip(after);
      const hasComma = this.text[pos] === ",";
      if (hasComma) pos = this.skip(pos + 1);
      if (pos >= this.text.length) this.fail(open, `${close} is missing.`);
      if (!hasComma && this.text[pos] !== close) this.fail(pos, `A comma or ${close} expected.`);
    }
    return { value: isMap ? Object.fromEntries(found) : [...found.values()], after: pos + 1 };
  }

  flowKey(pos: number) {
    const { value, after } = /["']/.test(this.text[pos]) ? this.quoted(pos) : this.plain(pos);
    const colon = this.skip(after);
    if (this.text[colon] !== ":") this.fail(pos, "A key and a colon expected.");
    return { name: String(value), after: colon + 1 };
  }

  plain(pos: number) {
    const [said] = /^[^,[\]{}\n#:]*(?::(?!\s)[^,[\]{}\n#:]*)*/.exec(this.text.slice(pos))!;
    if (!said.trim()) this.fail(pos, "A value expected.");
    return { value: scalar(said.trim()), after: pos + said.length };
  }

  quoted(pos: number): { value: string; after: number } {
    const isDouble = this.text[pos] === '"';
    const found = (isDouble ? /^"(?:[^"\\\n]|\\.)*"/ : /^'(?:[^'\n]|'')*'/).exec(this.line(pos));
    if (!found) this.fail(pos, "The quote has no end on this line.");
    const [said] = found,
      after = pos + said.length;
    if (!isDouble) return { value: said.slice(1, -1).replaceAll("''", "'"), after };
    try {
      return { value: JSON.parse(said), after };
    } catch {
      return this.fail(pos, "An escape is wrong.");
    }
  }
}

/** Reads it; throws a YamlError with the line. Nothing at all is null. */
export function readYaml(text: string): Read {
  const reader = new Reader(text);
  if (!reader.at) return { value: null, lines: reader.lines };
  const value = reader.block("");
  if (reader.at) reader.fail(reader.at.pos, "Indented less than what it belongs to.");
  return { value, lines: reader.lines };
}

/** The line of a path, or of the nearest one above it that there is. */
export function lineOf({ lines }: Read, path: string): number {
  const parts = path.replace(/\[(\w+)\]/g, ".$1").split(".");
  for (let n = parts.length; n > 0; n--) {
    const line = lines.get(parts.slice(0, n).join("."));
    if (line !== undefined) return line;
  }
  return 0;
}

const isSafe = (text: string) =>
  /^[A-Za-z_./][\w./@+ -]*$/.test(text) && text === text.trim() && typeof scalar(text) === "string";
const word = (value: unknown) => (typeof value === "string" && isSafe(value) ? value : JSON.stringify(value ?? null));
const isFull = (value: unknown): value is object =>
  typeof value === "object" && value !== null && Object.keys(value).length > 0;

/** The same in blocks, which readYaml reads back. */
export function writeYaml(value: unknown, indent = ""): string {
  if (!isFull(value)) return `${indent}${word(value)}\n`;
  const deeper = `${indent}  `;
  if (Array.isArray(value)) return value.map(v => `${indent}- ${writeYaml(v, deeper).slice(deeper.length)}`).join("");
  return Object.entries(value)
    .filter(([, v]) => v !== undefined)
    .map(([key, v]) => `${indent}${word(key)}:${isFull(v) ? `\n${writeYaml(v, deeper)}` : ` ${word(v)}\n`}`)
    .join("");
}
