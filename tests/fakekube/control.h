// /fakekube/...: what only tests ask.
#pragma once
#include "tests/fakekube/call.h"

// Takes and gives back the store's lock; answers.
void control_answer(struct call *call);
