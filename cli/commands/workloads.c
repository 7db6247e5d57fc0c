// Commands for workloads.
#include "cli/command.h"
#include "cli/commands/command_tables.h"
#include "cli/kinds.h"

static const struct flag FILE_FLAGS[] = {
    {"file", NULL, 'f', FLAG_TEXT, "FILE", "a creation's body as YAML or JSON, with type and project; or a script"},
    {"watch", NULL, 0, FLAG_SWITCH, "", "wait, with the reason, until it runs; exit status 1: it failed"},
    {"dry-run", NULL, 0, FLAG_SWITCH, "", "print what would be sent, and send nothing"},
    {"what-if", NULL, 0, FLAG_SWITCH, "", "say what would happen, and submit nothing"},
    {0},
};

static const struct flag EXEC_FLAGS[] = {
    {"pod", NULL, 0, FLAG_TEXT, "NAME", "in this pod; else the newest"},
    {"container", NULL, 'c', FLAG_TEXT, "NAME", "accepted; a pod has one"},
    {"stdin", NULL, 'i', FLAG_SWITCH, "", "pass the input on"},
    {"tty", NULL, 't', FLAG_SWITCH, "", "with a terminal"},
    {"wait-timeout", NULL, 0, FLAG_TEXT, "TIME", "accepted; the pod must run"},
    {0},
};

static const struct flag FORWARD_FLAGS[] = {
    {"pod", NULL, 0, FLAG_TEXT, "NAME", "to this pod; else the newest"},
    {"port", NULL, 0, FLAG_LIST, "LOCAL:REMOTE",
     "from this port here to that one of the pod; LOCAL 0 takes a free one"},
    {"address", NULL, 0, FLAG_TEXT, "ADDRESS", "listen at this address of this machine; else 127.0.0.1"},
    {"pod-running-timeout", NULL, 0, FLAG_TEXT, "TIME", "accepted; the pod must run"},
    {0},
};

static const struct flag OPEN_FLAGS[] = {
    {"port", NULL, 0, FLAG_TEXT, "N", "this one of its exposed URLs; else the first"},
    {"print", NULL, 0, FLAG_SWITCH, "", "print the address, and open no browser"},
    {0},
};

static const struct flag RUN_FLAGS[] = {
    {"env-from-shell", NULL, 0, FLAG_SWITCH, "", "with this shell's variables, but for the session's own and secrets"},
    {"conda", NULL, 0, FLAG_TEXT, "NAME", "in this conda environment"},
    {"venv", NULL, 0, FLAG_TEXT, "DIR", "in this virtual environment of Python"},
    {0},
};

static const struct flag EXPLAIN_FLAGS[] = {
    {"at", NULL, 0, FLAG_TEXT, "TIME", "at this time, as the journal has it: 2026-01-01T00:00:00Z"},
    {0},
};

static const struct flag RECEIPT_FLAGS[] = {
    {"workload", NULL, 0, FLAG_TEXT, "NAME", "only of this workload"},
    {"since", NULL, 0, FLAG_TEXT, "TIME", "not older than: 2026-01-01T00:00:00Z"},
    {0},
};

TABLES(WITH_TYPES, LIST_FLAGS);
TABLES(WITH_LIST, PROJECT_FLAGS, LIST_FLAGS, WHICH_FLAGS);
TABLES(WITH_FILE, PROJECT_FLAGS, FILE_FLAGS, FORM_FLAGS);
TABLES(WITH_DESCRIBE, PROJECT_FLAGS, DESCRIBE_FLAGS);
TABLES(WITH_EXPLAIN, PROJECT_FLAGS, DESCRIBE_FLAGS, EXPLAIN_FLAGS);
TABLES(WITH_LOGS, PROJECT_FLAGS, LOG_FLAGS);
TABLES(WITH_EXEC, PROJECT_FLAGS, UUID_FLAGS, EXEC_FLAGS);
TABLES(WITH_FORWARD, PROJECT_FLAGS, UUID_FLAGS, FORWARD_FLAGS);
TABLES(WITH_OPEN, PROJECT_FLAGS, UUID_FLAGS, OPEN_FLAGS);
TABLES(WITH_DELETE, PROJECT_FLAGS, DELETE_FLAGS);
TABLES(WITH_SUBMIT, PROJECT_FLAGS, SUBMIT_FLAGS);
TABLES(WITH_RUN, PROJECT_FLAGS, RUN_FLAGS, SUBMIT_FLAGS);
TABLES(WITH_SSH, PROJECT_FLAGS);
TABLES(WITH_RECEIPTS, PROJECT_FLAGS, FORM_FLAGS, RECEIPT_FLAGS);

