// What the server adds to every object and checks of it: names, labels, uid, times, versions.
#pragma once
#include "tests/fakekube/call.h"

// A cause of an Invalid answer, appended to causes. value NULL: none is quoted.
void cause_add(json_t *causes, const char *reason, const char *field, const char *value, const char *detail);
void cause_add_required(json_t *causes, const char *field, const char *detail);

// Names, labels and annotations; appends causes.
void object_check_metadata(struct call *call, const json_t *object, json_t *causes);
// uid, creationTimestamp; takes off what a client may not set. The name is made of generateName where it is missing.
void object_stamp(struct call *call, json_t *object);
// Defaults and checks of the kinds that have some; appends causes.
void object_complete(struct call *call, json_t *object, json_t *causes);
// Takes off keys that no pod has: 400 with fieldValidation=Strict, else a Warning. 0: goes on.
int object_check_fields(struct call *call, json_t *object);
// The uid and resourceVersion the caller insists on (either may be NULL) against what is there. -1: 409 is answered.
int object_check_preconditions(struct call *call, const json_t *object, const char *uid, const char *version);
