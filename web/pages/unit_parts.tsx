// What the panes of projects and departments share: the sentence, a bar for each pool on one axis, and the history.
import { useState } from "preact/hooks";
import { get } from "../api";
import { now } from "../clock";
import { useData, useWidth } from "../data";
import { gpus } from "../format";
import { Because } from "../parts/because";
import { LinkButton, Seg } from "../parts/button";
import { LineChart, samplesOf, seriesOf } from "../parts/line_chart";
import { QuotaBar } from "../parts/quota_bar";
import { PoolChoice } from "../parts/quota_picture";
import { ShareTree } from "../parts/share_tree";
import { Empty, Loaded } from "../parts/states";
import { axisOf } from "../pictures/quota_bar";
import { type Shares, isEmpty, sumParts } from "../pictures/shares";
import { may } from "../session";
import { shareWords } from "../words";

// Words for what the bar shows: does it get what it is owed, and what does it borrow?
function sentences(name: string, shares: Shares): [one: string, two: string] {
  const t = sumParts(Object.values(shares));
  const list = (key: "owed" | "over") =>
    Object.entries(shares)
      .filter(([, s]) => s[key] > 0)
      .map(([pool, s]) => `${gpus(s[key])} in ${pool}`)
      .join(" and ");
  if (!Number.isFinite(t.quota)) return [`${name} holds ${gpus(t.held)} GPUs; its quota is unlimited.`, ""];
  if (t.owed > 0)
    return [
      `${name} is owed ${gpus(t.owed)} ${t.owed === 1 ? "GPU" : "GPUs"} that it waits for.`,
      `It holds ${gpus(t.held)} of its quota of ${gpus(t.quota)}; ${list("owed")} ${t.owed === 1 ? "is" : "are"} asked for within the quota.`,
    ];
  if (t.over > 0)
    return [
      t.inQuota >= t.quota
        ? `${name} has all ${gpus(t.quota)} GPUs it is owed and borrows ${gpus(t.over)} more.`
        : `${name} holds ${gpus(t.inQuota)} of ${gpus(t.quota)} in quota and borrows ${gpus(t.over)}.`,
      `${list("over")} ${t.over === 1 ? "is" : "are"} borrowed: they go back when their owners ask.`,
    ];
  if (t.more > 0)
    return [
      `${name} has what it is owed and wants ${gpus(t.more)} more.`,
      `It holds ${gpus(t.held)} of ${gpus(t.quota)}.`,
    ];
  if (t.quota === 0) return [`${name} has no quota: all it runs is borrowed.`, ""];
  return [
    t.held > 0
      ? `${name} holds ${gpus(t.held)} of its quota of ${gpus(t.quota)}.`
      : `${name} holds nothing of its quota of ${gpus(t.quota)}.`,
    t.quota > t.held
      ? `${gpus(t.quota - t.held)} ${t.quota - t.held === 1 ? "is" : "are"} unused: others may borrow them until ${name} asks.`
      : "",
  ];
}

// With the clock where something owed is waited for.
export function ShareSentence({ name, shares }: { name: string; shares: Shares }) {
  const [one, two] = sentences(name, shares);
  const owed = sumParts(Object.values(shares)).owed > 0;
  return <Because icon={owed ? "wait" : "check"} tone={owed ? "warn" : "ok"} one={one} two={two} />;
}

export function PoolBars({ shares, project }: { shares: Shares; project: string | null }) {
  const [ref, width] = useWidth();
  const all = Object.entries(shares),
    some = all.filter(([, s]) => !isEmpty(s)),
    rows = some.length ? some : all;
  const { top } = axisOf(rows.map(([, s]) => s));
  return (
    <div>
      {rows.map(([pool, s], i) => (
        <div class="minibar" key={pool}>
          <span class="strong cut">{pool}</span>
          <span class="num">
            {[
              `${gpus(s.held)} / ${Number.isFinite(s.quota) ? gpus(s.quota) : "unlimited"}`,
              ...shareWords(s).map(w => w[1]),
            ].join(" · ")}
          </span>
          <div ref={i === 0 ? ref : undefined}>
            <QuotaBar parts={s} width={width} scale={Math.max(0, width - 8) / top} project={project} name={pool} />
          </div>
        </div>
      ))}
    </div>
  );
}

// Why the share is what it is, in the pool of one's choice; at first where there is a quota, or something held.
export function WhyShare({ shares, kind, name }: { shares: Shares; kind: "department" | "project"; name: string }) {
  const pools = Object.keys(shares);
  const [chosen, setChosen] = useState<string | null>(null);
  const pool = chosen ?? pools.find(p => shares[p].held > 0) ?? pools.find(p => shares[p].quota > 0) ?? pools[0];
  return pool ? (
    <section>
      <div class="bar">
        <h3>Why this share</h3>
        <span class="grow" />
        <PoolChoice pools={pools} pool={pool} setPool={setChosen} all={false} />
      </div>
      <ShareTree pool={pool} kind={kind} name={name} />
    </section>
  ) : null;
}

const RANGES = [
  { value: "1", label: "1 h" },
  { value: "24", label: "1 d" },
  { value: "168", label: "1 w" },
];
const HELD = { name: "held", tone: "ink", fill: 0.09 };
const LINES = {
  GPU_ALLOCATION: HELD,
  ALLOCATED_GPU: HELD,
  GPU_QUOTA: { name: "quota", tone: "accent", dash: [4, 3] },
};

interface OverTimeProps {
  path: `/api/v1/${"org-unit/projects" | "org-unit/departments" | "clusters"}/${string}/metrics`;
  /** How the operation calls what is held. */
  held?: "GPU_ALLOCATION" | "ALLOCATED_GPU";
  nodepoolName?: string;
  id: string;
}

export function OverTime({ path, id, held = "GPU_ALLOCATION", nodepoolName }: OverTimeProps) {
  const [hours, setHours] = useState("24");
  const metrics = useData(
    `${path}/${nodepoolName}/${hours}`,
    async abort => {
      const end = now(),
        about = { metricType: [held, "GPU_QUOTA"], nodepoolName };
      const { start, answer: measurements } = await samplesOf(
        [end - Number(hours) * 3600000, end],
        120,
        async query => (await get(path, { ...query, ...about }, { signal: abort })).measurements ?? [],
      );
      return { start, end, series: seriesOf(measurements, LINES) };
    },
    ["queue"],
  );
  return (
    <>
      <div class="bar chart-range">
        <span class="grow" />
        <Seg label="Time" options={RANGES} value={hours} onChange={setHours} />
      </div>
      <Loaded of={metrics} what="The history">
        {m =>
          m.series.some(s => s.points.some(p => p[1] !== null)) ? (
            <LineChart
              title="GPUs held and quota"
              series={m.series}
              format={gpus}
              from={m.start}
              to={m.end}
              height={180}
              group={id}
            />
          ) : (
            <Empty>Nothing was measured in this time.</Empty>
          )
        }
      </Loaded>
    </>
  );
}

/** To who may do what there; absent for who may not read it. */
export const RulesButton = ({ kind, name }: { kind: "department" | "project"; name: string }) =>
  may("read", "access_rules") ? (
    <LinkButton small icon="key" href={`/access/rules?f=scopeType==${kind},scopeName==${name}`}>
      Access rules
    </LinkButton>
  ) : null;
