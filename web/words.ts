// What the pages say in more than one place, and every sentence. Subject first, then number, then reason; plain, no
// blame. Sentences about decisions come from the server and are shown as they are.
import { type Amount, duration, gpuCount, gpus, plural } from "./format";
import type { IconName } from "./icons";
import type { Parts } from "./pictures/shares";

/** How a state looks: an icon, a tone, and its word where it is not its name. */
export interface Look {
  icon: IconName;
  tone: string;
  word?: string;
}

// The API's phase -> icon, tone, word.
export const PHASES: Record<string, Look> = {
  Running: { icon: "play", tone: "ok" },
  Pending: { icon: "wait", tone: "warn" },
  Creating: { icon: "half", tone: "info" },
  Initializing: { icon: "half", tone: "info" },
  Resuming: { icon: "half", tone: "info" },
  Updating: { icon: "half", tone: "info" },
  Terminating: { icon: "back", tone: "warn" },
  Completed: { icon: "check", tone: "off" },
  Failed: { icon: "x", tone: "bad" },
  Unknown: { icon: "x", tone: "bad" },
  Stopped: { icon: "stop", tone: "off" },
  Stopping: { icon: "stop", tone: "off", word: "Suspending" },
  Deleting: { icon: "stop", tone: "off" },
  Degraded: { icon: "degraded", tone: "warn" },
};
// States of nodes, node pools, projects.
export const STATES: Record<string, Look> = {
  Ready: { icon: "check", tone: "ok" },
  NotReady: { icon: "x", tone: "bad", word: "Not ready" },
  Empty: { icon: "stop", tone: "off" },
  Unschedulable: { icon: "no", tone: "bad" },
  Unknown: { icon: "x", tone: "bad" },
  Creating: PHASES.Creating,
  Initializing: PHASES.Creating,
  Updating: PHASES.Creating,
  Deleting: PHASES.Deleting,
  Deleted: PHASES.Deleting,
  Enabled: { icon: "check", tone: "ok" },
  Disabled: { icon: "stop", tone: "off" },
};
export const TYPES: Record<string, string> = {
  Training: "Training",
  Distributed: "Distributed",
  Workspace: "Workspace",
  Inference: "Inference",
  DistributedInference: "Inference",
};

// Event reasons -> icon, tone. What is not listed is a plain note.
export const REASONS: Record<string, [icon: IconName, tone: string]> = {
  Scheduled: ["play", "info"],
  Started: ["play", "ok"],
  Running: ["play", "ok"],
  Resumed: ["play", "info"],
  Pulling: ["half", "off"],
  Pulled: ["half", "off"],
  Created: ["half", "off"],
  Submitted: ["plus", "off"],
  Preempted: ["back", "warn"],
  Evict: ["back", "warn"],
  Evicted: ["back", "warn"],
  Reclaimed: ["back", "warn"],
  Consolidated: ["back", "warn"],
  Drained: ["back", "warn"],
  Killing: ["back", "off"],
  Unschedulable: ["wait", "warn"],
  FailedScheduling: ["wait", "warn"],
  NotReady: ["wait", "warn"],
  Pipelined: ["wait", "info"],
  StaleJob: ["back", "warn"],
  NonPreemptibleOverQuota: ["no", "bad"],
  OverLimit: ["no", "bad"],
  OverPersonLimit: ["no", "warn"],
  OverBudget: ["no", "warn"],
  Completed: ["check", "off"],
  Failed: ["x", "bad"],
  BackOff: ["x", "bad"],
  FailedMount: ["x", "bad"],
  FailedBinding: ["x", "bad"],
  Suspended: ["stop", "off"],
  Stopped: ["stop", "off"],
  Deleted: ["trash", "off"],
  TimeLimitExceeded: ["clock", "warn"],
  IdleLimitExceeded: ["clock", "warn"],
  NodeReady: ["node", "ok"],
  NodeNotReady: ["node", "bad"],
};
// What is no workload -> its icon, where the reason has none.
export const OBJECT_ICONS: Record<string, IconName> = {
  Node: "node",
  Project: "project",
  Department: "dept",
  NodePool: "pool",
};

