// Forms: values, errors by field path, validation on blur and on submit. A 400 goes to the field it names; the focus goes
// to the first. Leaving with changes asks first.
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, fieldErrors, signedOut } from "../api";
import { Icon } from "../icons";
import { leaveGuard } from "../router";
import { WORDS } from "../words";
import { confirm } from "./dialog";
import { toastError } from "./toast";

// check(values) -> {path: message}; send(values) -> promise, of false where a person took it back. paths: {"spec.image":
// "image"} maps the server's names to ours.
export function useForm({ initial, check = () => ({}), send, paths = {} }) {
  const [values, setValues] = useState(initial);
  const [touched, setTouched] = useState({});
  const [refused, setRefused] = useState({});
  const [problem, setProblem] = useState(null);
  const [busy, setBusy] = useState(false);
  const dirty = useRef(false);
  const form = useRef(null);
  const wrong = check(values);
  useEffect(() => leaveGuard(() => !dirty.current || confirm({ ...WORDS.leave, tone: "" })), []);
  useEffect(
    () =>
      signedOut.subscribe(out => {
        // signed in again: what the ended session said is over
        if (!out) setProblem(old => (old?.status === 401 ? null : old));
      }),
    [],
  );
  const set = (path, value) => {
    dirty.current = true;
    setValues(old => ({ ...old, [path]: typeof value === "function" ? value(old[path]) : value }));
    setRefused(old => ({ ...old, [path]: undefined }));
  };
  const focusFirst = () =>
    requestAnimationFrame(() => {
      const first = form.current?.querySelector("[aria-invalid=true]");
      first?.focus({ preventScroll: true });
      (first?.closest(".f, tbody") ?? form.current?.querySelector(".hint.bad, .fault"))?.scrollIntoView({
        block: "nearest",
      });
    });
  const submit = async event => {
    event?.preventDefault();
    setTouched(Object.fromEntries(Object.keys({ ...values, ...wrong }).map(k => [k, true])));
    setProblem(null);
    if (Object.values(wrong).some(Boolean)) {
      focusFirst();
      return;
    }
    setBusy(true);
    dirty.current = false;
    try {
      dirty.current = (await send(values)) === false;
    } catch (error) {
      dirty.current = true;
      if (!(error instanceof ApiError)) throw error;
      const named =
        error.status === 401
          ? {}
          : Object.fromEntries(Object.entries(fieldErrors(error)).map(([path, text]) => [ours(paths, path), text]));
      setRefused(named);
      setProblem(Object.keys(named).some(path => path in values) ? null : error);
      if (error.status === 0) toastError(error);
      focusFirst();
    } finally {
      setBusy(false);
    }
  };
  const errorOf = path => refused[path] || (touched[path] ? wrong[path] : "") || "";
  const field = path => ({
    path,
    value: values[path],
    error: errorOf(path),
    onValue: v => set(path, v),
    onBlur: () => setTouched(old => ({ ...old, [path]: true })),
  });
  return { values, set, setValues, field, submit, busy, problem, form, valid: !Object.values(wrong).some(Boolean) };
}

// The longest known prefix of the server's path decides: "spec.compute.gpuDevicesRequest" -> paths["spec.compute"],
// "spec.ports[0].container" -> paths["spec.ports"].
function ours(paths, path) {
  const parts = path.split(".");
  for (let n = parts.length; n > 0; n--) {
    const prefix = parts.slice(0, n).join("."),
      found = paths[prefix] ?? paths[prefix.replace(/\[\w+\]$/, "")];
    if (found) return found;
  }
  return parts.at(-1);
}

// A form's section: a heading with a line of help at the left, fields at the right.
export function Section({ title, help, children }) {
  return (
    <fieldset>
      <div class="lg">
        <h2>{title}</h2>
        {help && <p>{help}</p>}
      </div>
      <div class="fields">{children}</div>
    </fieldset>
  );
}

// Label above, control, then hint or error. size: "", "half", "third". lock: the rule that holds it.
export function Field({ path, label, hint, error, lock, size = "", children }) {
  const id = `f-${path}`;
  return (
    <div class={`f ${size}`}>
      <label for={id}>{label}</label>
      {children(id, error ? `${id}-hint` : hint || lock ? `${id}-hint` : null)}
      <p class={"hint" + (error ? " bad" : "")} id={`${id}-hint`} role={error ? "alert" : undefined}>
        {error ? (
          <>
            <Icon name="x" />
            {error}
          </>
        ) : lock ? (
          <span class="lock">
            <Icon name="lock" />
            {lock}
          </span>
        ) : (
          hint
        )}
      </p>
    </div>
  );
}

export function TextField({
  path,
  label,
  value,
  error,
  hint,
  lock,
  size,
  onValue,
  onBlur,
  mono,
  rows,
  type = "text",
  ...rest
}) {
  const common = (id, hintId) => ({
    id,
    class: "in" + (mono ? " mono" : ""),
    value: value ?? "",
    "aria-invalid": error ? "true" : null,
    "aria-describedby": hintId,
    disabled: Boolean(lock),
    onInput: e => onValue(e.target.value),
    onBlur,
    autocomplete: "off",
    ...rest,
  });
  return (
    <Field path={path} label={label} hint={hint} error={error} lock={lock} size={size}>
      {(id, hintId) =>
        rows ? (
          <textarea rows={rows} spellcheck={false} {...common(id, hintId)} />
        ) : (
          <input type={type} spellcheck={false} {...common(id, hintId)} />
        )
      }
    </Field>
  );
}