#define ENTER(words_, kind_)                                                                            \
    {words_ "bash",    run_workload_bash,         NEEDS_SERVER, &kind_, WITH_EXEC, false,               \
     "NAME [--pod P]", "a shell in a running pod"},                                                     \
        {words_ "exec",                                                                                 \
         run_workload_exec,                                                                             \
         NEEDS_SERVER,                                                                                  \
         &kind_,                                                                                        \
         WITH_EXEC,                                                                                     \
         false,                                                                                         \
         "NAME [--pod P] -- COMMAND...",                                                                \
         "a command in a running pod"},                                                                 \
        {words_ "port-forward",                                                                         \
         run_workload_port_forward,                                                                     \
         NEEDS_SERVER,                                                                                  \
         &kind_,                                                                                        \
         WITH_FORWARD,                                                                                  \
         false,                                                                                         \
         "NAME [LOCAL:]REMOTE... [--pod P]",                                                            \
         "reach ports of a running pod from here"},                                                     \
        {words_ "open",                                                                                 \
         run_workload_open,                                                                             \
         NEEDS_SERVER,                                                                                  \
         &kind_,                                                                                        \
         WITH_OPEN,                                                                                     \
         false,                                                                                         \
         "NAME [--port N] [--print]",                                                                   \
         "an exposed URL of it, in the browser"},                                                       \
    {                                                                                                   \
        words_ "attach", run_workload_attach, NEEDS_SERVER, &kind_, WITH_EXEC, false, "NAME [--pod P]", \
            "its output, from now on"                                                                   \
    }

#define LIFE(words_, kind_)                                                                                           \
    {words_ " submit",                                                                                                \
     run_submit,                                                                                                      \
     NEEDS_SERVER,                                                                                                    \
     &kind_,                                                                                                          \
     WITH_SUBMIT,                                                                                                     \
     false,                                                                                                           \
     "[NAME] -i IMAGE [FLAGS] [-- ARGS]",                                                                             \
     "submit one; --watch waits until it runs"},                                                                      \
        {words_ " list", run_workload_list, NEEDS_SERVER, &kind_, WITH_LIST, false, "", "list them"},                 \
        {words_ " describe", run_workload_describe, NEEDS_SERVER, &kind_, WITH_DESCRIBE, false, "NAME", "show one"},  \
        {words_ " explain", run_explain, NEEDS_SERVER, &kind_, WITH_EXPLAIN, false, "NAME", "why it waits"},          \
        {words_ " logs", run_workload_logs, NEEDS_SERVER, &kind_, WITH_LOGS, false, "NAME", "its output"},            \
        {words_ " suspend", run_workload_suspend, NEEDS_SERVER, &kind_, WITH_DELETE, false, "NAME...", "stop one"},   \
        {words_ " resume", run_workload_resume, NEEDS_SERVER, &kind_, WITH_DELETE, false, "NAME...", "run it again"}, \
    {                                                                                                                 \
        words_ " delete", run_workload_delete, NEEDS_SERVER, &kind_, WITH_DELETE, false, "NAME...",                   \
            "delete one; asks first, and needs --yes without a terminal"                                              \
    }

