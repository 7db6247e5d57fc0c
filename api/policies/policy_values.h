// Values under the rules of one field: amounts (whole numbers, numbers, quantities), texts and lists.
#pragma once
#include <jansson.h>
#include <stdbool.h>

struct arena;
struct schema;

// Absent, null, an empty text or an empty list.
bool policy_value_is_empty(const json_t *value);
// The same value; 1 and 1.0 are, 1Gi and 1024Mi where the field is a quantity, and members that are null are absent.
bool policy_value_equals(const struct schema *rule, const json_t *a, const json_t *b);
// A number, or a quantity in bytes where the rule's bounds are quantities. False where the value is neither.
bool policy_value_amount(const struct schema *rule, const json_t *value, long double *out_amount);
// Whether amount is a multiple of step above start; parts in a thousand million of a step are taken as none.
bool policy_value_is_on_step(long double amount, long double start, long double step);
// The value times factor, as the field has it: whole numbers are rounded, quantities become bytes as text. NULL where
// it is no amount or the product cannot be had. The caller's.
json_t *policy_value_times(const struct schema *rule, const json_t *value, double factor);
// As people read it: cut where it is long; the arena's.
const char *policy_value_shown(const json_t *value, struct arena *arena);
