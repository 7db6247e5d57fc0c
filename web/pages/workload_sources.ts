// Where a workload form gets values from besides the person: a template, and the policy of the chosen project.
import { useEffect, useRef, useState } from "preact/hooks";
import { get } from "../api";
import { useData } from "../data";
import { toastError } from "../parts/toast";
import { type FormKind, type FormValues, KINDS } from "../pictures/submission";
import { type Policy, ofTemplate, withDefaults } from "../pictures/submission_fields";

type Values = Partial<FormValues>;
type SetValues = (change: (old: FormValues) => FormValues) => void;

/**
 * The effective policy of the chosen project: kept for who checks the form, and its defaults where nobody typed. start: what
 * the fields got without it. True once it has been known.
 */
export function usePolicy(
  kept: { current: Policy },
  kind: FormKind,
  { values: v, setValues }: { values: FormValues; setValues: SetValues },
  start: Values,
) {
  const given = useRef(start);
  const ask = (abort: AbortSignal) =>
    get(KINDS[kind].policy, { scope: "project", projectId: v.project }, { signal: abort }).then(
      answer => (kept.current = (answer?.effective ?? {}) as Policy),
      () => (kept.current = {}), // without a policy the server alone says what it refuses
    );
  const known = useRef(false); // what a policy says of fields makes them higher: they come with it
  const { data, loading } = useData(v.project ? `policy/${kind}/${v.project}` : null, ask, ["policy"]);
  useEffect(() => {
    if (!data) return;
    const next = withDefaults(v, given.current, start, data, kind);
    given.current = next.given;
    if (Object.keys(next.values).length) setValues(old => ({ ...old, ...next.values }) as FormValues);
  }, [data]);
  known.current ||= !v.project || !loading;
  return known.current;
}

/** The chosen template: what it filled is said at its field until another value stands there. */
export function useTemplate(first: string | undefined, kind: FormKind, v: FormValues, fill: (values: Values) => void) {
  const [filled, setFilled] = useState<(ReturnType<typeof ofTemplate> & { name: string }) | null>(null);
  const choose = async (id: string) => {
    if (!id) {
      setFilled(null);
      fill({ template: "" });
      return;
    }
    try {
      const { meta, spec, combinedSpec, combinedSources } = await get(`/api/v1/workload-templates/${id}`);
      const of = ofTemplate((combinedSpec ?? spec ?? {}) as never, combinedSources?.spec ?? {}, meta.name);
      setFilled({ ...of, name: meta.name });
      fill({ ...of.values, template: id });
    } catch (error) {
      toastError(error);
    }
  };
  useEffect(() => {
    if (first) void choose(first);
  }, [kind]);
  const saidOf = (key: keyof FormValues & string) =>
    filled && v.template && String(v[key]) === String(filled.values[key]) ? filled.said[key] : undefined;
  return { choose, saidOf };
}
