// An xterm.js screen with a session behind it. It lives on while its element is nowhere: who shows it hangs it in.
import { Terminal } from "@xterm/xterm";
import { type Signal, effect, signal } from "@preact/signals";
import css from "terminal-style";
import { ofKey } from "../keys";
import { keep, pref, theme } from "../prefs";
import { openShell } from "./shell";

const sheet = new CSSStyleSheet();
sheet.replaceSync(css);
document.adoptedStyleSheets.push(sheet);

/** Whether what is printed is told to a screen reader; xterm.js takes no emoji and dictation then. */
export const readsAloud = () => pref(READS_ALOUD, false);
export const readAloud = (value: boolean) => keep(READS_ALOUD, value);

const READS_ALOUD = "terminalReadsAloud",
  SCROLLBAR = 14, // of xterm.js, over the text's right
  LEAST = 2,
  RESIZED_MS = 100,
  AHEAD_BYTES = 256 * 1024,
  HIDDEN_BYTES = 16 * 1024 * 1024; // a hidden page draws once a minute, and the server hangs up on who reads nothing for half of one

// xterm's colour -> a token; black and white are a dark and a light one in both themes.
const TOKENS = {
  background: "sunken",
  foreground: "ink",
  cursor: "ink",
  cursorAccent: "sunken",
  selectionBackground: "accent",
  selectionForeground: "on-ink",
  scrollbarSliderBackground: "line-strong",
  scrollbarSliderHoverBackground: "control",
  scrollbarSliderActiveBackground: "control",
  red: "bad",
  green: "ok",
  yellow: "warn",
  blue: "info",
  magenta: "p4",
  cyan: "p7",
  brightBlack: "ink-3",
  brightRed: "bad",
  brightGreen: "ok",
  brightYellow: "warn",
  brightBlue: "info",
  brightMagenta: "p4",
  brightCyan: "p7",
};
const LIGHT = { black: "ink", white: "line-strong", brightWhite: "surface" },
  DARK = { black: "canvas", white: "ink-2", brightWhite: "ink" };

function colours(name: string | undefined) {
  const style = getComputedStyle(document.documentElement);
  const tokens = Object.entries({ ...TOKENS, ...(name === "dark" ? DARK : LIGHT) });
  return Object.fromEntries(tokens.map(([key, token]) => [key, style.getPropertyValue(`--${token}`).trim()]));
}

export interface Said {
  state: "opening" | "open" | "ended";
  trouble: string;
  /** Of an end; null where it is not known. */
  status: number | null;
  words: string;
}
export interface Screen {
  workloadId: string;
  pod: string;
  element: HTMLElement;
  said: Signal<Said>;
  focus: () => void;
  /** After its place has another size. */
  fit: () => void;
  hangUp: () => void;
  /** Hangs up and takes the screen away. */
  close: () => void;
}

// As many rows and columns as there is room for.
function fit(terminal: Terminal, element: HTMLElement) {
  const screen = element.querySelector(".xterm-screen")!.getBoundingClientRect();
  if (!screen.width || !screen.height) return;
  const columns = Math.floor((element.clientWidth - SCROLLBAR) / (screen.width / terminal.cols));
  const rows = Math.floor(element.clientHeight / (screen.height / terminal.rows));
  terminal.resize(Math.max(LEAST, columns), Math.max(LEAST, rows));
}

// Ctrl+Shift+X gives the focus back, Ctrl+Shift+C copies; once the session is over every key is the page's.
function ownKeys(terminal: Terminal, said: Signal<Said>, leave: () => void) {
  terminal.attachCustomKeyEventHandler(event => {
    if (said.peek().state === "ended") return false;
    const own = event.ctrlKey && event.shiftKey && ofKey(event, { X: leave, C: () => copy(terminal) });
    if (!own) return true;
    event.preventDefault();
    if (event.type === "keydown") own();
    return false;
  });
}

const copy = (terminal: Terminal) => {
  if (terminal.hasSelection()) navigator.clipboard?.writeText(terminal.getSelection());
};

// Writes ahead of what is drawn, so far that nobody waits, and not so far that a ^C comes late.
function writer(terminal: Terminal) {
  let ahead = 0;
  return async (bytes: Uint8Array) => {
    ahead += bytes.length;
    const written = new Promise<void>(done => {
      terminal.write(bytes, () => {
        ahead -= bytes.length;
        done();
      });
    });
    if (ahead > (document.hidden ? HIDDEN_BYTES : AHEAD_BYTES)) await written;
  };
}

const makeTerminal = () =>
  new Terminal({
    fontFamily: getComputedStyle(document.documentElement).getPropertyValue("--mono"),
    fontSize: 12,
    minimumContrastRatio: 4.5,
    screenReaderMode: readsAloud().peek(),
    scrollback: 5000,
    theme: colours(theme.peek()),
  });

/** Opens a session and its screen inside `place`; `leave` takes the focus away. */
export function openScreen(
  place: HTMLElement,
  { workloadId, pod, command }: { workloadId: string; pod: string; command: string[] },
  leave: () => void,
): Screen {
  const element = document.createElement("div");
  const terminal = makeTerminal();
  const said = signal<Said>({ state: "opening", trouble: "", status: null, words: "" });
  const say = (news: Partial<Said>) => (said.value = { ...said.peek(), ...news });
  const end = (status: number | null, words: string) => {
    terminal.options.disableStdin = true;
    say({ state: "ended", trouble: "", status, words });
  };
  place.replaceChildren(element);
  terminal.open(element);
  terminal.textarea!.setAttribute("aria-describedby", "term-keys");
  fit(terminal, element);
  const { rows, cols: columns } = terminal;
  const shell = openShell(
    workloadId,
    { pod, command, rows, columns },
    {
      opened: () => say({ state: "open" }),
      output: writer(terminal),
      trouble: trouble => say({ trouble }),
      ended: end,
    },
  );
  ownKeys(terminal, said, leave);
  const stop = listen(terminal, shell);
  return {
    workloadId,
    pod,
    element,
    said,
    focus: () => terminal.focus(),
    fit: () => element.isConnected && fit(terminal, element),
    hangUp: () => {
      shell.hangUp();
      end(null, "It was hung up.");
    },
    close: () => {
      stop();
      shell.hangUp();
      terminal.dispose();
    },
  };
}

// What is typed, and how large the terminal is; its colours follow the theme. Returns how to stop.
function listen(terminal: Terminal, shell: ReturnType<typeof openShell>) {
  let later: ReturnType<typeof setTimeout> | 0 = 0;
  terminal.onData(text => shell.type(new TextEncoder().encode(text)));
  terminal.onBinary(text => shell.type(Uint8Array.from(text, c => c.charCodeAt(0))));
  terminal.onResize(({ rows, cols }) => {
    clearTimeout(later);
    later = setTimeout(() => shell.resize(rows, cols), RESIZED_MS);
  });
  const dyed = effect(() => {
    terminal.options.theme = colours(theme.value);
    terminal.options.screenReaderMode = readsAloud().value;
  });
  return () => {
    clearTimeout(later);
    dyed();
  };
}
