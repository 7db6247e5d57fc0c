// Forms: values, errors by field path, validation on blur and on submit. A 400 goes to the field it names; the focus goes
// to the first. Leaving with changes asks first.
import type { ComponentChildren, RefObject, TargetedInputEvent } from "preact";
import { type Dispatch, type StateUpdater, useEffect, useRef, useState } from "preact/hooks";
import { ApiError, fieldErrors, signedOut } from "../api";
import { Icon, type IconName } from "../icons";
import type { Typed } from "../pictures/quota_form";
import { leaveGuard } from "../router";
import { WORDS } from "../words";
import { confirm } from "./dialog";
import { toastError } from "./toast";
import { ofKey } from "../keys";

type StateUpdate<T> = Dispatch<StateUpdater<T>>;
type Wrong = Record<string, string | undefined>;
interface FormFacts<V> {
  initial: V;
  /** What is wrong with the values: {path: sentence}. */
  check?: (values: V) => Wrong;
  /** Sends them; false where a person took it back. */
  send: (values: V) => Promise<unknown>;
  /** {"spec.image": "image"} maps the server's names to ours. */
  paths?: Record<string, string>;
}

/** What a field is given: <TextField label="Name" {...form.field("name")} />. */
export interface FieldFacts<T> {
  path: string;
  value: T;
  error?: string;
  onValue(value: T): void;
  onBlur: () => void;
}

// The focus goes to the first field that is wrong, and what is wrong into sight; unseen() where no field shows it.
const focusFirst = (form: RefObject<HTMLFormElement | null>, unseen: () => void) =>
  requestAnimationFrame(() => {
    const first = form.current?.querySelector<HTMLElement>("[aria-invalid=true]");
    if (!first && !form.current?.querySelector(".hint.bad")) unseen();
    first?.closest("details")?.setAttribute("open", "");
    first?.focus({ preventScroll: true });
    (first?.closest(".f, tbody") ?? form.current?.querySelector(".hint.bad, .fault"))?.scrollIntoView({
      block: "nearest",
    });
  });

// Asks before a form with changes is left; forgets what an ended session said as soon as one is signed in again.
function useCare(dirty: RefObject<boolean>, setProblem: StateUpdate<ApiError | null>) {
  useEffect(() => leaveGuard(() => !dirty.current || confirm({ ...WORDS.leave, tone: "" })), []);
  useEffect(
    () =>
      signedOut.subscribe(out => {
        if (!out) setProblem(old => (old?.status === 401 ? null : old));
      }),
    [],
  );
}

/** The values of a form, what is wrong with them, and sending them. */
export function useForm<V extends object>({ initial, check = () => ({}), send, paths = {} }: FormFacts<V>) {
  const [values, setValues] = useState(initial);
  const [touched, setTouched] = useState<Record<string, boolean>>({});
  const [refused, setRefused] = useState<Wrong>({});
  const [problem, setProblem] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const dirty = useRef(false);
  const form = useRef<HTMLFormElement>(null);
  const wrong = check(values);
  useCare(dirty, setProblem);
  const set = <K extends keyof V & string>(path: K, value: V[K] | ((old: V[K]) => V[K])) => {
    dirty.current = true;
    setValues(old => ({ ...old, [path]: value instanceof Function ? value(old[path]) : value }));
    setRefused(old => ({ ...old, [path]: undefined }));
  };
  const refuse = (error: unknown) => {
    dirty.current = true;
    if (!(error instanceof ApiError)) throw error;
    const named = error.status === 401 ? {} : namedErrors(error, paths);
    setRefused(named);
    setProblem(Object.keys(named).some(path => path in values) ? null : error);
    if (error.status === 0) toastError(error);
    focusFirst(form, () => setProblem(error));
  };
  const submit = async (event?: Event) => {
    event?.preventDefault();
    setTouched(Object.fromEntries(Object.keys({ ...values, ...wrong }).map(k => [k, true])));
    setProblem(null);
    const missed = Object.entries(wrong).filter(([, text]) => text);
    if (missed.length) {
      const message = missed.map(([path, text]) => `${path}: ${text}`).join(" ");
      focusFirst(form, () => setProblem(new ApiError(400, { message })));
      return;
    }
    setBusy(true);
    dirty.current = false;
    try {
      dirty.current = (await send(values)) === false;
    } catch (error) {
      refuse(error);
    } finally {
      setBusy(false);
    }
  };
  const field = <K extends keyof V & string>(path: K): FieldFacts<V[K]> => ({
    path,
    value: values[path],
    error: refused[path] || (touched[path] ? wrong[path] : "") || "",
    onValue: v => set(path, v),
    onBlur: () => setTouched(old => ({ ...old, [path]: true })),
  });
  return { values, set, setValues, field, submit, busy, problem, form, valid: !Object.values(wrong).some(Boolean) };
}

