// Changes that would start it. Internal; what_if.h is the face.
#pragma once
#include "scheduler/ask/what_if_trial.h"

// The changes that would start it, each tried: answer->fixes.
int what_if_find_fixes(struct what_if_inquiry *inquiry, struct what_if_answer *answer, struct error *err);
