#include "cli/organisation/unit_rules.h"

#include "base/error.h"
#include "cli/command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The flag, the scheduling rule that it sets, and the words that it may be; no words: a number.
static const struct unit_rule {
    const char *flag, *rule, *words[4];
} RULES[] = {
    {"max-gpus-per-person", "maxGpusPerPerson", {0}},
    {"max-workloads-per-person", "maxWorkloadsPerPerson", {0}},
    {"max-waiting-gpus-per-person", "maxWaitingGpusPerPerson", {0}},
    {"fair-among-people", "fairAmongPeople", {"on", "off"}},
    {"gpu-hours", "gpuHourBudget", {0}},
    {"gpu-hours-per-person", "gpuHourBudgetPerPerson", {0}},
    {"budget-period", "budgetPeriod", {"week", "month", "quarter"}},
    {"budget-enforcement", "budgetEnforcement", {"wait", "refuse"}},
};
enum {
    RULE_COUNT = sizeof(RULES) / sizeof(RULES[0])
};

bool unit_read_amount(const char *text, double *out_amount)
{
    char *end;
    *out_amount = strtod(text, &end);
    return end != text && !*end && isfinite(*out_amount) && *out_amount >= 0;
}

bool unit_rules_are_set(const struct cli *cli)
{
    for (size_t i = 0; i < RULE_COUNT; i++)
        if (flag_is_set(&cli->arguments, RULES[i].flag))
            return true;
    return false;
}

static json_t *number_of(const char *text)
{
    double most;
    if (!unit_read_amount(text, &most))
        return NULL;
    return most == floor(most) && most < 1e9 ? json_integer((json_int_t)most) : json_real(most);
}

static json_t *word_of(const struct unit_rule *rule, const char *text)
{
    bool is_switch = strcmp(rule->words[0], "on") == 0;
    for (size_t i = 0; rule->words[i]; i++)
        if (strcmp(rule->words[i], text) == 0)
            return is_switch ? json_boolean(i == 0) : json_string(text);
    return NULL;
}

// "on, off"
static const char *list_words(struct cli *cli, const struct unit_rule *rule)
{
    const char *list = rule->words[0];
    for (size_t i = 1; rule->words[i]; i++)
        list = arena_printf(&cli->arena, "%s, %s", list, rule->words[i]);
    return list;
}

static int set_rule(struct cli *cli, const struct unit_rule *rule, json_t *rules, struct error *err)
{
    const char *text = flag_text(&cli->arguments, rule->flag);
    if (!text)
        return 0;
    if (strcmp(text, "none") == 0)
        return json_object_del(rules, rule->rule), 0;
    json_t *value = rule->words[0] ? word_of(rule, text) : number_of(text);
    if (value)
        return json_object_set_new(rules, rule->rule, value);
    if (rule->words[0])
        return error_set(err, ERROR_INVALID, "--%s: %s is neither %s nor none", rule->flag, text,
                         list_words(cli, rule));
    return error_set(err, ERROR_INVALID, "--%s: %s is neither a number nor none", rule->flag, text);
}

int unit_rules_set(struct cli *cli, json_t *unit, struct error *err)
{
    json_t *rules = json_object_get(unit, "schedulingRules");
    if (!unit_rules_are_set(cli))
        return 0;
    if (!json_is_object(rules)) {
        rules = json_object();
        json_object_set_new(unit, "schedulingRules", rules);
    }
    for (size_t i = 0; i < RULE_COUNT; i++)
        if (set_rule(cli, &RULES[i], rules, err) < 0)
            return -1;
    return 0;
}
