// One line of a log -> stretches of text with a tone. Colours map to the status tokens; every other escape is dropped. Pure.

const TONES: Record<number, string> = {
  31: "bad",
  91: "bad",
  32: "ok",
  92: "ok",
  33: "warn",
  93: "warn",
  34: "info",
  94: "info",
  36: "info",
  96: "info",
  35: "info",
  95: "info",
  90: "dim",
  2: "dim",
};
// CSI sequences, OSC strings, and the short escapes; what is left of the control characters goes as well.
const ESCAPES =
  // eslint-disable-next-line no-control-regex
  /\u001b\[([0-9;:?<=>]*)[ -/]*([@-~])|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[@-Z\\^_a-z=>78]?|[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f]/g;

export function stretches(line: string) {
  const out: { text: string; tone: string; bold: boolean }[] = [];
  let tone = "",
    bold = false,
    at = 0;
  const push = (text: string) => {
    if (text) out.push({ text, tone, bold });
  };
  const shown = line.slice(line.lastIndexOf("\r", line.length - 2) + 1); // a progress bar keeps its last state
  for (const match of shown.matchAll(ESCAPES)) {
    push(shown.slice(at, match.index));
    at = match.index + match[0].length;
    if (match[2] !== "m") continue;
    for (const code of (match[1] || "0").split(/[;:]/).map(Number)) {
      if (code === 0) [tone, bold] = ["", false];
      else if (code === 1) bold = true;
      else if (code === 22) bold = false;
      else if (code === 39) tone = "";
      else if (TONES[code]) tone = TONES[code];
    }
  }
  push(shown.slice(at));
  return out;
}

export const plain = (line: string) =>
  stretches(line)
    .map(s => s.text)
    .join("");

// What would turn the reading order around, as its escape, so that what is seen is what is there.
export const shown = (text: string) =>
  text.replace(
    /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    c => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
