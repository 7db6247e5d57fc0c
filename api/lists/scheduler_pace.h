// How recent the scheduler's decisions are, in answers that show them.
#pragma once
struct json_writer;
struct reconciler;

// Member "scheduler" of the open object: SchedulerPace of the contract.
void scheduler_pace_write(struct json_writer *json, const struct reconciler *reconciler);
