// The first generation's spellings.
#include "cli/assets.h"
#include "cli/command.h"
#include "cli/commands/command_tables.h"
#include "cli/kinds.h"

static const struct flag TOP_FLAGS[] = {
    {"details", NULL, 'd', FLAG_SWITCH, "", "memory of GPUs and what is used of each, too"},
    {0},
};

TABLES(WITH_LIST, PROJECT_FLAGS, LIST_FLAGS);
TABLES(WITH_JOBS, PROJECT_FLAGS, LIST_FLAGS, WHICH_FLAGS);
TABLES(WITH_NODES, PROJECT_FLAGS, LIST_FLAGS, NODE_FLAGS);
TABLES(WITH_TOP, PROJECT_FLAGS, LIST_FLAGS, TOP_FLAGS);
TABLES(WITH_DESCRIBE, PROJECT_FLAGS, DESCRIBE_FLAGS);
TABLES(WITH_LOGS, PROJECT_FLAGS, LOG_FLAGS);
TABLES(WITH_DELETE, PROJECT_FLAGS, DELETE_FLAGS);
TABLES(WITH_OLD_SUBMIT, PROJECT_FLAGS, OLD_SUBMIT_FLAGS);

const struct command OLD_COMMANDS[] = {
    {"submit-dist pytorch", run_submit, NEEDS_SERVER, &PYTORCH, WITH_OLD_SUBMIT, true,
     "NAME --workers N -i IMAGE [FLAGS]", "submit a distributed training with PyTorch"},
    {"submit-dist mpi", run_submit, NEEDS_SERVER, &MPI, WITH_OLD_SUBMIT, true, "NAME --workers N -i IMAGE [FLAGS]",
     "submit a distributed training with MPI"},
    {"submit-mpi", run_submit, NEEDS_SERVER, &MPI, WITH_OLD_SUBMIT, true, "NAME --processes N -i IMAGE [FLAGS]",
     "submit a distributed training"},
    {"submit", run_submit, NEEDS_SERVER, &TRAINING, WITH_OLD_SUBMIT, true, "NAME -i IMAGE [-g GPUS] [FLAGS] [-- ARGS]",
     "submit a training, or with --interactive a workspace"},
    {"list projects", run_project_list, NEEDS_SERVER, NULL, WITH_LIST, true, "", "projects and their quota"},
    {"top node", run_top_node, NEEDS_SERVER, NULL, WITH_TOP, true, "[-d]", "what nodes use"},
    {"top nodes", run_top_node, NEEDS_SERVER, NULL, WITH_TOP, true, "[-d]", "what nodes use"},
    {"top job", run_top_job, NEEDS_SERVER, NULL, WITH_LIST, true, "[-A]", "what running workloads use"},
    {"top jobs", run_top_job, NEEDS_SERVER, NULL, WITH_LIST, true, "[-A]", "what running workloads use"},
    {"list nodes", run_node_list, NEEDS_SERVER, NULL, WITH_NODES, true, "", "nodes"},
    {"list templates", run_asset_list, NEEDS_SERVER, &ASSET_TEMPLATE, WITH_LIST, true, "", "templates"},
    {"describe template", run_asset_describe, NEEDS_SERVER, &ASSET_TEMPLATE, WITH_LIST, true, "NAME", "show one"},
    {"list clusters", run_cluster_list, NEEDS_SERVER, NULL, WITH_LIST, true, "", "clusters"},
    {"list jobs", run_workload_list, NEEDS_SERVER, &ANY, WITH_JOBS, true, "[-A]", "workloads"},
    {"list job", run_workload_list, NEEDS_SERVER, &ANY, WITH_JOBS, true, "[-A]", "workloads"},
    {"list", run_workload_list, NEEDS_SERVER, &ANY, WITH_JOBS, false, "[-A]", "workloads (earlier spelling)"},
    {"describe project", run_describe_project, NEEDS_SERVER, NULL, WITH_DESCRIBE, true, "NAME", "a project's share"},
    {"describe node", run_node_describe, NEEDS_SERVER, NULL, WITH_DESCRIBE, true, "NAME", "a node"},
    {"describe job", run_workload_describe, NEEDS_SERVER, &ANY, WITH_DESCRIBE, true, "NAME", "a workload"},
    {"describe", run_workload_describe, NEEDS_SERVER, &ANY, WITH_DESCRIBE, true, "NAME [--show-events]", "a workload"},
    {"get resources", run_get_resources, NEEDS_SERVER, NULL, WITH_LIST, true, "--project NAME",
     "quota against allocation, by node pool"},
    {"get node-pools", run_nodepool_list, NEEDS_SERVER, NULL, WITH_LIST, true, "", "node pools"},
    {"get nodes", run_node_list, NEEDS_SERVER, NULL, WITH_NODES, true, "[--show-labels]", "nodes"},
    {"get", run_workload_describe, NEEDS_SERVER, &ANY, WITH_DESCRIBE, true, "NAME", "a workload"},
    {"cluster-info", run_cluster_info, NEEDS_SERVER, NULL, WITH_LIST, true, "", "nodes and GPUs, by node pool"},
    {"delete job", run_workload_delete, NEEDS_SERVER, &ANY, WITH_DELETE, true, "NAME...",
     "delete workloads; at a terminal it asks, unless --yes"},
    {"delete", run_workload_delete, NEEDS_SERVER, &ANY, WITH_DELETE, true, "NAME...",
     "delete workloads; at a terminal it asks, unless --yes"},
    {"suspend", run_workload_suspend, NEEDS_SERVER, &ANY, WITH_DELETE, true, "NAME...", "stop a workload"},
    {"resume", run_workload_resume, NEEDS_SERVER, &ANY, WITH_DELETE, true, "NAME...", "run it again"},
    {"logs", run_workload_logs, NEEDS_SERVER, &ANY, WITH_LOGS, true, "NAME", "its output"},
    {0},
};
