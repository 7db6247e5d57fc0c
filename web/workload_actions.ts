// What one can do to workloads: paths by kind, which action a phase allows, and the calls themselves.
import { connection, del, post } from "./api";
import { refreshAll } from "./live";
import { confirm } from "./parts/dialog";
import { renewTables } from "./parts/table";
import { take } from "./parts/table_rows";
import { toast, toastError } from "./parts/toast";
import { signal } from "@preact/signals";
import { count, plural } from "./format";
import type { FormKind } from "./pictures/submission";
import { may } from "./session";
import type { Workload } from "./types";
import { WORDS } from "./words";

/** As much of a workload as its actions need. */
export type Actable = Pick<Workload, "id" | "name" | "type" | "phase" | "actionsSupport" | "submittedBy">;
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

/** What is under way with more than the server takes in one call; a person may end it between two. */
export const underWay = signal<{ done: number; all: number; ended?: boolean } | null>(null);
export const endHere = () => {
  if (underWay.value) underWay.value = { ...underWay.value, ended: true };
};

type OwnPath = `/api/v1/workloads/${"trainings" | "workspaces" | "distributed"}/${string}`;
const isSuspendable = (path: string): path is OwnPath => !path.startsWith("/api/v1/workloads/inferences/");

// Resolves to those that it was done to: all, but where a person ended it.
async function batch(workloads: Actable[], action: Action) {
  const path = pathOf(workloads[0]);
  if (workloads.length === 1 && (action === "delete" || isSuspendable(path))) {
    await (action === "delete" ? del(path) : post(`${path as OwnPath}/${action}`));
    return workloads;
  }
  const failed: string[] = [];
  let done = 0;
  for (; done < workloads.length && !underWay.value?.ended; done += AT_ONCE) {
    if (workloads.length > AT_ONCE) underWay.value = { ...underWay.value, done, all: workloads.length };
    const ids = workloads.slice(done, done + AT_ONCE).map(w => w.id);
    const answer = await post("/api/v1/workloads/batch", { ids, action });
    failed.push(...(answer.failed ?? []).map(f => f.message ?? ""));
  }
  if (failed.length) throw new Error(`${failed.length} of ${workloads.length} could not be changed: ${failed[0]}`);
  return workloads.slice(0, done);
}

// Of more than a page the number is said before; resolves true where there is nothing to ask.
const sureOfMany = (list: Actable[], verb: string) =>
  list.length <= AT_ONCE ||
  confirm({ title: `${verb} ${named(list)}?`, verb, body: "That is more than a page shows." });

const named = (list: Actable[]) => (list.length === 1 ? list[0].name : plural(list.length, "workload"));

async function carryOut(
  list: Actable[],
  action: Action,
  said: (what: string, one: boolean) => string,
  undo?: (done: Actable[]) => void,
) {
  try {
    const done = await batch(list, action);
    if (action === "delete") take(done.map(w => w.id));
    const rest = list.length - done.length;
    toast(
      said(named(done), done.length === 1) + (rest ? ` ${count(rest)} are as they were.` : ""),
      undo ? { undo: () => undo(done) } : {},
    );
  } catch (error) {
    toastError(error);
  }
  underWay.value = null;
  refreshAll();
  renewTables();
}

export async function stop(workloads: Actable[]) {
  const list = workloads.filter(canStop);
  if (!(await sureOfMany(list, "Stop"))) return false;
  return carryOut(
    list,
    "suspend",
    what => `Stopped ${what}. It can be run again.`,
    done => run(done, true),
  );
}

export async function run(workloads: Actable[], force = false) {
  const list = force ? workloads : workloads.filter(canRun);
  if (!force && !(await sureOfMany(list, "Run"))) return false;
  return carryOut(list, "resume", (what, one) => `${what} ${one ? "is" : "are"} back in the queue.`);
}

// Resolves true when it was done.
export async function remove(workloads: Actable[]) {
  const isOne = workloads.length === 1,
    running = workloads.filter(w => w.phase === "Running").length,
    people = new Set(workloads.map(w => w.submittedBy)).size;
  const whose = people > 1 ? `, of ${people} people` : "";
  const body = `${isOne ? "Its" : "Their"} pods end now, and ${isOne ? "it leaves" : "they leave"} the list. Data volumes stay.`;
  const sure = await confirm({
    title: `Delete ${named(workloads)}?`,
    verb: "Delete",
    body: isOne
      ? body
      : `${running ? count(running) : "None"} of them ${running > 1 ? "run" : "runs"}${whose}. ${body}`,
  });
  if (sure) await carryOut(workloads, "delete", what => `Deleted ${what}.`);
  return sure;
}
