// Commands for projects, departments, nodes and what the scheduler makes of them.
#include "cli/command.h"
#include "cli/commands/command_tables.h"

static const struct flag QUOTA_FLAGS[] = {
    {"gpu-quota", NULL, 0, FLAG_TEXT, "N", "its quota of GPUs, in thousandths at the finest"},
    {"node-pool", NULL, 0, FLAG_TEXT, "POOL", "in this node pool (default: default)"},
    {"max-gpus-per-person", NULL, 0, FLAG_TEXT, "N", "each person's workloads hold at most N GPUs at once; none: any"},
    {"max-workloads-per-person", NULL, 0, FLAG_TEXT, "N", "each person has at most N workloads running; none: any"},
    {"max-waiting-gpus-per-person", NULL, 0, FLAG_TEXT, "N",
     "each person's work joins the queue for at most N GPUs; none: any"},
    {"fair-among-people", NULL, 0, FLAG_TEXT, "on|off",
     "inside one priority who has used least goes first; none: as its department says"},
    {"gpu-hours", NULL, 0, FLAG_TEXT, "N", "budget: it may use N GPU hours in each period; none: any"},
    {"gpu-hours-per-person", NULL, 0, FLAG_TEXT, "N", "budget: each person may use N GPU hours of it; none: any"},
    {"budget-period", NULL, 0, FLAG_TEXT, "week|month|quarter", "how often budgets begin again (default: month)"},
    {"budget-enforcement", NULL, 0, FLAG_TEXT, "wait|refuse",
     "once a budget is used up: work beyond the quota waits (default), or new work is refused, too"},
    {0},
};

static const struct flag RAISE_FLAGS[] = {
    {"raise-department", NULL, 0, FLAG_SWITCH, "",
     "raise its department's quota along, where its projects' add up to more"},
    {0},
};

static const struct flag WHAT_IF_FLAGS[] = {
    {"what-if", NULL, 0, FLAG_SWITCH, "", "say who would gain and who would give way, and change nothing"},
    {"json", NULL, 0, FLAG_SWITCH, "", "with --what-if: as JSON"},
    {"yaml", NULL, 0, FLAG_SWITCH, "", "with --what-if: as YAML"},
    {0},
};

static const struct flag UNIT_FLAGS[] = {
    {"description", NULL, 0, FLAG_TEXT, "TEXT", "what it is for"},
    {0},
};

static const struct flag PROJECTS_FLAGS[] = {
    {"with-projects", NULL, 0, FLAG_SWITCH, "", "with its projects and all their workloads"},
    {0},
};

static const struct flag DEPARTMENT_FLAGS[] = {
    {"department", NULL, 0, FLAG_TEXT, "NAME", "its department; else the default one"},
    {0},
};

static const struct flag ADOPT_FLAGS[] = {
    {"project", NULL, 'p', FLAG_TEXT, "NAME", "the project that gets it, if its own is gone"},
    {0},
};

static const struct flag LABEL_FLAGS[] = {
    {"overwrite", NULL, 0, FLAG_SWITCH, "", "accepted; an existing label always changes"},
    {0},
};

static const struct flag CORDON_FLAGS[] = {
    {"reason", NULL, 0, FLAG_TEXT, "TEXT", "why, for whoever waits for the node"},
    {0},
};

static const struct flag DRAIN_FLAGS[] = {
    {"force", NULL, 0, FLAG_SWITCH, "", "send away what may not be preempted too"},
    {0},
};

static const struct flag SHARE_FLAGS[] = {
    {"resource", NULL, 0, FLAG_TEXT, "NAME", "gpu (the default), cpu or memory"},
    {"terms", NULL, 0, FLAG_SWITCH, "", "with the terms of each share's sum"},
    {0},
};

static const struct flag IDLE_FLAGS[] = {
    {"for", NULL, 0, FLAG_TEXT, "SECONDS", "only GPUs that do nothing for so long (default: 300)"},
    {0},
};

static const struct flag TIMELINE_FLAGS[] = {
    {"by", NULL, 0, FLAG_TEXT, "WHAT", "nodes, pools, projects, or auto: pools where there are many nodes"},
    {"node", NULL, 0, FLAG_TEXT, "NAME", "only this node"},
    {"start", NULL, 0, FLAG_TEXT, "TIME", "not before: 2026-01-01T00:00:00Z (default: a day before the end)"},
    {"end", NULL, 0, FLAG_TEXT, "TIME", "not after (default: now)"},
    {"width", NULL, 0, FLAG_TEXT, "N", "merge what is shorter than this part of the time (default: 400)"},
    {0},
};

