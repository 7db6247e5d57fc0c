// Every command, family by family, and the flags that families share.
#include "cli/commands/command_tables.h"

#include <stddef.h>

const struct flag GLOBAL_FLAGS[] = {
    {"help", NULL, 'h', FLAG_SWITCH, "", "show how to use a command"},
    {"config-file", NULL, 0, FLAG_TEXT, "NAME", "the configuration's file name (default config.json)"},
    {"config-path", NULL, 0, FLAG_TEXT, "DIR", "its folder (default ~/.runai)"},
    {"debug", NULL, 'd', FLAG_SWITCH, "", "accepted; no effect"},
    {"server", NULL, 0, FLAG_TEXT, "URL", "this server, with the saved login; not this machine's socket"},
    {"quiet", NULL, 'q', FLAG_SWITCH, "", "errors only"},
    {"verbose", NULL, 0, FLAG_SWITCH, "", "accepted; no effect"},
    {0},
};

const struct flag PROJECT_FLAGS[] = {
    {"project", NULL, 'p', FLAG_TEXT, "NAME", "the project; else the default one"},
    {0},
};

const struct flag LIST_FLAGS[] = {
    {"all", "all-projects", 'A', FLAG_SWITCH, "", "of all projects"},
    {"json", NULL, 0, FLAG_SWITCH, "", "as JSON"},
    {"yaml", NULL, 0, FLAG_SWITCH, "", "as YAML"},
    {"table", NULL, 0, FLAG_SWITCH, "", "as a table (the default)"},
    {"output", NULL, 'o', FLAG_TEXT, "FORM", "table, wide (every column), json, yaml, or name (names alone)"},
    {"no-headers", NULL, 0, FLAG_SWITCH, "", "without the titles"},
    {"columns", NULL, 0, FLAG_TEXT, "A,B", "only these columns, in this order"},
    {"set-default-columns", NULL, 0, FLAG_SWITCH, "",
     "--columns from now on, for this command; without --columns: as before"},
    {"watch", NULL, 'w', FLAG_SWITCH, "",
     "go on: redrawn at a terminal, else printed again whenever more than an age changed"},
    {"raw", NULL, 0, FLAG_SWITCH, "", "as the API answers: JSON with the list under its name"},
    {"max-items", NULL, 0, FLAG_TEXT, "N", "at most N"},
    {"page-size", "limit", 0, FLAG_TEXT, "N", "entries per request (all pages are fetched)"},
    {"next-token", "offset", 0, FLAG_TEXT, "N", "without the first N"},
    {"no-pagination", NULL, 0, FLAG_SWITCH, "", "all of them (the default); JSON is an object then"},
    {"details", NULL, 'v', FLAG_SWITCH, "", "accepted; nothing more to show"},
    {0},
};

const struct flag WHICH_FLAGS[] = {
    {"status", NULL, 0, FLAG_TEXT, "PHASE", "only workloads in this phase"},
    {"type", NULL, 0, FLAG_TEXT, "TYPE", "only workloads of this type"},
    {"framework", NULL, 0, FLAG_TEXT, "NAME", "only distributed workloads of PyTorch, MPI, TF, XGBoost or JAX"},
    {"deleted", NULL, 0, FLAG_SWITCH, "", "deleted workloads"},
    {0},
};

#define UUID_FLAG                                                     \
    {                                                                 \
        "uuid", NULL, 0, FLAG_TEXT, "UUID", "the workload of this id" \
    }

