// A text with line numbers, mistakes on their lines, and words to complete at the caret. Ctrl and Space offers them; arrows
// choose, Enter or Tab takes one, Escape puts the list away. Tab leaves the field where nothing is offered.
import type { TargetedKeyboardEvent } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "../icons";
import { ofKey } from "../keys";
import type { Mistake, Offer } from "../pictures/policy_text";

const LINE_PX = 19,
  MOST = 50;

interface EditorProps {
  label: string;
  value: string;
  onValue: (text: string) => void;
  mistakes: Mistake[];
  /** What stands under it while nothing is wrong. */
  hint: string;
  /** What can stand at the caret: how many letters of it are typed, and the offers. */
  complete: (text: string, caret: number) => { typed: number; offers: Offer[] };
}
interface Open {
  typed: number;
  offers: Offer[];
  chosen: number;
  line: number;
  column: number;
}

// Puts text where the caret is, so that the browser's own undo knows it.
function type(area: HTMLTextAreaElement, from: number, text: string) {
  area.setSelectionRange(from, area.selectionEnd);
  if (!document.execCommand("insertText", false, text)) area.setRangeText(text, from, area.selectionEnd, "end");
}

// The list of offers: when it opens, what a key does in it.
function useOffers({ value, onValue, complete }: EditorProps, area: { current: HTMLTextAreaElement | null }) {
  const [open, setOpen] = useState<Open | null>(null);
  const offer = (asked: boolean) => {
    const { value: text, selectionStart: caret } = area.current!;
    const { typed, offers } = complete(text, caret);
    const before = text.slice(0, caret).split("\n");
    const at = { line: before.length - 1, column: before.at(-1)!.length - typed };
    setOpen(offers.length && (asked || typed) ? { typed, offers: offers.slice(0, MOST), chosen: 0, ...at } : null);
  };
  const take = (chosen: Offer) => {
    const box = area.current!;
    type(box, box.selectionStart - open!.typed, chosen.insert);
    onValue(box.value);
    box.focus();
    setOpen(null);
    if (/\n|: $/.test(chosen.insert)) offer(true);
  };
  const key = (event: TargetedKeyboardEvent<HTMLTextAreaElement>) => {
    if (event.ctrlKey && event.key === " ") {
      event.preventDefault();
      offer(true);
    } else if (open && /^(Enter|Tab)$/.test(event.key)) {
      event.preventDefault();
      take(open.offers[open.chosen]);
    } else if (open && event.key === "Escape") {
      event.preventDefault();
      setOpen(null);
    } else if (open && ofKey(event, { ArrowDown: 1, ArrowUp: -1 })) {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      setOpen({ ...open, chosen: (open.chosen + step + open.offers.length) % open.offers.length });
    } else if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) {
      event.preventDefault(); // the next line begins where this one does
      const box = event.currentTarget;
      const line = box.value.slice(0, box.selectionStart).split("\n").at(-1)!;
      type(box, box.selectionStart, "\n" + /^ */.exec(line)![0] + (/:\s*$/.test(line) ? "  " : ""));
      onValue(box.value);
    } else if (/^(Arrow|Home|End|Page)/.test(event.key)) setOpen(null);
  };
  useEffect(() => {
    if (document.activeElement !== area.current) setOpen(null);
  }, [value]);
  return { open, setOpen, offer, take, key };
}

