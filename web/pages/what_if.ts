// Asks what would happen if the form were submitted now: 250 ms after the last change, late answers dropped, errors quiet,
// for the form never waits for it. Asked again when the cluster has changed, every few seconds at most.
import { useEffect, useState } from "preact/hooks";
import { type ApiError, TIMEOUT_S, post, signedOut } from "../api";
import { onChange } from "../live";
import { closed } from "../pictures/what_if";
import { EMPTY, type FormKind, type FormValues, KINDS, bodyOf, check } from "../pictures/submission";
import { type RuledFields, brokenRules, optionsOf } from "../pictures/submission_fields";
import { MORE, THINGS } from "../pictures/submission_more";
import type { WhatIfAnswer } from "../types";
import { WORDS } from "../words";

const PATH = "/api/v1/scheduler/what-if";
const PAUSE_MS = 250,
  AGAIN_MS = 5000;
const NAME = "what-if-" + Math.random().toString(36).slice(2, 8); // its name bears on nothing, so typing one asks nothing
const NEEDED = ["project", "gpus", "cpu", "memory", "workers", "completions", "parallelism", "least"];
const LATER = ["most", "metric", "threshold"];

// Texts bear on nothing, so typing one asks nothing, but where a policy rules it: then it stands as typed, or as something
// that the policy takes. An image there must be.
const TEXTS = ["image", "command", "args", "workingDir"] as const;
function textsOf(v: FormValues, rules: RuledFields, broken: Record<string, string>) {
  const textOf = (key: (typeof TEXTS)[number]) => {
    const rule = rules[key]?.rule,
      isImage = key === "image";
    if (v[key] && !broken[key] && (rule || isImage)) return v[key];
    return rule?.required || isImage ? ((rule && optionsOf(rule)[0]) ?? "none") : "";
  };
  return Object.fromEntries(TEXTS.map(key => [key, textOf(key)]));
}

// Nor do these; a claim may lie on some nodes alone.
const IDLE = [
  ...MORE.filter(f => f.fold === "marks" || f.fold === "security").map(f => f.path),
  ...THINGS.map(t => t.id).filter(id => !["tolerations", "storage.pvc", "after"].includes(id)),
].map(path => `spec.${path}` as const);

// The question as text, so that equal ones are one; null while a field that matters is wrong. rules: a policy's.
export function questionOf(v: FormValues, kind: FormKind, clusterId: string, rules: RuledFields) {
  const wrong = check(v, kind),
    broken = brokenRules(v, rules);
  const isOpen = (key: string) => (key in broken ? !(TEXTS as readonly string[]).includes(key) : NEEDED.includes(key));
  if (Object.keys({ ...wrong, ...broken }).some(isOpen)) return null;
  // What is begun, and not yet as the server takes it, is left out; how many replicas come later needs all its fields.
  const idle = IDLE.filter(key => !rules[key]);
  const left = [...Object.keys(wrong), ...idle].map(key => [key, EMPTY[key as keyof FormValues]]);
  const later = LATER.some(key => wrong[key]) ? { most: Math.max(1, Number(v.least)), metric: "", threshold: "" } : {};
  const said = { ...v, ...Object.fromEntries(left), ...later, ...textsOf(v, rules, broken), name: NAME };
  const environment = rules.environment ? said.environment : "";
  const workload = bodyOf({ ...said, environment }, kind, clusterId);
  return JSON.stringify({ type: KINDS[kind].type, workload, fixes: true });
}

type Ask<A> = (question: string, abort: AbortSignal) => Promise<A>;

// Why the scheduler gave no answer.
function reasonOf(error: ApiError) {
  if (error.late) return WORDS.schedulerLate(TIMEOUT_S);
  if (error.status === 401) return WORDS.schedulerOut;
  return closed(error.message[0].toLowerCase() + error.message.slice(1));
}

interface State<A> {
  question: string | null;
  answer: A | null;
  /** Why there is none; "" where none was missed. */
  why: string;
}

// {answer, why, asking, again}: the answer is the last one until the next is there; null where none could be had, and then
// why says the reason.
export function useAnswer<A>(question: string | null, send: Ask<A>) {
  const [state, setState] = useState<State<A>>({ question: null, answer: null, why: "" });
  const [tries, setTries] = useState(0);
  const out = signedOut.value;
  useEffect(() => {
    if (question === null) return undefined;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | 0 = 0,
      asked = 0;
    const ask = async () => {
      asked = Date.now();
      const next = await send(question, abort.signal).then(
        answer => ({ question, answer, why: "" }),
        error => ({ question, answer: null, why: reasonOf(error) }),
      );
      if (!abort.signal.aborted)
        setState(old => (next.answer || !old.answer || old.question !== question ? next : { ...old, why: next.why }));
    };
    const later = (wait: number) => {
      clearTimeout(timer);
      timer = setTimeout(ask, wait);
    };
    later(state.question === null ? 0 : PAUSE_MS);
    const stop = onChange(
      ["queue", "node", "nodepool", "*"],
      () => asked && later(Math.max(PAUSE_MS, asked + AGAIN_MS - Date.now())),
    );
    return () => {
      stop();
      clearTimeout(timer);
      abort.abort();
    };
  }, [question, tries, out]);
  const again = () => {
    setState({ question: "", answer: null, why: "" });
    setTries(tries + 1);
  };
  if (question === null) return { answer: null, why: WORDS.schedulerGap, asking: false, again: null };
  return { answer: state.answer, why: state.why, asking: state.question !== question, again };
}

const send: Ask<WhatIfAnswer> = (question, signal) => post(PATH, JSON.parse(question), { signal });

/** isReady: what the policy says is known. */
export function useWhatIf(v: FormValues, kind: FormKind, clusterId: string, rules: RuledFields, isReady: boolean) {
  const found = useAnswer(isReady ? questionOf(v, kind, clusterId, rules) : null, send);
  return isReady ? found : { ...found, asking: true };
}
