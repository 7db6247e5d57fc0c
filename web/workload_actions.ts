// What one can do to workloads: paths by kind, which action a phase allows, and the calls themselves.
import { connection, del, post } from "./api";
import { refreshAll } from "./live";
import { confirm } from "./parts/dialog";
import { renewTables } from "./parts/table";
import { take } from "./parts/table_rows";
import { toast, toastError } from "./parts/toast";
import { plural } from "./format";
import { may } from "./session";
import { WORDS } from "./words";

const KINDS = {
  Training: "trainings",
  Workspace: "workspaces",
  Distributed: "distributed",
  Inference: "inferences",
  DistributedInference: "distributed-inferences",
};
export const pathOf = w => `/api/v1/workloads/${KINDS[w.type] ?? "trainings"}/${w.id}`;
export const formOf = w => ({ Training: "training", Workspace: "workspace", Distributed: "distributed" })[w.type];

const STOPPABLE = ["Creating", "Pending", "Initializing", "Running", "Degraded", "Updating", "Resuming", "Terminating"];
export const canStop = w => STOPPABLE.includes(w.phase) && w.actionsSupport?.suspend !== false;
export const canRun = w => w.phase === "Stopped" || w.phase === "Stopping";

// Why an action can't be used now, or "".
export function whyNot(action, workloads) {
  if (!may(action === "delete" ? "delete" : "update", "workloads"))
    return WORDS.noRight(`${action === "delete" ? "delete" : "update"} workloads`);
  if (connection.value.lost) return WORDS.writingOff;
  if (action === "stop" && !workloads.some(canStop)) return "Only what is running, starting or waiting can be stopped.";
  if (action === "run" && !workloads.some(canRun)) return "Only what was stopped can be run again.";
  if (action === "delete" && workloads.every(w => w.phase === "Deleting")) return "It is being deleted.";
  return "";
}

async function batch(workloads, action) {
  if (workloads.length === 1) {
    const [w] = workloads;
    return action === "delete" ? del(pathOf(w)) : post(`${pathOf(w)}/${action}`);
  }
  const answer = await post("/api/v1/workloads/batch", { ids: workloads.map(w => w.id), action });
  if (answer?.failed?.length)
    throw new Error(`${answer.failed.length} of ${workloads.length} could not be changed: ${answer.failed[0].message}`);
  return answer;
}

const named = list => (list.length === 1 ? list[0].name : plural(list.length, "workload"));

async function carryOut(list, action, said, undo) {
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

export function stop(workloads) {
  const list = workloads.filter(canStop);
  return carryOut(list, "suspend", `Stopped ${named(list)}. It can be run again.`, () => run(list, true));
}

export function run(workloads, force = false) {
  const list = force ? workloads : workloads.filter(canRun);
  return carryOut(list, "resume", `${named(list)} is back in the queue.`);
}

// Resolves true when it was done.
export async function remove(workloads) {
  const sure = await confirm({
    title: `Delete ${named(workloads)}?`,
    verb: "Delete",
    body: `${workloads.length === 1 ? "Its" : "Their"} pods end now, and ${workloads.length === 1 ? "it leaves" : "they leave"} the list. Data volumes stay.`,
  });
  if (sure) await carryOut(workloads, "delete", `Deleted ${named(workloads)}.`);
  return sure;
}