// options: [{value, label, disabled}]
export function SelectField({ path, label, value, error, hint, lock, size, onValue, onBlur, options }) {
  return (
    <Field path={path} label={label} hint={hint} error={error} lock={lock} size={size}>
      {(id, hintId) => (
        <select
          id={id}
          class="in"
          value={value ?? ""}
          aria-invalid={error ? "true" : undefined}
          aria-describedby={hintId}
          disabled={Boolean(lock)}
          onChange={e => onValue(e.target.value)}
          onBlur={onBlur}
        >
          {options.map(o => (
            <option key={o.value} value={o.value} disabled={o.disabled}>
              {o.label ?? o.value}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

// A number with less and more. The value is what was typed, as text, until it is a number.
export function NumberField({
  path,
  label,
  value,
  error,
  hint,
  lock,
  size,
  onValue,
  onBlur,
  min = 0,
  max = Infinity,
  step = 1,
  placeholder,
}) {
  const move = by => () => onValue(Math.min(max, Math.max(min, Math.round(((Number(value) || 0) + by) * 1000) / 1000)));
  const input = event => {
    const text = event.target.value.trim().replace(",", ".");
    onValue(text !== "" && Number.isFinite(Number(text)) && !text.endsWith(".") ? Number(text) : text);
  };
  const key = event => {
    const by = { ArrowUp: step, ArrowDown: -step }[event.key];
    if (!by) return;
    event.preventDefault();
    move(by)();
  };
  return (
    <Field path={path} label={label} hint={hint} error={error} lock={lock} size={size}>
      {(id, hintId) => (
        <div class="step">
          <button
            type="button"
            tabindex={-1}
            aria-label={`${label}: one less`}
            disabled={Boolean(lock)}
            onClick={move(-step)}
          >
            −
          </button>
          <input
            id={id}
            inputmode="decimal"
            value={value ?? ""}
            placeholder={placeholder}
            aria-invalid={error ? "true" : undefined}
            aria-describedby={hintId}
            disabled={Boolean(lock)}
            onInput={input}
            onKeyDown={key}
            onBlur={onBlur}
            autocomplete="off"
          />
          <button
            type="button"
            tabindex={-1}
            aria-label={`${label}: one more`}
            disabled={Boolean(lock)}
            onClick={move(step)}
          >
            +
          </button>
        </div>
      )}
    </Field>
  );
}

export function CheckField({ path, label, value, hint, size, onValue }) {
  const id = `f-${path}`;
  return (
    <div class={`f check ${size ?? ""}`}>
      <input type="checkbox" id={id} checked={Boolean(value)} onChange={e => onValue(e.target.checked)} />
      <label for={id}>{label}</label>
      {hint && <p class="hint">{hint}</p>}
    </div>
  );
}

// Ready-made choices as pressed buttons: options [{value, label, note}].
export function Presets({ label, options, value, onValue }) {
  return (
    <div class="f">
      <span class="lbl">{label}</span>
      <div class="presets" role="group" aria-label={label}>
        {options.map(o => (
          <button
            type="button"
            key={o.value}
            aria-pressed={String(o.value === value)}
            data-tip={o.note}
            onClick={() => onValue(o.value)}
          >
            {o.label ?? o.value}
          </button>
        ))}
      </div>
    </div>
  );
}

// An order that dragging or the arrow buttons change: items [{id, content, note}].
export function OrderField({ label, items, error, onValue, remove, none }) {
  const [dragged, setDragged] = useState(null);
  const move = (from, to) => {
    if (to < 0 || to >= items.length || from === to) return;
    const ids = items.map(i => i.id);
    ids.splice(to, 0, ...ids.splice(from, 1));
    onValue(ids);
  };
  const key = i => event => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!by || !event.altKey) return;
    event.preventDefault();
    move(i, i + by);
  };
  const drop = to => event => {
    event.preventDefault();
    if (dragged !== null) move(dragged, to);
    setDragged(null);
  };
  return (
    <div class="f">
      <span class="lbl">{label}</span>
      {items.length === 0 && <p class="hint">{none}</p>}
      <ol class="order" aria-label={label}>
        {items.map((item, i) => (
          <li
            key={item.id}
            class={dragged === i ? "dragging" : undefined}
            draggable="true"
            onDragStart={() => setDragged(i)}
            onDragOver={e => e.preventDefault()}
            onDrop={drop(i)}
            onDragEnd={() => setDragged(null)}
            onKeyDown={key(i)}
          >
            <span class="grip" aria-hidden="true">
              <Icon name="grip" />
            </span>
            <span class="strong">{i + 1}</span>
            <span>{item.content}</span>
            <span class="small">{item.note}</span>
            <span class="bar tight">
              <button
                type="button"
                class="btn sm icon quiet"
                aria-label={`${item.id} earlier`}
                disabled={i === 0}
                onClick={() => move(i, i - 1)}
              >
                <Icon name="up" />
              </button>
              <button
                type="button"
                class="btn sm icon quiet"
                aria-label={`${item.id} later`}
                disabled={i === items.length - 1}
                onClick={() => move(i, i + 1)}
              >
                <Icon name="down" />
              </button>
              {remove && (
                <button
                  type="button"
                  class="btn sm icon quiet"
                  aria-label={`Remove ${item.id}`}
                  onClick={() => remove(item.id)}
                >
                  <Icon name="close" />
                </button>
              )}
            </span>
          </li>
        ))}
      </ol>
      {error && (
        <p class="hint bad" role="alert">
          <Icon name="x" />
          {error}
        </p>
      )}
    </div>
  );
}

// What the server refused without naming a field.
export function Problem({ error }) {
  const { message, details } = error?.status === 401 ? { message: WORDS.notSent } : (error ?? {});
  return (
    error && (
      <div class="fault" role="alert">
        <Icon name="x" tone="bad" />
        <div>
          <p class="strong">{message}</p>
          {details && <p class="small">{details}</p>}
        </div>
      </div>
    )
  );
}