const struct command WORKLOADS_COMMANDS[] = {
    {"workload-type list", run_workload_type_list, NEEDS_SERVER, NULL, WITH_TYPES, false, "",
     "the types, with their category and priority"},
    {"workload list", run_workload_list, NEEDS_SERVER, &ANY, WITH_LIST, false, "", "workloads of every kind"},
    {"workload submit", run_submit_file, NEEDS_SERVER, &ANY, WITH_FILE, false, "[NAME] -f FILE", "submit a file"},
    {"workload describe", run_workload_describe, NEEDS_SERVER, &ANY, WITH_DESCRIBE, false, "NAME", "show one"},
    {"workload explain", run_explain, NEEDS_SERVER, &ANY, WITH_EXPLAIN, false, "NAME",
     "why it waits, and what would start it"},
    {"workload logs", run_workload_logs, NEEDS_SERVER, &ANY, WITH_LOGS, false, "NAME", "its output"},
    {"workload delete", run_workload_delete, NEEDS_SERVER, &ANY, WITH_DELETE, false, "NAME...",
     "delete one; asks first, and needs --yes without a terminal"},
    {"workload suspend", run_workload_suspend, NEEDS_SERVER, &ANY, WITH_DELETE, false, "NAME...", "stop one"},
    {"workload resume", run_workload_resume, NEEDS_SERVER, &ANY, WITH_DELETE, false, "NAME...", "run it again"},
    ENTER("workload ", ANY),
    {"run", run_run, NEEDS_SERVER, &TRAINING, WITH_RUN, false, "[FLAGS] -- COMMAND...",
     "a training in the foreground: its output, and its exit status"},
    {"batch", run_batch, NEEDS_SERVER, &TRAINING, WITH_RUN, false, "SCRIPT [ARGUMENT]... [FLAGS]",
     "a training that runs a script, as its #SBATCH lines say"},
    {"ssh", run_ssh, NEEDS_SERVER, &ANY, WITH_SSH, false, "NAME [-- COMMAND...]", "ssh into a running pod"},
    {"ssh-config", run_ssh_config, NEEDS_SERVER, &ANY, WITH_SSH, false, "",
     "the entry for ~/.ssh/config: ssh, scp, sftp, rsync and editors to NAME.prorata"},
    {"ssh-proxy", run_ssh_proxy, NEEDS_SERVER, &ANY, WITH_SSH, false, "NAME.prorata",
     "what the entry of ssh-config calls"},
    ENTER("", ANY),
    {"explain", run_explain, NEEDS_SERVER, &ANY, WITH_EXPLAIN, false, "NAME",
     "why a workload waits, and what would start it"},
    {"receipts", run_receipts, NEEDS_SERVER, &ANY, WITH_RECEIPTS, false, "[-p PROJECT] [--workload NAME] [--pool NAME]",
     "what gave way, for whom, and what it cost"},
    LIFE("training pytorch", PYTORCH),
    ENTER("training pytorch ", PYTORCH),
    LIFE("training mpi", MPI),
    ENTER("training mpi ", MPI),
    LIFE("training tensorflow", TENSORFLOW),
    ENTER("training tensorflow ", TENSORFLOW),
    LIFE("training xgboost", XGBOOST),
    ENTER("training xgboost ", XGBOOST),
    LIFE("training jax", JAX),
    ENTER("training jax ", JAX),
    LIFE("training standard", TRAINING),
    ENTER("training standard ", TRAINING),
    LIFE("training", TRAINING),
    ENTER("training ", TRAINING),
    LIFE("workspace", WORKSPACE),
    ENTER("workspace ", WORKSPACE),
    LIFE("inference", INFERENCE),
    ENTER("inference ", INFERENCE),
    LIFE("inference standard", INFERENCE),
    ENTER("inference standard ", INFERENCE),
    {"inference update", run_inference_update, NEEDS_SERVER, &INFERENCE, WITH_SUBMIT, false, "NAME [FLAGS] [-- ARGS]",
     "change what is given; replicas follow one by one"},
    LIFE("distributed", DISTRIBUTED),
    ENTER("distributed ", DISTRIBUTED),
    LIFE("pytorch", PYTORCH),
    ENTER("pytorch ", PYTORCH),
    LIFE("mpi", MPI),
    ENTER("mpi ", MPI),
    LIFE("tensorflow", TENSORFLOW),
    ENTER("tensorflow ", TENSORFLOW),
    LIFE("xgboost", XGBOOST),
    ENTER("xgboost ", XGBOOST),
    LIFE("jax", JAX),
    ENTER("jax ", JAX),
    {0},
};
