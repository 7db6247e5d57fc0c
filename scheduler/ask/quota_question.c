#include "scheduler/ask/quota_change.h"

#include "base/arena.h"
#include "scheduler/ask/quota_answer.h"
#include "scheduler/ask/quota_future.h"

#include <stdlib.h>

struct quota_question {
    struct quota_future without, with;
};

const char *quota_outcome_name(enum quota_outcome outcome)
{
    static const char *const NAMES[QUOTA_OUTCOME_COUNT] = {"Starts", "Keeps", "GivesWay", "StaysPending", "Restarts"};
    return NAMES[outcome];
}

void quota_question_open(const struct snapshot *without, const struct snapshot *with, const struct plan *plan,
                         struct quota_question **out)
{
    struct quota_question *question = memory_array(1, sizeof(*question));
    quota_future_init(&question->without, without);
    quota_future_init(&question->with, with);
    if (plan)
        quota_future_look(&question->without, plan);
    *out = question;
}

void quota_question_close(struct quota_question *question)
{
    if (!question)
        return;
    quota_future_done(&question->without);
    quota_future_done(&question->with);
    free(question);
}

static bool is_over(const struct quota_future *future)
{
    return future->is_at_rest || future->cycles >= QUOTA_CYCLES_MAXIMUM;
}

int quota_question_step(struct quota_question *question, bool *out_is_over, struct error *err)
{
    if (!is_over(&question->without) && quota_future_step(&question->without, err) < 0)
        return -1;
    if (!is_over(&question->with) && quota_future_step(&question->with, err) < 0)
        return -1;
    *out_is_over = is_over(&question->without) && is_over(&question->with);
    return 0;
}

void quota_question_answer(const struct quota_question *question, struct arena *arena, struct quota_answer *out_answer)
{
    quota_answer_make(&question->without, &question->with, arena, out_answer);
}
