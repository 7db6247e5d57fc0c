// The kinds of notifications that a person can choose, and what makes one: a phase that a workload enters, or an event
// with one of some reasons. docs/notifications.md has the same table for people.
#pragma once
#include "model/event_reason.h"

#include <stddef.h>
#include <stdint.h>

#define NOTIFICATION_CATEGORY_STATUS "Workload status change"
#define NOTIFICATION_CATEGORY_LIMITS "Workload limits"
#define NOTIFICATION_CATEGORY_PREEMPTION "Preemption"
#define NOTIFICATION_CATEGORY_QUOTA "Quota"
#define NOTIFICATION_TYPE_OVER_QUOTA "Over-quota digest"

enum {
    NOTIFICATION_REASONS_MAX = 4
};

struct notification_type {
    const char *category, *type, *description;
    const char *phase;                                   // NULL: no phase makes it
    enum event_reason reasons[NOTIFICATION_REASONS_MAX]; // of events
    size_t reason_count;
};

extern const struct notification_type NOTIFICATION_TYPES[];
extern const size_t NOTIFICATION_TYPE_COUNT; // at most 64: a set of them is a uint64_t, a bit each

// The bit of a type; 0 where there is no such one.
uint64_t notification_type_bit(const char *category, const char *type);
// What a phase, or an event's reason, makes; NULL: nothing.
const struct notification_type *notification_type_of_phase(const char *phase);
const struct notification_type *notification_type_of_reason(const char *reason);
// The bit of a row of the table.
uint64_t notification_type_mask(const struct notification_type *type);
