#include "reconciler/outcome/gauges.h"

#include "base/arena.h"
#include "base/hash.h"
#include "db/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLOTS_MINIMUM = 256
};

struct gauge {
    const char *scope; // static, as metric is (or the gauge's own text)
    int64_t scope_id;
    int64_t node_pool_id;
    char metric[40];
    double value; // NAN: nobody measures it
    bool is_set;
    int64_t generation;
    struct gauge *next; // in its slot
};

void gauges_done(struct gauges *gauges)
{
    for (size_t i = 0; i < gauges->capacity; i++)
        for (struct gauge *gauge = gauges->slots[i], *next; gauge; gauge = next) {
            next = gauge->next;
            free(gauge);
        }
    free(gauges->slots);
    *gauges = (struct gauges){0};
}

void gauges_begin(struct gauges *gauges)
{
    gauges->generation++;
}

static size_t slot_of(const struct gauges *gauges, const struct series *series)
{
    uint64_t hash = hash_text(HASH_START, series->metric);
    hash = hash_bytes(hash, series->scope, 2);
    hash = hash_bytes(hash, &series->scope_id, sizeof(series->scope_id));
    hash = hash_bytes(hash, &series->node_pool_id, sizeof(series->node_pool_id));
    return (hash ^ hash >> 32) & (gauges->capacity - 1);
}

static struct series series_of(const struct gauge *gauge)
{
    return (struct series){gauge->scope, gauge->scope_id, gauge->node_pool_id, gauge->metric};
}

static void grow(struct gauges *gauges)
{
    struct gauges old = *gauges;
    gauges->capacity = old.capacity ? old.capacity * 2 : SLOTS_MINIMUM;
    gauges->slots = memory_array(gauges->capacity, sizeof(struct gauge *));
    for (size_t i = 0; i < old.capacity; i++)
        for (struct gauge *gauge = old.slots[i], *next; gauge; gauge = next) {
            next = gauge->next;
            struct series series = series_of(gauge);
            struct gauge **slot = &gauges->slots[slot_of(gauges, &series)];
            gauge->next = *slot;
            *slot = gauge;
        }
    free(old.slots);
}

static struct gauge *find(struct gauges *gauges, const struct series *series)
{
    if (gauges->count >= gauges->capacity)
        grow(gauges);
    struct gauge **slot = &gauges->slots[slot_of(gauges, series)];
    for (struct gauge *gauge = *slot; gauge; gauge = gauge->next)
        if (gauge->scope_id == series->scope_id && gauge->node_pool_id == series->node_pool_id &&
            strcmp(gauge->scope, series->scope) == 0 && strcmp(gauge->metric, series->metric) == 0)
            return gauge;
    struct gauge *gauge = memory_array(1, sizeof(*gauge));
    *gauge = (struct gauge){
        .scope = series->scope, .scope_id = series->scope_id, .node_pool_id = series->node_pool_id, .next = *slot};
    strncpy(gauge->metric, series->metric, sizeof(gauge->metric) - 1);
    *slot = gauge;
    gauges->count++;
    return gauge;
}

bool gauges_set(struct gauges *gauges, const struct series *series, double value)
{
    struct gauge *gauge = find(gauges, series);
    gauge->generation = gauges->generation;
    if (gauge->is_set && (fabs(gauge->value - value) < 1e-9 || (isnan(gauge->value) && isnan(value))))
        return false;
    gauge->value = value;
    gauge->is_set = true;
    return true;
}

void gauges_forget_unset(struct gauges *gauges, void (*gone)(void *context, const struct series *series), void *context)
{
    for (size_t i = 0; i < gauges->capacity; i++)
        for (struct gauge **link = &gauges->slots[i]; *link;) {
            struct gauge *gauge = *link;
            if (gauge->generation == gauges->generation) {
                link = &gauge->next;
                continue;
            }
            struct series series = series_of(gauge);
            if (gauge->value > 0)
                gone(context, &series);
            *link = gauge->next;
            free(gauge);
            gauges->count--;
        }
}
