// What a project or department says of people and budgets, by flags of `create` and `update`.
#pragma once
#include <jansson.h>
#include <stdbool.h>

struct cli;
struct error;

// Whether any of these flags is there.
bool unit_rules_are_set(const struct cli *cli);
// Puts them into the unit's schedulingRules; `none` takes one away.
int unit_rules_set(struct cli *cli, json_t *unit, struct error *err);
// A number of 0 or more.
bool unit_read_amount(const char *text, double *out_amount);