const namedErrors = (error: ApiError, paths: Record<string, string>) =>
  Object.fromEntries(Object.entries(fieldErrors(error)).map(([path, text]) => [ours(paths, path), text]));

// The longest known prefix of the server's path decides: "spec.compute.gpuDevicesRequest" -> paths["spec.compute"],
// "spec.ports[0].container" -> paths["spec.ports"].
function ours(paths: Record<string, string>, path: string) {
  const parts = path.split(".");
  for (let n = parts.length; n > 0; n--) {
    const prefix = parts.slice(0, n).join("."),
      found = paths[prefix] ?? paths[prefix.replace(/\[\w+\]$/, "")];
    if (found) return found;
  }
  return parts.at(-1)!;
}

// A form's section: a heading with a line of help at the left, fields at the right.
export function Section({
  title,
  help,
  children,
}: {
  title: string;
  help?: ComponentChildren;
  children: ComponentChildren;
}) {
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

/** What stands around a control. lock: the rule that holds it. */
export interface Framed {
  path: string;
  label: string;
  hint?: ComponentChildren;
  error?: string;
  lock?: ComponentChildren;
  size?: "" | "half" | "third";
}
interface FieldProps extends Framed {
  children: (id: string, hintId?: string) => ComponentChildren;
}
const frameOf = ({ path, label, hint, error, lock, size }: Framed): Framed => ({
  path,
  label,
  hint,
  error,
  lock,
  size,
});

// Label above, control, then hint or error. size: "", "half", "third". lock: the rule that holds it.
export function Field({ path, label, hint, error, lock, size = "", children }: FieldProps) {
  const id = `f-${path}`;
  return (
    <div class={`f ${size}`}>
      <label for={id}>{label}</label>
      {children(id, error ? `${id}-hint` : hint || lock ? `${id}-hint` : undefined)}
      <p class={"hint" + (error ? " bad" : "")} id={`${id}-hint`} role={error ? "alert" : undefined}>
        {error ? (
          <>
            <Icon name="x" />
            {error}
          </>
        ) : lock ? (
          <Locked by={lock} />
        ) : (
          hint
        )}
      </p>
    </div>
  );
}

const Locked = ({ by }: { by: ComponentChildren }) => (
  <span class="lock">
    <Icon name="lock" />
    {by}
  </span>
);

interface TextProps extends Framed, FieldFacts<string> {
  mono?: boolean;
  /** More than one line. */
  rows?: number;
  type?: "text" | "password" | "datetime-local";
  placeholder?: string;
  maxlength?: number;
  inputmode?: "decimal";
  spellcheck?: boolean;
  autocomplete?: string;
  autofocus?: boolean;
}

export function TextField({ path, label, value, error, hint, lock, size, onValue, onBlur, ...more }: TextProps) {
  const { mono, rows, type = "text", ...rest } = more;
  const common = (id: string, hintId?: string) => ({
    id,
    class: "in" + (mono ? " mono" : ""),
    value: value ?? "",
    "aria-invalid": error ? ("true" as const) : undefined,
    "aria-describedby": hintId,
    disabled: Boolean(lock),
    onInput: (e: TargetedInputEvent<HTMLInputElement | HTMLTextAreaElement>) => onValue(e.currentTarget.value),
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
          <input type={type as "text"} spellcheck={false} {...common(id, hintId)} />
        )
      }
    </Field>
  );
}

export interface Option {
  value: string;
  label?: string;
  disabled?: boolean;
}
interface SelectProps extends Framed, FieldFacts<string> {
  options: Option[];
}

