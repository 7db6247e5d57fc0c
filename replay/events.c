#include "replay/events.h"

#include "base/arena.h"

#include <stdbool.h>
#include <stdlib.h>

static bool is_before(const struct event *a, const struct event *b)
{
    if (a->time_ms != b->time_ms)
        return a->time_ms < b->time_ms;
    return a->job != b->job ? a->job < b->job : a->start < b->start;
}

void events_done(struct events *events)
{
    free(events->items);
    *events = (struct events){0};
}

void events_add(struct events *events, struct event event)
{
    if (events->count == events->capacity) {
        events->capacity = events->capacity ? events->capacity * 2 : 1024;
        events->items = memory_realloc(events->items, events->capacity * sizeof(*events->items));
    }
    size_t at = events->count++;
    for (; at > 0 && is_before(&event, &events->items[(at - 1) / 2]); at = (at - 1) / 2)
        events->items[at] = events->items[(at - 1) / 2];
    events->items[at] = event;
}

int64_t events_next_ms(const struct events *events)
{
    return events->count ? events->items[0].time_ms : EVENTS_NEVER;
}

struct event events_take(struct events *events)
{
    struct event first = events->items[0], last = events->items[--events->count];
    size_t at = 0;
    for (size_t child = 1; child < events->count; child = 2 * at + 1) {
        if (child + 1 < events->count && is_before(&events->items[child + 1], &events->items[child]))
            child++;
        if (!is_before(&events->items[child], &last))
            break;
        events->items[at] = events->items[child];
        at = child;
    }
    events->items[at] = last;
    return first;
}