static const struct flag EVENT_FLAGS[] = {
    {"kind", NULL, 0, FLAG_TEXT, "KIND", "starts, evictions, failures, people, nodes or organisation"},
    {"type", NULL, 0, FLAG_TEXT, "TYPE", "Normal or Warning"},
    {"project", NULL, 'p', FLAG_TEXT, "NAME", "of this project and its workloads"},
    {"department", NULL, 0, FLAG_TEXT, "NAME", "of this department and its projects"},
    {"workload", NULL, 0, FLAG_TEXT, "NAME", "of this workload"},
    {"node", NULL, 0, FLAG_TEXT, "NAME", "of this node and of pods on it"},
    {"search", NULL, 0, FLAG_TEXT, "TEXT", "with this text in names, the reason or the message"},
    {"since", NULL, 0, FLAG_TEXT, "TIME", "not older than: 2h, or 2026-01-01T00:00:00Z"},
    {"until", NULL, 0, FLAG_TEXT, "TIME", "not newer than"},
    {0},
};

static const struct flag PEOPLE_FLAGS[] = {
    {"days", NULL, 0, FLAG_TEXT, "N", "hours of so many days (UTC), today included; 30"},
    {0},
};

TABLES(WITH_LIST, PROJECT_FLAGS, LIST_FLAGS);
TABLES(WITH_PEOPLE, FORM_FLAGS, PEOPLE_FLAGS);
TABLES(WITH_NODES, PROJECT_FLAGS, LIST_FLAGS, NODE_FLAGS);
TABLES(WITH_LABELS, LABEL_FLAGS);
TABLES(WITH_CORDON, CORDON_FLAGS);
TABLES(WITH_DRAIN, CORDON_FLAGS, DRAIN_FLAGS);
TABLES(WITH_ADOPT, ADOPT_FLAGS);
TABLES(WITH_QUOTA, QUOTA_FLAGS, WHAT_IF_FLAGS);
TABLES(WITH_PROJECT_QUOTA, QUOTA_FLAGS, RAISE_FLAGS, WHAT_IF_FLAGS);
TABLES(WITH_PROJECTS, PROJECTS_FLAGS);
TABLES(WITH_UNIT, QUOTA_FLAGS, UNIT_FLAGS);
TABLES(WITH_PROJECT, QUOTA_FLAGS, RAISE_FLAGS, UNIT_FLAGS, DEPARTMENT_FLAGS);
TABLES(WITH_DESCRIBE, PROJECT_FLAGS, DESCRIBE_FLAGS);
TABLES(WITH_SHARES, FORM_FLAGS, SHARE_FLAGS);
TABLES(WITH_QUEUE, FORM_FLAGS);
TABLES(WITH_IDLE, PROJECT_FLAGS, FORM_FLAGS, IDLE_FLAGS);
TABLES(WITH_TIMELINE, FORM_FLAGS, TIMELINE_FLAGS);
TABLES(WITH_EVENTS, EVENT_FLAGS, FORM_FLAGS);