export const WORDS = {
  product: "prorata",
  purpose: "Shares GPUs between teams: each has its quota and may borrow what others leave idle.",
  unreachable: "The server can't be reached. Retrying automatically.",
  noAnswer: (seconds: number) => `The server didn't answer within ${seconds} s. Your input is kept. Try again.`,
  noReason: (status: number) => `The server answered ${status} without a reason.`,
  writingOff: "The connection is lost, so nothing is sent. Your input is kept.",
  signInAgain: "Your session has ended. After signing in this page is as you left it.",
  notSent: "Your session had ended, so nothing was sent. What you typed is kept.",
  badName: "Small letters, digits and dashes; a letter first, no dash last.",
  issuerExpired: "That sign-in was not begun here, or took longer than ten minutes. Begin again.",
  issuerRefused: "The identity provider did not sign you in. Try again, or ask your administrator.",
  issuerTaken: "Another account has your name. Ask your administrator.",
  issuerUnavailable: "The identity provider does not answer. Try again, or sign in with a password.",
  needsCode: "Now a code of your app, or a recovery code.",
  wrongCode: "That code is wrong, or was used before.",
  wrongSignIn: "The name and password don't match an account.",
  askFor: "Ask an administrator for a role with it.",
  noRight: (permission: string) => `Your roles don't allow it: ${permission} is missing.`,
  emptyFilter: (filters: number, search: unknown) => {
    const some = filters === 1 && !search ? "the filter" : filters ? plural(filters, "filter") : "";
    return `Nothing matches ${[search ? "the search" : "", some].filter(Boolean).join(" and ")}.`;
  },
  loadsLater: "The server can't be reached. It opens as soon as the server is back.",
  notLoaded: "The server is there, but did not send it.",
  renewed: "The server has a newer version of the dashboard. Load the page again to go on.",
  notFound: (path: string) => `There is no page at ${path}. It was moved, or the address is not quite right.`,
  leave: { title: "Leave this form?", body: "What you typed is not saved.", verb: "Leave" },
  reconnecting: (time: string) => `Reconnecting, last seen ${time}`,
  polling: "Live updates are refused; the page asks every 5 s.",
  live: "Live",
  noFix:
    "Nothing we tried would start it in the next cycle. Tried: fewer GPUs or pods, another node pool, other preemptibility or priority, more quota.",
  notAsked: (why: string) => `Not asked: ${why}`,
  schedulerLate: (seconds: number) => `the scheduler did not answer in ${seconds} s.`,
  schedulerOut: "you are signed out.",
  schedulerGap: "a field that it needs is missing or wrong.",
  notTried: "No changes were tried: planning one takes too long in this cluster.",
  noForm: "Workloads of this kind are made by the API and the command line.",
  never: {
    NonPreemptibleOverQuota: "Non-preemptible work must fit the quota.",
    OverLimit: "It would exceed a limit.",
  } as Record<string, string>,
};

// What a quota row means: the first two that apply, [tone, text].
export function shareWords(t: Parts) {
  const said: [tone: string, text: string][] = [];
  if (t.over > 0) said.push(["strong", `${gpus(t.over)} borrowed`]);
  if (t.owed > 0) said.push(["eta warn", `${gpus(t.owed)} owed, waiting`]);
  if (t.more > 0) said.push(["muted", `${gpus(t.more)} more wanted`]);
  if (!said.length && Number.isFinite(t.quota) && t.quota > t.inQuota)
    said.push(["muted", `${gpus(t.quota - t.inQuota)} unused`]);
  return said.slice(0, 2);
}

// The whole sum in one line; also the row's accessible name.
export function shareLine(name: string, t: Parts) {
  const parts = [`${name} · ${gpus(t.held)} held = ${gpus(t.inQuota)} in quota + ${gpus(t.over)} over`];
  if (t.firm > 0) parts.push(`${gpus(t.firm)} non-preemptible`);
  if (t.owed > 0) parts.push(`${gpus(t.owed)} owed and waiting`);
  if (t.more > 0) parts.push(`${gpus(t.more)} more wanted`);
  parts.push(Number.isFinite(t.quota) ? `quota ${gpus(t.quota)}` : "quota unlimited");
  parts.push(t.limit === null ? "no limit" : `limit ${gpus(t.limit)}`);
  return parts.join(" · ");
}

interface Given {
  lostSeconds?: Amount;
  gpus?: Amount;
  beneficiary?: string | null;
  beneficiaryId?: string | null;
  beneficiaryProject?: string | null;
  moved?: boolean;
}

// What one decision took from a workload.
export function gaveWay({ lostSeconds, gpus: given, beneficiary, beneficiaryId, beneficiaryProject, moved }: Given) {
  const to =
    beneficiary && (beneficiaryId && beneficiaryProject ? `${beneficiaryProject}/${beneficiary}` : beneficiary);
  if (moved) return `Moved after ${duration(lostSeconds)}${to ? ` to make room for ${to}` : ""}.`;
  return `Stopped after ${duration(lostSeconds)} and ${to ? `yielded ${gpuCount(given)} to ${to}` : `gave back ${gpuCount(given)}`}.`;
}

/** Of the over-quota weights that documents have words for, from 0. */
const WEIGHT_WORDS = ["lowest", "low", "medium", "high"];
export const weightWord = (weight: number | string) => (weight === "" ? "" : (WEIGHT_WORDS[Number(weight)] ?? ""));

// "MediumLow" -> "medium low", wherever a rank is shown.
export const rankWord = (name: string) =>
  String(name)
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase();
