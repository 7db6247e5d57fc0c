// Requests that write: create, update, patch, delete.
#pragma once
#include "tests/fakekube/objects.h"

// Each answers; 0 or -1. Called with the store's lock held.
int create_object(struct call *call);
int update_object(struct call *call);
int patch_object(struct call *call);
// options: DeleteOptions or NULL. Grace as the real server gives it: docs in writes.c's order of rules.
int delete_object(struct call *call, const json_t *options);
int delete_collection(struct call *call);
int finalize_namespace(struct call *call);
int review_access(struct call *call);
