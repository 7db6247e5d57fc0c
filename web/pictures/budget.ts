// What is used of a project's budget of GPU hours, in words and as a bar's parts. Pure.
import { gpus, plural } from "../format";
import type { ProjectBudget } from "../types";
import { poolParts } from "./shares";

const MOST = 10; // people by name

const inUtc = (at: string | undefined, words: Intl.DateTimeFormatOptions) =>
  new Date(at ?? "").toLocaleString("en", { ...words, timeZone: "UTC" });
const dayOf = (at?: string) => `${inUtc(at, { day: "numeric" })} ${inUtc(at, { month: "short" })}`;

// As the server writes it: "February 2026", "the quarter from January 2026", "the week from 16 Feb".
function periodOf({ period, periodStart }: ProjectBudget) {
  if (period === "week") return `the week from ${dayOf(periodStart)}`;
  return (period === "quarter" ? "the quarter from " : "") + inUtc(periodStart, { month: "long", year: "numeric" });
}

/** The day on which it is used up at this rate; "" where the period ends first, or where nothing is held. */
const usedUpOn = (at: string | null | undefined, { periodEnd }: ProjectBudget) =>
  at && Date.parse(at) < Date.parse(periodEnd ?? "") ? dayOf(at) : "";

const hours = (budget: number) => plural(budget, "GPU hour");

/** What is used, and what follows from it; isOver: something waits for the next period. */
export function budgetInWords(b: ProjectBudget): { one: string; two: string; isOver: boolean } {
  const over = b.people.filter(p => p.isUsedUp).length;
  const waits = `work beyond the quota waits until ${dayOf(b.periodEnd)} (UTC)${b.enforcement === "refuse" ? "; new work that asks for GPUs is refused" : ""}.`;
  const ofPeople = over ? `${plural(over, "person has", "people have")} used up theirs: ${waits}` : "";
  if (b.gpuHours === null)
    return {
      one: `Each person may use ${hours(b.gpuHoursPerPerson ?? 0)} in ${periodOf(b)}.`,
      two: ofPeople,
      isOver: over > 0,
    };
  const on = usedUpOn(b.usedUpAt, b);
  return {
    one: `${gpus(b.usedGpuHours)} of ${hours(b.gpuHours)} used for ${periodOf(b)}${on && `; used up on ${on} at this rate`}.`,
    two: b.isUsedUp ? `Used up: ${waits}` : ofPeople,
    isOver: Boolean(b.isUsedUp) || over > 0,
  };
}

/** The bar: what is used within the budget and beyond it. */
export const budgetParts = (b: ProjectBudget) => poolParts({ quota: b.gpuHours ?? 0, held: b.usedGpuHours });

/** Who has used most, and how many more there are; usedUp: whether theirs is, or when. */
export function budgetPeople(b: ProjectBudget) {
  const all = b.people
    .map(p => ({ ...p, usedUp: p.isUsedUp ? "yes" : usedUpOn(p.usedUpAt, b) }))
    .sort((a, c) => c.usedGpuHours - a.usedGpuHours || (a.name < c.name ? -1 : 1));
  return { people: all.slice(0, MOST), more: Math.max(0, all.length - MOST) };
}
