// A few names as chips: typed or taken from a list; Enter or a comma adds one, Backspace in the empty field takes the last.
import type { TargetedInputEvent, TargetedKeyboardEvent } from "preact";
import { useState } from "preact/hooks";
import { Icon } from "../icons";
import { Field, type FieldFacts, type Framed } from "./form";

interface ChipsProps extends Omit<Framed, "hint" | "lock">, FieldFacts<string[]> {
  /** Names that are known. */
  suggestions?: string[];
  /** What is shown for a name. */
  names?: Record<string, string> | null;
  /** What an empty list means. */
  none?: string;
  hint?: string;
  placeholder?: string;
}

function Chip({ word, remove }: { word: string; remove: () => void }) {
  return (
    <span class="chip">
      {word}
      <button type="button" aria-label={`Remove ${word}`} onClick={remove}>
        <Icon name="close" />
      </button>
    </span>
  );
}

const Known = ({ id, names }: { id: string; names: string[] }) => (
  <datalist id={id}>
    {names.map(s => (
      <option key={s} value={s} />
    ))}
  </datalist>
);

/** A list of names; hint and placeholder say what to type. */
export function ChipsField(props: ChipsProps) {
  const { value, suggestions = [], names, none, hint = "Enter adds one", placeholder = "Add a type", onValue } = props;
  const [typed, setTyped] = useState("");
  const add = (text: string) => {
    const name = text.trim();
    setTyped("");
    if (name && !value.includes(name)) onValue([...value, name]);
  };
  const input = (event: TargetedInputEvent<HTMLInputElement>) => {
    const text = event.currentTarget.value;
    if (text.endsWith(",") || (event.inputType !== "insertText" && suggestions.includes(text)))
      add(text.replace(/,$/, ""));
    else setTyped(text);
  };
  const key = (event: TargetedKeyboardEvent<HTMLInputElement>) => {
    const text = event.currentTarget.value; // what was typed may not be drawn yet
    if (event.key === "Enter" && text.trim()) {
      event.preventDefault(); // the form is not submitted
      add(text);
    } else if (event.key === "Backspace" && text === "" && value.length) onValue(value.slice(0, -1));
  };
  const left = suggestions.filter(s => !value.includes(s));
  const { path, label, size, error } = props;
  return (
    <Field path={path} label={label} size={size} error={error} hint={value.length ? hint : (none ?? hint)}>
      {(id, hintId) => (
        <div class="chips">
          {value.map(name => (
            <Chip key={name} word={names?.[name] ?? name} remove={() => onValue(value.filter(v => v !== name))} />
          ))}
          <input
            id={id}
            class="in"
            autocomplete="off"
            spellcheck={false}
            list={left.length ? `${id}-known` : undefined}
            value={typed}
            placeholder={placeholder}
            aria-invalid={error ? "true" : undefined}
            aria-describedby={hintId}
            onInput={input}
            onKeyDown={key}
            onBlur={e => add(e.currentTarget.value)}
          />
          {left.length > 0 && <Known id={`${id}-known`} names={left} />}
        </div>
      )}
    </Field>
  );
}