/** The editor; its height follows the text up to a screen. */
export function TextEditor(props: EditorProps) {
  const { label, value, onValue, mistakes, hint } = props;
  const area = useRef<HTMLTextAreaElement>(null),
    back = useRef<HTMLDivElement>(null);
  const { open, setOpen, offer, take, key } = useOffers(props, area);
  const lines = value.split("\n");
  const follow = () => {
    back.current!.scrollTop = area.current!.scrollTop;
    back.current!.scrollLeft = area.current!.scrollLeft;
    setOpen(null);
  };
  const show = (line: number) => {
    const start = lines.slice(0, line).join("\n").length + (line ? 1 : 0);
    area.current!.focus();
    area.current!.setSelectionRange(start, start + (lines[line] ?? "").length);
    area.current!.scrollTop = Math.max(0, (line - 4) * LINE_PX);
  };
  return (
    <div class="f editor-field">
      <label for="f-text">{label}</label>
      <div class={"editor" + (mistakes.length ? " wrong" : "")}>
        <div class="editor-back" ref={back} aria-hidden="true">
          {lines.map((line, i) => (
            <Line key={i} number={i + 1} text={line} mistake={mistakes.find(m => m.line === i)?.message} />
          ))}
        </div>
        <textarea
          id="f-text"
          ref={area}
          value={value}
          rows={Math.min(26, Math.max(12, lines.length + 1))}
          wrap="off"
          spellcheck={false}
          autocomplete="off"
          autocapitalize="off"
          aria-invalid={mistakes.length ? "true" : undefined}
          aria-describedby="f-text-hint"
          aria-autocomplete="list"
          aria-controls={open ? "f-text-offers" : undefined}
          aria-activedescendant={open ? `f-text-offer-${open.chosen}` : undefined}
          onScroll={follow}
          onKeyDown={key}
          onBlur={() => setOpen(null)}
          onInput={e => {
            onValue(e.currentTarget.value);
            offer(false);
          }}
        />
        {open && area.current && <Offers open={open} area={area.current} take={take} />}
      </div>
      <Said mistakes={mistakes} hint={hint} show={show} />
    </div>
  );
}

interface SaidProps {
  mistakes: Mistake[];
  hint: string;
  show: (line: number) => void;
}

// Under the text: each mistake with a button that leads to its line.
function Said({ mistakes, hint, show }: SaidProps) {
  return (
    <div id="f-text-hint" role="status">
      {mistakes.length ? (
        <ul class="mistakes">
          {mistakes.map(m => (
            <li key={`${m.line}/${m.message}`}>
              <button type="button" class="link" onClick={() => show(m.line)}>
                Line {m.line + 1}
              </button>{" "}
              {m.message}
            </li>
          ))}
        </ul>
      ) : (
        <p class="hint">{hint}</p>
      )}
    </div>
  );
}

// Behind the text: its number, the room that it takes, and what is wrong with it.
const Line = ({ number, text, mistake }: { number: number; text: string; mistake?: string }) => (
  <div class={mistake ? "bad" : undefined}>
    <b>{number}</b>
    <i>{text || " "}</i>
    {mistake && (
      <span>
        <Icon name="x" />
        {mistake}
      </span>
    )}
  </div>
);

interface OffersProps {
  open: Open;
  area: HTMLTextAreaElement;
  take: (offer: Offer) => void;
}

function Offers({ open, area, take }: OffersProps) {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    const box = list.current!;
    const { font, paddingLeft } = getComputedStyle(area);
    const pen = document.createElement("canvas").getContext("2d")!;
    pen.font = font;
    const left = parseFloat(paddingLeft) + pen.measureText("x".repeat(open.column)).width - area.scrollLeft;
    box.style.left = `${Math.min(Math.max(left, 0), Math.max(0, area.clientWidth - box.offsetWidth))}px`;
    box.style.top = `${(open.line + 1) * LINE_PX + 8 - area.scrollTop}px`;
    box.children[open.chosen]?.scrollIntoView({ block: "nearest" });
  });
  return (
    <ul class="offers" id="f-text-offers" role="listbox" aria-label="What can stand here" ref={list}>
      {open.offers.map((o, i) => (
        <li
          key={o.label}
          id={`f-text-offer-${i}`}
          role="option"
          aria-selected={i === open.chosen}
          onMouseDown={e => {
            e.preventDefault();
            take(o);
          }}
        >
          <span>{o.label}</span>
          <span class="small muted">{o.note}</span>
        </li>
      ))}
    </ul>
  );
}
