// A workload as its submission would make it: in the scheduler's form, by the same code as one that is there.
#pragma once
#include "reconciler/present.h"

// Puts the workload and its pods into the question. Where it asks for a resource that nobody has heard of, the
// present's snapshot gets that resource. ERROR_UNAVAILABLE where the present does not know the project yet.
int draft_workload(struct present *present, const struct submission *submission, struct what_if_question *question,
                   struct error *err);
