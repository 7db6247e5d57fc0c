#include "model/event_reason.h"

static const char *const TEXTS[] = {
#define EVENT_REASON_TEXT(constant, word, meaning) [constant] = word,
    EVENT_REASONS(EVENT_REASON_TEXT)
#undef EVENT_REASON_TEXT
};

const char *event_reason_text(enum event_reason reason)
{
    return TEXTS[reason];
}