const struct flag DESCRIBE_FLAGS[] = {
    UUID_FLAG,
    {"output", NULL, 'o', FLAG_TEXT, "FORM", "table, json or yaml"},
    {"json", NULL, 0, FLAG_SWITCH, "", "as JSON"},
    {"yaml", NULL, 0, FLAG_SWITCH, "", "as YAML"},
    {"show-events", "events", 'e', FLAG_SWITCH, "", "with the events (the default)"},
    {"general", NULL, 0, FLAG_SWITCH, "", "with the general part (the default)"},
    {"compute", NULL, 0, FLAG_SWITCH, "", "with the compute resources (the default)"},
    {"pods", NULL, 0, FLAG_SWITCH, "", "with the pods (the default)"},
    {"networks", NULL, 0, FLAG_SWITCH, "", "with the addresses (the default)"},
    {"storage", NULL, 0, FLAG_SWITCH, "", "with what it mounts (the default)"},
    {"containers", NULL, 0, FLAG_SWITCH, "", "with the container of its pods"},
    {"sortEvents", "sort-events", 0, FLAG_TEXT, "ORDER", "asc (the default) or desc"},
    {"event-limit", NULL, 0, FLAG_TEXT, "N", "at most N events; -1 for all (default 50)"},
    {"pod-limit", NULL, 0, FLAG_TEXT, "N", "at most N pods; -1 for all (default 10)"},
    {"framework", NULL, 0, FLAG_TEXT, "NAME", "accepted; the name is enough"},
    {"type", NULL, 0, FLAG_TEXT, "TYPE", "accepted; the name is enough"},
    {0},
};

const struct flag UUID_FLAGS[] = {UUID_FLAG, {0}};

const struct flag LOG_FLAGS[] = {
    UUID_FLAG,
    {"follow", NULL, 'f', FLAG_SWITCH, "", "follow until the workload is over; with --pod until that ends"},
    {"tail", NULL, 't', FLAG_TEXT, "N", "only the last lines; -1 for all"},
    {"since", NULL, 0, FLAG_TEXT, "TIME", "not older than: 5m"},
    {"since-time", NULL, 0, FLAG_TEXT, "TIME", "not older than: 2026-01-01T00:00:00Z"},
    {"timestamps", NULL, 0, FLAG_SWITCH, "", "each line with its time"},
    {"limit-bytes", NULL, 0, FLAG_TEXT, "N", "at most N bytes"},
    {"previous", NULL, 0, FLAG_SWITCH, "", "of the run before"},
    {"pod", NULL, 0, FLAG_TEXT, "NAME", "of this pod; else the newest"},
    {"container", NULL, 'c', FLAG_TEXT, "NAME", "of this container"},
    {"wait-timeout", NULL, 0, FLAG_TEXT, "TIME", "accepted; the answer does not wait"},
    {0},
};

const struct flag DELETE_FLAGS[] = {
    UUID_FLAG,
    {"yes", NULL, 'y', FLAG_SWITCH, "", "do not ask"},
    {"all", "all-projects", 'A', FLAG_SWITCH, "", "all workloads of the project"},
    {0},
};

const struct flag FORM_FLAGS[] = {
    {"pool", "nodepool", 0, FLAG_TEXT, "NAME", "the node pool"},
    {"json", NULL, 0, FLAG_SWITCH, "", "as JSON"},
    {"yaml", NULL, 0, FLAG_SWITCH, "", "as YAML"},
    {"no-headers", NULL, 0, FLAG_SWITCH, "", "without the titles"},
    {"columns", NULL, 0, FLAG_TEXT, "A,B", "only these columns, in this order"},
    {"max-items", NULL, 0, FLAG_TEXT, "N", "at most N"},
    {"page-size", "limit", 0, FLAG_TEXT, "N", "entries per request (all pages are fetched)"},
    {0},
};

const struct flag NODE_FLAGS[] = {
    {"show-labels", NULL, 0, FLAG_SWITCH, "", "with the nodes' labels"},
    {0},
};

static const struct command *const FAMILIES[] = {PEOPLE_COMMANDS, CLUSTER_COMMANDS, ASSETS_COMMANDS, WORKLOADS_COMMANDS,
                                                 OLD_COMMANDS};

const struct command *command_next(struct command_walk *walk)
{
    while (walk->family < sizeof(FAMILIES) / sizeof(FAMILIES[0])) {
        const struct command *command = &FAMILIES[walk->family][walk->row++];
        if (command->words)
            return command;
        walk->family++;
        walk->row = 0;
    }
    return NULL;
}