export function SelectField({ path, label, value, error, hint, lock, size, onValue, onBlur, options }: SelectProps) {
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
          onChange={e => onValue(e.currentTarget.value)}
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

interface NumberProps extends Framed, FieldFacts<Typed> {
  min?: number;
  max?: number;
  step?: number;
  placeholder?: string;
}

const Step = ({ sign, say, off, onClick }: { sign: string; say: string; off: boolean; onClick: () => void }) => (
  <button type="button" tabindex={-1} aria-label={say} disabled={off} onClick={onClick}>
    {sign}
  </button>
);

/** A number with less and more. The value is what was typed, as text, until it is a number. */
export function NumberField(props: NumberProps) {
  const { label, value, error, lock, onValue, onBlur, min = 0, max = Infinity, step = 1, placeholder } = props;
  const move = (by: number) =>
    onValue(Math.min(max, Math.max(min, Math.round(((Number(value) || 0) + by) * 1000) / 1000)));
  const input = (event: TargetedInputEvent<HTMLInputElement>) => {
    const text = event.currentTarget.value.trim().replace(",", ".");
    onValue(text !== "" && Number.isFinite(Number(text)) && !text.endsWith(".") ? Number(text) : text);
  };
  const key = (event: KeyboardEvent) => {
    const by = ofKey(event, { ArrowUp: step, ArrowDown: -step });
    if (!by) return;
    event.preventDefault();
    move(by);
  };
  return (
    <Field {...frameOf(props)}>
      {(id, hintId) => (
        <div class="step">
          <Step sign="−" say={`${label}: one less`} off={Boolean(lock)} onClick={() => move(-step)} />
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
          <Step sign="+" say={`${label}: one more`} off={Boolean(lock)} onClick={() => move(step)} />
        </div>
      )}
    </Field>
  );
}

export function CheckField(props: Framed & Omit<FieldFacts<boolean>, "onBlur">) {
  const { path, label, value, error, hint, lock, size, onValue } = props,
    id = `f-${path}`;
  return (
    <div class={`f check ${size ?? ""}`}>
      <input
        type="checkbox"
        id={id}
        checked={Boolean(value)}
        disabled={Boolean(lock)}
        onChange={e => onValue(e.currentTarget.checked)}
      />
      <label for={id}>{label}</label>
      {error || lock || hint ? (
        <p class={"hint" + (error ? " bad" : "")} role={error ? "alert" : undefined}>
          {error || (lock ? <Locked by={lock} /> : hint)}
        </p>
      ) : null}
    </div>
  );
}

interface PresetsProps {
  label: string;
  options: { value: string; label?: string; note?: string }[];
  value: string | null | undefined;
  onValue: (value: string) => void;
}

// Ready-made choices as pressed buttons: options [{value, label, note}].
export function Presets({ label, options, value, onValue }: PresetsProps) {
  return (
    <div class="f">
      <span class="lbl">{label}</span>
      <div class="presets" role="group" aria-label={label}>
        {options.map(o => (
          <button
            type="button"
            key={o.value}
            aria-pressed={o.value === value}
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

interface Item {
  id: string;
  content: ComponentChildren;
  note?: ComponentChildren;
}
interface OrderProps {
  label: string;
  items: Item[];
  error?: string;
  onValue: (ids: string[]) => void;
  remove?: (id: string) => void;
  none: string;
}

const IconButton = ({
  icon,
  say,
  off,
  onClick,
}: {
  icon: IconName;
  say: string;
  off?: boolean;
  onClick: () => void;
}) => (
  <button type="button" class="btn sm icon quiet" aria-label={say} disabled={off} onClick={onClick}>
    <Icon name={icon} />
  </button>
);

interface OrderItemProps {
  item: Item;
  at: number;
  last: boolean;
  move: (from: number, to: number) => void;
  remove?: (id: string) => void;
}

function OrderItem({ item, at, last, move, remove }: OrderItemProps) {
  return (
    <>
      <span class="grip" aria-hidden="true">
        <Icon name="grip" />
      </span>
      <span class="strong">{at + 1}</span>
      <span>{item.content}</span>
      <span class="small">{item.note}</span>
      <span class="bar tight">
        <IconButton icon="up" say={`${item.id} earlier`} off={at === 0} onClick={() => move(at, at - 1)} />
        <IconButton icon="down" say={`${item.id} later`} off={last} onClick={() => move(at, at + 1)} />
        {remove && <IconButton icon="close" say={`Remove ${item.id}`} onClick={() => remove(item.id)} />}
      </span>
    </>
  );
}

/** An order that dragging or the arrow buttons change. */
export function OrderField({ label, items, error, onValue, remove, none }: OrderProps) {
  const [dragged, setDragged] = useState<number | null>(null);
  const move = (from: number, to: number) => {
    if (to < 0 || to >= items.length || from === to) return;
    const ids = items.map(i => i.id);
    ids.splice(to, 0, ...ids.splice(from, 1));
    onValue(ids);
  };
  const key = (i: number) => (event: KeyboardEvent) => {
    const by = ofKey(event, { ArrowUp: -1, ArrowDown: 1 });
    if (!by || !event.altKey) return;
    event.preventDefault();
    move(i, i + by);
  };
  const drop = (to: number) => (event: Event) => {
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
            draggable
            onDragStart={() => setDragged(i)}
            onDragOver={e => e.preventDefault()}
            onDrop={drop(i)}
            onDragEnd={() => setDragged(null)}
            onKeyDown={key(i)}
          >
            <OrderItem item={item} at={i} last={i === items.length - 1} move={move} remove={remove} />
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

/** What the server refused without naming a field. why: the right that sending takes and the account lacks, said before. */
export function Problem({ error, why }: { error: ApiError | null; why?: string }) {
  if (!error && !why) return null;
  const isOut = error?.status === 401;
  return (
    <div class="fault" role="alert">
      <Icon name={error ? "x" : "lock"} tone={error ? "bad" : undefined} />
      <div>
        <p class="strong">{isOut ? WORDS.notSent : (error?.message ?? `${why} ${WORDS.askFor}`)}</p>
        {!isOut && error?.details && <p class="small">{error.details}</p>}
      </div>
    </div>
  );
}
