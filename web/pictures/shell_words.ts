// Words of a command line, split and quoted as the server splits them (model/shell_words.h).

/** The word as a shell takes it unchanged. */
export const shell = (text: string) =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${String(text).replaceAll("'", "'\\''")}'`;

const PART = /'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])|([^\s'"\\]+)/y;

function plain(part: RegExpExecArray) {
  const [, single, double, escaped, bare] = part;
  if (double !== undefined) return double.replace(/\\(["\\$`\n])/g, (_, c: string) => (c === "\n" ? "" : c));
  return single ?? (escaped === "\n" ? "" : escaped) ?? bare;
}

/** The words of a text. A text that no shell takes, as with an open quote, is one word. */
export function shellWords(text: string) {
  const words: string[] = [];
  let at = 0;
  while (at < text.length) {
    if (/\s/.test(text[at])) {
      at++;
      continue;
    }
    let word = "";
    while (at < text.length && !/\s/.test(text[at])) {
      PART.lastIndex = at;
      const part = PART.exec(text);
      if (!part) return [text];
      word += plain(part);
      at = PART.lastIndex;
    }
    words.push(word);
  }
  return words;
}

/** The same words, such that a shell which reads them hands on just these. */
export const shellLine = (text: string) => shellWords(text).map(shell).join(" ");
