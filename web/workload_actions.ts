// What one can do to workloads: paths by kind, which action a phase allows, and the calls themselves.
import { connection, del, post } from "./api";
import { refreshAll } from "./live";
import { confirm } from "./parts/dialog";
import { renewTables } from "./parts/table";
import { take } from "./parts/table_rows";
import { toast, toastError } from "./parts/toast";
import { plural } from "./format";
import type { FormKind } from "./pictures/submission";
import { may } from "./session";
import type { Workload } from "./types";
import { WORDS } from "./words";

/** As much of a workload as its actions need. */
export type Actable = Pick<Workload, "id" | "name" | "type" | "phase" | "actionsSupport">;
type Kinded = { type?: string };

type Kind = "trainings" | "workspaces" | "distributed" | "inferences";
type Action = "delete" | "suspend" | "resume";

const KINDS: Record<string, Kind> = {
  Training: "trainings",
  Workspace: "workspaces",
  Distributed: "distributed",
  Inference: "inferences",
};
export const pathOf = (w: Kinded & { id: string }) =>
  `/api/v1/workloads/${KINDS[w.type ?? ""] ?? "trainings"}/${w.id}` as const;
const FORMS: Record<string, FormKind | undefined> = {
  Training: "training",
  Workspace: "workspace",
  Distributed: "distributed",
  Inference: "inference",
};
export const formOf = (w: Kinded) => FORMS[w.type ?? ""];

const AT_ONCE = 100; // that the server takes in one call

const STOPPABLE = ["Creating", "Pending", "Initializing", "Running", "Degraded", "Updating", "Resuming", "Terminating"];
export const canStop = (w: Actable) => STOPPABLE.includes(w.phase) && w.actionsSupport?.suspend !== false;
export const canRun = (w: Actable) => w.phase === "Stopped" || w.phase === "Stopping";

// Why an action can't be used now, or "".
export function whyNot(action: "delete" | "stop" | "run", workloads: Actable[]) {
  if (!may(action === "delete" ? "delete" : "update", "workloads"))
    return WORDS.noRight(`${action === "delete" ? "delete" : "update"} workloads`);
  if (connection.value.lost) return WORDS.writingOff;
  if (action === "stop" && !workloads.some(canStop)) return "Only what is running, starting or waiting can be stopped.";
  if (action === "run" && !workloads.some(canRun)) return "Only what was stopped can be run again.";
  if (action === "delete" && workloads.every(w => w.phase === "Deleting")) return "It is being deleted.";
  return "";
}

type OwnPath = `/api/v1/workloads/${"trainings" | "workspaces" | "distributed"}/${string}`;
const isSuspendable = (path: string): path is OwnPath => !path.startsWith("/api/v1/workloads/inferences/");

async function batch(workloads: Actable[], action: Action) {
  if (workloads.length === 1) {
    const [w] = workloads,
      path = pathOf(w);
    if (action === "delete") return del(path);
    if (isSuspendable(path)) return post(`${path}/${action}`);
  }
  const failed: string[] = [];
  for (let i = 0; i < workloads.length; i += AT_ONCE) {
    const ids = workloads.slice(i, i + AT_ONCE).map(w => w.id);
    const answer = await post("/api/v1/workloads/batch", { ids, action });
    failed.push(...(answer.failed ?? []).map(f => f.message ?? ""));
  }
  if (failed.length) throw new Error(`${failed.length} of ${workloads.length} could not be changed: ${failed[0]}`);
}

// Of more than a page the number is said before; resolves true where there is nothing to ask.
const sureOfMany = (list: Actable[], verb: string) =>
  list.length <= AT_ONCE ||
  confirm({ title: `${verb} ${named(list)}?`, verb, body: "That is more than a page shows." });

const named = (list: Actable[]) => (list.length === 1 ? list[0].name : plural(list.length, "workload"));

async function carryOut(list: Actable[], action: Action, said: string, undo?: () => void) {
  try {
    await batch(list, action);
    if (action === "delete") take(list.map(w => w.id));
    toast(said, undo ? { undo } : {});
  } catch (error) {
    toastError(error);
  }
  refreshAll();
  renewTables();
}

export async function stop(workloads: Actable[]) {
  const list = workloads.filter(canStop);
  if (!(await sureOfMany(list, "Stop"))) return false;
  return carryOut(list, "suspend", `Stopped ${named(list)}. It can be run again.`, () => run(list, true));
}

export async function run(workloads: Actable[], force = false) {
  const list = force ? workloads : workloads.filter(canRun);
  if (!force && !(await sureOfMany(list, "Run"))) return false;
  return carryOut(list, "resume", `${named(list)} is back in the queue.`);
}

// Resolves true when it was done.
export async function remove(workloads: Actable[]) {
  const sure = await confirm({
    title: `Delete ${named(workloads)}?`,
    verb: "Delete",
    body: `${workloads.length === 1 ? "Its" : "Their"} pods end now, and ${workloads.length === 1 ? "it leaves" : "they leave"} the list. Data volumes stay.`,
  });
  if (sure) await carryOut(workloads, "delete", `Deleted ${named(workloads)}.`);
  return sure;
}