const struct command CLUSTER_COMMANDS[] = {
    {"config cluster", run_cluster_set, NEEDS_SERVER, NULL, NULL, true, "NAME", "the cluster to use"},
    {"config project", run_project_set, NEEDS_SERVER, NULL, NULL, true, "NAME", "the default project"},
    {"project set", run_project_set, NEEDS_SERVER, NULL, NULL, false, "NAME", "the default project"},
    {"project list", run_project_list, NEEDS_SERVER, NULL, WITH_LIST, false, "", "projects, quota and use"},
    {"project create", run_project_create, NEEDS_SERVER, NULL, WITH_PROJECT, false,
     "NAME [--department D] [--gpu-quota N]", "make a project"},
    {"project update", run_project_update, NEEDS_SERVER, NULL, WITH_PROJECT_QUOTA, false,
     "NAME --gpu-quota N [--what-if]", "change its quota in a node pool, or what each person may have"},
    {"project delete", run_project_delete, NEEDS_SERVER, NULL, NULL, false, "NAME", "delete it and its workloads"},
    {"project people", run_project_people, NEEDS_SERVER, NULL, WITH_PEOPLE, false, "[NAME]",
     "who of it holds what, waits for what, and has used how much"},
    {"budget", run_budget, NEEDS_SERVER, NULL, WITH_QUEUE, false, "[PROJECT]",
     "what is used of a project's budgets of GPU hours, and when they will be used up"},
    {"department create", run_department_create, NEEDS_SERVER, NULL, WITH_UNIT, false, "NAME [--gpu-quota N]",
     "make a department"},
    {"department update", run_department_update, NEEDS_SERVER, NULL, WITH_QUOTA, false,
     "NAME --gpu-quota N [--what-if]", "change its quota in a node pool, or what each person may have"},
    {"department delete", run_department_delete, NEEDS_SERVER, NULL, WITH_PROJECTS, false, "NAME [--with-projects]",
     "delete it"},
    {"department list", run_department_list, NEEDS_SERVER, NULL, WITH_LIST, false, "", "departments, quota and use"},
    {"cluster list", run_cluster_list, NEEDS_SERVER, NULL, WITH_LIST, false, "", "clusters"},
    {"cluster status", run_cluster_status, NEEDS_SERVER, NULL, WITH_LIST, false, "",
     "whether each part of the server is well, and what it keeps on its disk"},
    {"cluster set", run_cluster_set, NEEDS_SERVER, NULL, NULL, false, "NAME", "the cluster to use"},
    {"cluster rename", run_cluster_rename, NEEDS_SERVER, NULL, NULL, false, "NAME NEW-NAME", "give it another name"},
    {"node list", run_node_list, NEEDS_SERVER, NULL, WITH_NODES, false, "[--show-labels]",
     "nodes and what is free on them"},
    {"node describe", run_node_describe, NEEDS_SERVER, NULL, WITH_DESCRIBE, false, "NAME",
     "a node: resources, labels, its GPUs and who holds them"},
    {"node label", run_node_label, NEEDS_SERVER, NULL, WITH_LABELS, false, "NAME KEY=VALUE... KEY-...",
     "set labels of a node, or with KEY- remove them; its node pool follows"},
    {"node cordon", run_node_cordon, NEEDS_SERVER, NULL, WITH_CORDON, false, "NAME --reason TEXT",
     "nothing new is placed there; what runs stays"},
    {"node drain", run_node_drain, NEEDS_SERVER, NULL, WITH_DRAIN, false, "NAME --reason TEXT [--force]",
     "cordon it, and send away what may be preempted"},
    {"node uncordon", run_node_uncordon, NEEDS_SERVER, NULL, NULL, false, "NAME", "take that back"},
    {"pods list", run_pods_list, NEEDS_SERVER, NULL, WITH_LIST, false, "", "running pods without a workload"},
    {"pods end", run_pods_end, NEEDS_SERVER, NULL, NULL, false, "NAME|ID", "end one of them"},
    {"pods adopt", run_pods_adopt, NEEDS_SERVER, NULL, WITH_ADOPT, false, "NAME|ID [-p PROJECT]",
     "make one of them, with all pods of its workload, a workload again"},
    {"nodepool list", run_nodepool_list, NEEDS_SERVER, NULL, WITH_LIST, false, "", "node pools"},
    {"top", run_top, NEEDS_SERVER, NULL, WITH_QUEUE, false, "",
     "GPUs: utilization, memory, who holds them, who else uses them; CPU and memory in use"},
    {"fairshare", run_fairshare, NEEDS_SERVER, NULL, WITH_SHARES, false, "[--pool NAME] [--terms]",
     "how a node pool is divided between departments and projects"},
    {"waiting", run_waiting, NEEDS_SERVER, NULL, WITH_QUEUE, false, "[--pool NAME]",
     "who waits for the same reason, and who holds it"},
    {"idle", run_idle, NEEDS_SERVER, NULL, WITH_IDLE, false, "[-p PROJECT] [--pool NAME] [--for SECONDS]",
     "who holds GPUs that do nothing, by idle GPU hours"},
    {"timeline", run_timeline, NEEDS_SERVER, NULL, WITH_TIMELINE, false,
     "[--by nodes|pools|projects] [--pool NAME] [--start TIME]",
     "who held which GPUs from when to when, and who gave way"},
    {"event list", run_event_list, NEEDS_SERVER, NULL, WITH_EVENTS, false, "[--kind KIND] [-p PROJECT] [--since TIME]",
     "what happened, newest first (default: the latest 50)"},
    {"queue", run_queue, NEEDS_SERVER, NULL, WITH_QUEUE, false, "[--pool NAME]",
     "who waits for a node pool, in the order in which the scheduler tries them"},
    {0},
};
