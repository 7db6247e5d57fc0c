// A command in a pod, with this process's input and output: over one stream from the server and calls to it.
#pragma once
#include "cli/command.h"

struct session_wish {
    const char *workload_uuid;
    const char *pod; // NULL: the newest
    json_t *command; // words
    bool has_terminal;
    bool has_input;
};

// Until the command ends; *out_status is how.
int session_run(struct cli *cli, const struct session_wish *wish, int *out_status, struct error *err);
