// Asks what would happen if the form were submitted now: 250 ms after the last change, late answers dropped, errors quiet,
// for the form never waits for it. Asked again when the cluster has changed, every few seconds at most.
import { useEffect, useState } from "preact/hooks";
import { type ApiError, TIMEOUT_S, post, signedOut } from "../api";
import { onChange } from "../live";
import { closed } from "../pictures/what_if";
import { EMPTY, type FormKind, type FormValues, KINDS, bodyOf, check } from "../pictures/submission";
import type { WhatIfAnswer } from "../types";
import { WORDS } from "../words";

const PATH = "/api/v1/scheduler/what-if";
const PAUSE_MS = 250,
  AGAIN_MS = 5000;
const NAME = "what-if-" + Math.random().toString(36).slice(2, 8); // its name bears on nothing, so typing one asks nothing
const NEEDED = ["project", "gpus", "cpu", "memory", "workers", "completions", "parallelism"];

// The question as text, so that equal ones are one; null while a field that matters is wrong.
export function questionOf(v: FormValues, kind: FormKind, clusterId: string) {
  const wrong = check(v, kind);
  if (NEEDED.some(key => wrong[key])) return null;
  const { type } = KINDS[kind];
  const open = Object.keys(wrong).filter(key => key.startsWith("spec.")); // begun, and not yet as the server takes it
  return JSON.stringify({
    type,
    workload: bodyOf(
      {
        ...v,
        ...Object.fromEntries(open.map(key => [key, EMPTY[key as keyof FormValues]])),
        name: NAME,
        image: v.image || "none",
        command: "",
        args: "",
        workingDir: "",
        environment: "",
      },
      kind,
      clusterId,
    ),
    fixes: true,
  });
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

export const useWhatIf = (v: FormValues, kind: FormKind, clusterId: string) =>
  useAnswer(questionOf(v, kind, clusterId), send);
