// A few names as chips: typed or taken from a list; Enter or a comma adds one, Backspace in the empty field takes the last.
import { useState } from "preact/hooks";
import { Icon } from "../icons";
import { Field } from "./form";

// value: list of names; suggestions: names that are known; names: {name: what is shown for it}; none: what an
// empty list means; hint and placeholder say what to type.
export function ChipsField({
  path,
  label,
  value,
  suggestions = [],
  names,
  none,
  hint = "Enter adds one",
  placeholder = "Add a type",
  size,
  error,
  onValue,
}) {
  const [typed, setTyped] = useState("");
  const add = text => {
    const name = text.trim();
    setTyped("");
    if (name && !value.includes(name)) onValue([...value, name]);
  };
  const input = event => {
    const text = event.target.value;
    if (text.endsWith(",") || (event.inputType !== "insertText" && suggestions.includes(text)))
      add(text.replace(/,$/, ""));
    else setTyped(text);
  };
  const key = event => {
    const text = event.target.value; // what was typed may not be drawn yet
    if (event.key === "Enter" && text.trim()) {
      event.preventDefault(); // the form is not submitted
      add(text);
    } else if (event.key === "Backspace" && text === "" && value.length) onValue(value.slice(0, -1));
  };
  const left = suggestions.filter(s => !value.includes(s));
  return (
    <Field path={path} label={label} size={size} error={error} hint={value.length ? hint : (none ?? hint)}>
      {(id, hintId) => (
        <div class="chips">
          {value.map(name => (
            <span class="chip" key={name}>
              {names?.[name] ?? name}
              <button
                type="button"
                aria-label={`Remove ${names?.[name] ?? name}`}
                onClick={() => onValue(value.filter(v => v !== name))}
              >
                <Icon name="close" />
              </button>
            </span>
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
            onBlur={e => add(e.target.value)}
          />
          {left.length > 0 && (
            <datalist id={`${id}-known`}>
              {left.map(s => (
                <option key={s} value={s} />
              ))}
            </datalist>
          )}
        </div>
      )}
    </Field>
  );
}
