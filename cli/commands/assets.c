// Commands for policies, templates and assets.
#include "cli/assets.h"
#include "cli/command.h"
#include "cli/commands/command_tables.h"

static const struct flag SCOPE_FLAGS[] = {
    {"project", NULL, 'p', FLAG_TEXT, "NAME", "of this project; of the tenant where no scope is named"},
    {"department", NULL, 0, FLAG_TEXT, "NAME", "of this department"},
    {"cluster", NULL, 0, FLAG_SWITCH, "", "of the cluster"},
    {0},
};

static const struct flag POLICY_FLAGS[] = {
    {"file", NULL, 'f', FLAG_TEXT, "FILE", "defaults and rules, as YAML or JSON"},
    {"name", NULL, 0, FLAG_TEXT, "NAME", "what the policy is called; else as its scope"},
    {"merge", NULL, 0, FLAG_SWITCH, "", "into what is set there; else the file replaces it"},
    {"validate-only", NULL, 0, FLAG_SWITCH, "", "check it and store nothing"},
    {0},
};

static const struct flag SYSTEM_FLAGS[] = {
    {"system", NULL, 0, FLAG_SWITCH, "", "and the system's policy, which lies beneath all"},
    {0},
};

static const struct flag CREATE_FLAGS[] = {
    {"file", NULL, 'f', FLAG_TEXT, "FILE",
     "the specification, or meta, spec and assets, as YAML or JSON; - is the input"},
    {"type", NULL, 't', FLAG_TEXT, "TYPE", "which kind, where there are several"},
    {"description", NULL, 0, FLAG_TEXT, "TEXT", "what it is for"},
    {0},
};

static const struct flag YES_FLAGS[] = {
    {"yes", NULL, 'y', FLAG_SWITCH, "", "do not ask"},
    {0},
};

TABLES(WITH_CREATE, SCOPE_FLAGS, CREATE_FLAGS);
TABLES(WITH_YES, PROJECT_FLAGS, YES_FLAGS);
TABLES(WITH_LIST, PROJECT_FLAGS, LIST_FLAGS);
TABLES(WITH_SCOPE, SCOPE_FLAGS, LIST_FLAGS);
TABLES(WITH_POLICY, SCOPE_FLAGS, POLICY_FLAGS);
TABLES(WITH_POLICIES, SYSTEM_FLAGS, LIST_FLAGS);

#define ASSET_COMMANDS(word_, kind_, create_, plural_)                                                                  \
    {word_ " list", run_asset_list, NEEDS_SERVER, &kind_, WITH_LIST, false, "[-p PROJECT]", plural_},                   \
        {word_ " create", run_asset_create, NEEDS_SERVER, &kind_, WITH_CREATE, false, create_, "make one from a file"}, \
        {word_ " delete",                                                                                               \
         run_asset_delete,                                                                                              \
         NEEDS_SERVER,                                                                                                  \
         &kind_,                                                                                                        \
         WITH_YES,                                                                                                      \
         false,                                                                                                         \
         "NAME [-p PROJECT]",                                                                                           \
         "delete one; asks first, and needs --yes without a terminal"},                                                 \
    {                                                                                                                   \
        word_ " describe", run_asset_describe, NEEDS_SERVER, &kind_, WITH_LIST, false, "NAME", "show one"               \
    }

const struct command ASSETS_COMMANDS[] = {
    {"policy list", run_policy_list, NEEDS_SERVER, NULL, WITH_POLICIES, false, "", "the policies that are set"},
    {"policy describe", run_policy_describe, NEEDS_SERVER, NULL, WITH_SCOPE, false, "TYPE [--project P]",
     "the policy that is set in a scope, as a file for apply"},
    {"policy effective", run_policy_effective, NEEDS_SERVER, NULL, WITH_SCOPE, false, "TYPE [--project P]",
     "what holds in a scope, and which scope says so"},
    {"policy apply", run_policy_apply, NEEDS_SERVER, NULL, WITH_POLICY, false, "TYPE -f FILE [--project P]",
     "set the policy of a scope"},
    {"policy delete", run_policy_delete, NEEDS_SERVER, NULL, WITH_SCOPE, false, "TYPE [--project P]",
     "remove the policy of a scope"},
    ASSET_COMMANDS("template", ASSET_TEMPLATE, "NAME --type training -f FILE [--project P]", "templates"),
    ASSET_COMMANDS("compute", ASSET_COMPUTE, "NAME -f FILE [--project P]", "compute resources"),
    ASSET_COMMANDS("environment", ASSET_ENVIRONMENT, "NAME -f FILE [--project P]", "environments"),
    ASSET_COMMANDS("datasource", ASSET_DATA_SOURCE, "NAME --type nfs -f FILE [--project P]", "data sources"),
    {"pvc list", run_asset_list, NEEDS_SERVER, &ASSET_PVC, WITH_LIST, false, "[-p PROJECT]",
     "the data sources that are volume claims"},
    {"pvc describe", run_asset_describe, NEEDS_SERVER, &ASSET_PVC, WITH_LIST, false, "NAME", "show one"},
    ASSET_COMMANDS("credential", ASSET_CREDENTIAL, "NAME --type password -f FILE|- [--project P]", "credentials"),
    {0},
};
