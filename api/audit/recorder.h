// The audit record of a request, made in one place: dispatch begins it, tells it when the operation is about to run,
// and ends it before the answer is sent. What a handler adds: api/access/audit.h.
#pragma once

struct error;
struct exchange;
struct path;
struct route;

// Sets req->audit. The operation is known, the caller is not.
void recorder_begin(struct exchange *exchange, const struct route *route, const struct path *path);
// Caller, parameters and body are good: what is there before, and from here on each change carries the record.
void recorder_before(struct exchange *exchange);
// The answer is known and not sent. rc and err are what the operation returned. Writes the record of a success that
// changed no row; hands over a refusal.
void recorder_end(struct exchange *exchange, int rc, const struct error *err);
