// Allocation: the action that places everyone who waits, in turn. docs/scheduler.md, 4.
#pragma once
struct cycle;
struct pool;

void allocate_run(struct cycle *cycle, struct pool *pool);
