// What two futures differ in, and one sentence on it. Internal; quota_change.h is the face.
#pragma once
#include "scheduler/ask/quota_change.h"
struct quota_future;

void quota_answer_make(const struct quota_future *without, const struct quota_future *with, struct arena *arena,
                       struct quota_answer *out_answer);
