#include "backends/kubernetes/objects/kube_amounts.h"

#include "backends/kubernetes/objects/kube_quantity.h"
#include "base/arena.h"
#include "base/quantity.h"

#include <string.h>

static struct kube_amount *find_other(const struct kube_amounts *amounts, const char *name)
{
    for (size_t i = 0; i < amounts->other_count; i++)
        if (strcmp(amounts->others[i].name, name) == 0)
            return &amounts->others[i];
    return NULL;
}

// The place of a resource that has a field of its own; NULL: it has none.
static int64_t *find_field(struct kube_amounts *amounts, const char *name)
{
    if (strcmp(name, "cpu") == 0)
        return &amounts->cpu_milli;
    if (strcmp(name, "memory") == 0)
        return &amounts->memory_bytes;
    if (strcmp(name, "ephemeral-storage") == 0)
        return &amounts->ephemeral_bytes;
    return strcmp(name, "pods") == 0 ? &amounts->pods : NULL;
}

static int64_t believed(int64_t amount)
{
    return quantity_within(amount, QUANTITY_AMOUNT_MAX);
}

static int64_t read_field(const struct kube_amounts *amounts, const int64_t *field, const json_t *value)
{
    if (field == &amounts->cpu_milli)
        return quantity_within(kube_quantity_milli_of(value), QUANTITY_CPU_MILLI_MAX);
    int64_t units = kube_quantity_units_of(value);
    return field == &amounts->pods ? quantity_within(units, QUANTITY_PODS_MAX) : believed(units);
}

void kube_amounts_read(const json_t *object, struct arena *arena, struct kube_amounts *out)
{
    *out = (struct kube_amounts){0};
    size_t count = json_object_size(object);
    if (count == 0)
        return;
    out->others = arena_array(arena, count, sizeof(*out->others));
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)object, name, value) {
        int64_t *field = find_field(out, name);
        if (field)
            *field = read_field(out, field, value);
        else
            out->others[out->other_count++] = (struct kube_amount){.name = arena_strdup(arena, name),
                                                                   .units = believed(kube_quantity_units_of(value))};
    }
}

static int64_t greater(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t add(int64_t a, int64_t b)
{
    return believed(quantity_add(a, b));
}

static void merge(struct kube_amounts *a, const struct kube_amounts *b, struct arena *arena,
                  int64_t (*of_both)(int64_t, int64_t))
{
    a->cpu_milli = of_both(a->cpu_milli, b->cpu_milli);
    a->memory_bytes = of_both(a->memory_bytes, b->memory_bytes);
    a->ephemeral_bytes = of_both(a->ephemeral_bytes, b->ephemeral_bytes);
    a->pods = of_both(a->pods, b->pods);
    struct kube_amount *others = NULL;
    for (size_t i = 0; i < b->other_count; i++) {
        struct kube_amount *own = find_other(a, b->others[i].name);
        if (own) {
            own->units = of_both(own->units, b->others[i].units);
            continue;
        }
        if (!others) { // room for all that may be new
            others = arena_array(arena, a->other_count + b->other_count, sizeof(*others));
            if (a->other_count)
                memcpy(others, a->others, a->other_count * sizeof(*others));
            a->others = others;
        }
        a->others[a->other_count++] = b->others[i];
    }
}

void kube_amounts_add(struct kube_amounts *a, const struct kube_amounts *b, struct arena *arena)
{
    merge(a, b, arena, add);
}

void kube_amounts_raise(struct kube_amounts *a, const struct kube_amounts *b, struct arena *arena)
{
    merge(a, b, arena, greater);
}

int64_t kube_amounts_get(const struct kube_amounts *amounts, const char *name)
{
    struct kube_amounts copy = *amounts;
    const int64_t *field = find_field(&copy, name);
    const struct kube_amount *other = field ? NULL : find_other(amounts, name);
    return field ? *field : other ? other->units : 0;
}

bool kube_amounts_has(const struct kube_amounts *amounts, const char *name)
{
    struct kube_amounts copy = *amounts;
    const int64_t *field = find_field(&copy, name);
    return field ? *field != 0 : find_other(amounts, name) != NULL;
}
