// Every command, its words and its flags.
#include "cli/assets.h"
#include "cli/command.h"
#include "cli/kinds.h"

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

static const struct flag PROJECT_FLAGS[] = {
    {"project", NULL, 'p', FLAG_TEXT, "NAME", "the project; else the default one"},
    {0},
};

static const struct flag FILE_FLAGS[] = {
    {"file", NULL, 'f', FLAG_TEXT, "FILE", "the body of a creation as YAML or JSON, with type and project"},
    {"dry-run", NULL, 0, FLAG_SWITCH, "", "print what would be sent, and send nothing"},
    {"what-if", NULL, 0, FLAG_SWITCH, "", "say what would happen, and submit nothing"},
    {0},
};

static const struct flag QUOTA_FLAGS[] = {
    {"gpu-quota", NULL, 0, FLAG_TEXT, "N", "its quota of GPUs, in thousandths at the finest"},
    {"node-pool", NULL, 0, FLAG_TEXT, "POOL", "in this node pool (default: default)"},
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

static const struct flag ROLE_FLAGS[] = {
    {"description", NULL, 0, FLAG_TEXT, "TEXT", "what it is for"},
    {"permission-set", NULL, 0, FLAG_LIST, "NAME", "what this set allows (repeat it)"},
    {"permission", NULL, 0, FLAG_LIST, "TYPE=ACTION,...", "and this: create, read, update, delete (repeat it)"},
    {0},
};

static const struct flag ROLE_CHANGE_FLAGS[] = {
    {"name", NULL, 0, FLAG_TEXT, "NAME", "its new name"},
    {"on", NULL, 0, FLAG_SWITCH, "", "its access rules give what it allows"},
    {"off", NULL, 0, FLAG_SWITCH, "", "its access rules give nothing"},
    {0},
};

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

static const struct flag RULE_FLAGS[] = {
    {"role", NULL, 0, FLAG_TEXT, "NAME", "the role"},
    {"user", NULL, 0, FLAG_LIST, "EMAIL", "a user (repeat it)"},
    {"service-account", NULL, 0, FLAG_LIST, "CLIENT-ID", "a service account (repeat it)"},
    {"group", NULL, 0, FLAG_LIST, "NAME", "a group of the identity provider (repeat it)"},
    {"project", NULL, 'p', FLAG_LIST, "NAME", "in this project (repeat it)"},
    {"department", NULL, 0, FLAG_LIST, "NAME", "in this department (repeat it)"},
    {"tenant", NULL, 0, FLAG_SWITCH, "", "everywhere"},
    {"expires", NULL, 0, FLAG_TEXT, "TIME", "it ends then, e.g. 2030-01-31T18:00:00Z"},
    {0},
};

static const struct flag ADOPT_FLAGS[] = {
    {"project", NULL, 'p', FLAG_TEXT, "NAME", "the project that gets it, if its own is gone"},
    {0},
};

const struct flag LIST_FLAGS[] = {
    {"all", "all-projects", 'A', FLAG_SWITCH, "", "of all projects"},
    {"json", NULL, 0, FLAG_SWITCH, "", "as JSON"},
    {"yaml", NULL, 0, FLAG_SWITCH, "", "as YAML"},
    {"table", NULL, 0, FLAG_SWITCH, "", "as a table (the default)"},
    {"no-headers", NULL, 0, FLAG_SWITCH, "", "without the titles"},
    {"columns", NULL, 0, FLAG_TEXT, "A,B", "only these columns, in this order"},
    {"status", NULL, 0, FLAG_TEXT, "PHASE", "only workloads in this phase"},
    {"type", NULL, 0, FLAG_TEXT, "TYPE", "only workloads of this type"},
    {"deleted", NULL, 0, FLAG_SWITCH, "", "deleted workloads"},
    {"max-items", NULL, 0, FLAG_TEXT, "N", "at most N"},
    {"page-size", "limit", 0, FLAG_TEXT, "N", "entries per request (all pages are fetched)"},
    {"details", NULL, 'v', FLAG_SWITCH, "", "accepted; nothing more to show"},
    {0},
};

const struct flag DESCRIBE_FLAGS[] = {
    {"output", NULL, 'o', FLAG_TEXT, "FORM", "table, json or yaml"},
    {"json", NULL, 0, FLAG_SWITCH, "", "as JSON"},
    {"yaml", NULL, 0, FLAG_SWITCH, "", "as YAML"},
    {"show-events", "events", 'e', FLAG_SWITCH, "", "with the events (the default)"},
    {"general", NULL, 0, FLAG_SWITCH, "", "with the general part (the default)"},
    {"compute", NULL, 0, FLAG_SWITCH, "", "with the compute resources (the default)"},
    {"pods", NULL, 0, FLAG_SWITCH, "", "with the pods (the default)"},
    {"networks", NULL, 0, FLAG_SWITCH, "", "with the addresses (the default)"},
    {"event-limit", NULL, 0, FLAG_TEXT, "N", "at most N events; -1 for all (default 50)"},
    {"pod-limit", NULL, 0, FLAG_TEXT, "N", "at most N pods; -1 for all (default 10)"},
    {"framework", NULL, 0, FLAG_TEXT, "NAME", "accepted; the name is enough"},
    {0},
};

const struct flag LOG_FLAGS[] = {
    {"follow", NULL, 'f', FLAG_SWITCH, "", "follow until the pod ends"},
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

static const struct flag EXEC_FLAGS[] = {
    {"pod", NULL, 0, FLAG_TEXT, "NAME", "in this pod; else the newest"},
    {"container", NULL, 'c', FLAG_TEXT, "NAME", "accepted; a pod has one"},
    {"stdin", NULL, 'i', FLAG_SWITCH, "", "pass the input on"},
    {"tty", NULL, 't', FLAG_SWITCH, "", "with a terminal"},
    {"wait-timeout", NULL, 0, FLAG_TEXT, "TIME", "accepted; the pod must run"},
    {0},
};

static const struct flag DELETE_FLAGS[] = {
    {"yes", NULL, 'y', FLAG_SWITCH, "", "do not ask"},
    {"all", "all-projects", 'A', FLAG_SWITCH, "", "all workloads of the project"},
    {0},
};

static const struct flag FORM_FLAGS[] = {
    {"pool", "nodepool", 0, FLAG_TEXT, "NAME", "the node pool"},
    {"json", NULL, 0, FLAG_SWITCH, "", "as JSON"},
    {"yaml", NULL, 0, FLAG_SWITCH, "", "as YAML"},
    {"no-headers", NULL, 0, FLAG_SWITCH, "", "without the titles"},
    {"columns", NULL, 0, FLAG_TEXT, "A,B", "only these columns, in this order"},
    {"max-items", NULL, 0, FLAG_TEXT, "N", "at most N"},
    {"page-size", "limit", 0, FLAG_TEXT, "N", "entries per request (all pages are fetched)"},
    {0},
};

static const struct flag NODE_FLAGS[] = {
    {"show-labels", NULL, 0, FLAG_SWITCH, "", "with the nodes' labels"},
    {0},
};

static const struct flag LABEL_FLAGS[] = {
    {"overwrite", NULL, 0, FLAG_SWITCH, "", "accepted; an existing label always changes"},
    {0},
};

static const struct flag SHARE_FLAGS[] = {
    {"resource", NULL, 0, FLAG_TEXT, "NAME", "gpu (the default), cpu or memory"},
    {"terms", NULL, 0, FLAG_SWITCH, "", "with the terms of each share's sum"},
    {0},
};

static const struct flag RECEIPT_FLAGS[] = {
    {"workload", NULL, 0, FLAG_TEXT, "NAME", "only of this workload"},
    {"since", NULL, 0, FLAG_TEXT, "TIME", "not older than: 2026-01-01T00:00:00Z"},
    {0},
};

static const struct flag USER_FLAGS[] = {
    {"user", "username", 'u', FLAG_TEXT, "MAIL", "the user"},
    {"password", NULL, 'p', FLAG_TEXT, "PW", "the password; else the command asks for it"},
    {"otp", NULL, 0, FLAG_TEXT, "CODE",
     "a code of the second factor; else the command asks for it where one is needed"},
    {"new-password", NULL, 0, FLAG_TEXT, "PW", "in place of a temporary password; else the command asks for it"},
    {0},
};

static const struct flag OWN_FLAGS[] = {
    {"password", NULL, 'p', FLAG_TEXT, "PW", "your password of now; else the command asks for it"},
    {"new-password", NULL, 0, FLAG_TEXT, "PW", "the new one; else the command asks for it"},
    {"code", "otp", 0, FLAG_TEXT, "CODE", "a code of the app; else the command asks for it"},
    {0},
};

static const struct flag SSO_FLAGS[] = {
    {"no-browser", NULL, 0, FLAG_SWITCH, "", "show an address, and take the code that it leads to"},
    {0},
};

static const struct flag APPLICATION_FLAGS[] = {
    {"name", "client-id", 0, FLAG_TEXT, "ID", "the application's name or client id"},
    {"secret", "client-secret", 0, FLAG_TEXT, "S", "its secret"},
    {"secret-file", NULL, 0, FLAG_TEXT, "FILE", "a file that holds the secret"},
    {"interactive", NULL, 0, FLAG_TEXT, "enabled|disabled", "accepted; the command asks nothing"},
    {"save", NULL, 0, FLAG_SWITCH, "", "accepted; the command always keeps the token"},
    {0},
};

static const struct flag ACCESS_KEY_FLAGS[] = {
    {"client-id", "name", 0, FLAG_TEXT, "ID", "the access key's client id"},
    {"secret", "client-secret", 0, FLAG_TEXT, "S", "its secret; else the command asks for it"},
    {"secret-file", NULL, 0, FLAG_TEXT, "FILE", "a file that holds the secret"},
    {0},
};

static const struct flag CONFIG_FLAGS[] = {
    {"cp-url", NULL, 0, FLAG_TEXT, "URL", "the server's address"},
    {"auth-url", NULL, 0, FLAG_TEXT, "URL", "accepted; the server signs in itself"},
    {0},
};

static const struct flag AUDIT_FLAGS[] = {
    {"start", NULL, 0, FLAG_TEXT, "TIME", "not older than: 2026-01-01T00:00:00Z (default 30 days ago)"},
    {"end", NULL, 0, FLAG_TEXT, "TIME", "not newer than (default now)"},
    {"filter", NULL, 0, FLAG_LIST, "CONDITION", "subject==MAIL, result==Failed, url=@users; all of several must hold"},
    {0},
};

static const struct flag AUDIT_FILE_FLAGS[] = {
    {"format", NULL, 0, FLAG_TEXT, "csv|json", "the form (default csv)"},
    {"output", NULL, 'o', FLAG_TEXT, "FILE", "into this file, of mode 0600; else to the output"},
    {0},
};

#define TABLES(name, ...) static const struct flag *const name[] = {__VA_ARGS__, NULL}
TABLES(WITH_LIST, PROJECT_FLAGS, LIST_FLAGS);
TABLES(WITH_NODES, PROJECT_FLAGS, LIST_FLAGS, NODE_FLAGS);
TABLES(WITH_LABELS, LABEL_FLAGS);
TABLES(WITH_ADOPT, ADOPT_FLAGS);
TABLES(WITH_QUOTA, QUOTA_FLAGS);
TABLES(WITH_PROJECTS, PROJECTS_FLAGS);
TABLES(WITH_ROLE, ROLE_FLAGS);
TABLES(WITH_ROLE_CHANGE, ROLE_FLAGS, ROLE_CHANGE_FLAGS);
TABLES(WITH_RULE, RULE_FLAGS);
TABLES(WITH_SCOPE, SCOPE_FLAGS, LIST_FLAGS);
TABLES(WITH_FILE, PROJECT_FLAGS, FILE_FLAGS, FORM_FLAGS);
TABLES(WITH_POLICY, SCOPE_FLAGS, POLICY_FLAGS);
TABLES(WITH_POLICIES, SYSTEM_FLAGS, LIST_FLAGS);
TABLES(WITH_UNIT, QUOTA_FLAGS, UNIT_FLAGS);
TABLES(WITH_PROJECT, QUOTA_FLAGS, UNIT_FLAGS, DEPARTMENT_FLAGS);
TABLES(WITH_DESCRIBE, PROJECT_FLAGS, DESCRIBE_FLAGS);
TABLES(WITH_LOGS, PROJECT_FLAGS, LOG_FLAGS);
TABLES(WITH_EXEC, PROJECT_FLAGS, EXEC_FLAGS);
TABLES(WITH_DELETE, PROJECT_FLAGS, DELETE_FLAGS);
TABLES(WITH_SUBMIT, PROJECT_FLAGS, SUBMIT_FLAGS);
TABLES(WITH_OLD_SUBMIT, PROJECT_FLAGS, OLD_SUBMIT_FLAGS);
TABLES(WITH_SHARES, FORM_FLAGS, SHARE_FLAGS);
TABLES(WITH_QUEUE, FORM_FLAGS);
TABLES(WITH_RECEIPTS, PROJECT_FLAGS, FORM_FLAGS, RECEIPT_FLAGS);
TABLES(WITH_AUDIT, AUDIT_FLAGS, FORM_FLAGS);
TABLES(WITH_AUDIT_FILE, AUDIT_FLAGS, AUDIT_FILE_FLAGS);
TABLES(WITH_USER, USER_FLAGS);
TABLES(WITH_SSO, SSO_FLAGS);
TABLES(WITH_APPLICATION, APPLICATION_FLAGS);
TABLES(WITH_ACCESS_KEY, ACCESS_KEY_FLAGS);
TABLES(WITH_OWN, OWN_FLAGS);
TABLES(WITH_CONFIG, CONFIG_FLAGS);

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
    {                                                                                                   \
        words_ "attach", run_workload_attach, NEEDS_SERVER, &kind_, WITH_EXEC, false, "NAME [--pod P]", \
            "its output, from now on"                                                                   \
    }

#define ASSET_COMMANDS(word_, kind_, plural_)                                                             \
    {word_ " list", run_asset_list, NEEDS_SERVER, &kind_, WITH_LIST, false, "[-p PROJECT]", plural_},     \
    {                                                                                                     \
        word_ " describe", run_asset_describe, NEEDS_SERVER, &kind_, WITH_LIST, false, "NAME", "show one" \
    }

#define LIFE(words_, kind_)                                                                                          \
    {words_ " submit", run_submit, NEEDS_SERVER, &kind_, WITH_SUBMIT, false, "[NAME] -i IMAGE [FLAGS] [-- ARGS]",    \
     "submit one"},                                                                                                  \
        {words_ " list", run_workload_list, NEEDS_SERVER, &kind_, WITH_LIST, false, "", "list them"},                \
        {words_ " describe", run_workload_describe, NEEDS_SERVER, &kind_, WITH_DESCRIBE, false, "NAME", "show one"}, \
        {words_ " explain", run_explain, NEEDS_SERVER, &kind_, WITH_DESCRIBE, false, "NAME", "why it waits"},        \
        {words_ " logs", run_workload_logs, NEEDS_SERVER, &kind_, WITH_LOGS, false, "NAME", "its output"},           \
        {words_ " suspend", run_workload_suspend, NEEDS_SERVER, &kind_, WITH_DELETE, false, "NAME", "stop one"},     \
        {words_ " resume", run_workload_resume, NEEDS_SERVER, &kind_, WITH_DELETE, false, "NAME", "run it again"},   \
    {                                                                                                                \
        words_ " delete", run_workload_delete, NEEDS_SERVER, &kind_, WITH_DELETE, false, "NAME...", "delete one"     \
    }

const struct command COMMANDS[] = {
    {"login user", run_login_user, NEEDS_PROFILE, NULL, WITH_USER, false, "-u MAIL [-p PW]", "sign in as a user"},
    {"login application", run_login_application, NEEDS_PROFILE, NULL, WITH_APPLICATION, false, "--name ID --secret S",
     "sign in as a service account"},
    {"login sso", run_login_sso, NEEDS_PROFILE, NULL, WITH_SSO, false, "[--no-browser]",
     "sign in at the server's identity provider"},
    {"login app", run_login_application, NEEDS_PROFILE, NULL, WITH_APPLICATION, false, "--name ID --secret S",
     "the same"},
    {"login access-key", run_login_access_key, NEEDS_PROFILE, NULL, WITH_ACCESS_KEY, false,
     "--client-id ID [--secret-file FILE]", "sign in with an access key"},
    {"login", run_login, NEEDS_PROFILE, NULL, WITH_USER, false, "[user|application|app|access-key|sso] [FLAGS]",
     "sign in; without flags it asks for user and password"},
    {"logout", run_logout, NEEDS_PROFILE, NULL, NULL, false, "", "forget the token"},
    {"whoami", run_whoami, NEEDS_SERVER, NULL, NULL, false, "", "who is signed in"},
    {"user list", run_user_list, NEEDS_SERVER, NULL, WITH_LIST, false, "", "the users"},
    {"user create", run_user_create, NEEDS_SERVER, NULL, WITH_LIST, false, "EMAIL",
     "make one; its temporary password is shown this once"},
    {"user delete", run_user_delete, NEEDS_SERVER, NULL, NULL, false, "EMAIL|ID", "delete one, and end its sessions"},
    {"user reset-password", run_user_reset_password, NEEDS_SERVER, NULL, WITH_LIST, false, "EMAIL|ID",
     "a new temporary password for one; its sessions end"},
    {"user reset-otp", run_user_reset_otp, NEEDS_SERVER, NULL, NULL, false, "EMAIL|ID",
     "take the second factor of one away"},
    {"user logout", run_user_logout, NEEDS_SERVER, NULL, NULL, false, "EMAIL|ID", "end all sessions of one"},
    {"role list", run_role_list, NEEDS_SERVER, NULL, WITH_LIST, false, "", "the roles"},
    {"role describe", run_role_describe, NEEDS_SERVER, NULL, WITH_LIST, false, "NAME", "what a role allows"},
    {"role create", run_role_create, NEEDS_SERVER, NULL, WITH_ROLE, false,
     "NAME [--permission-set S] [--permission TYPE=ACTION,...]", "make a role"},
    {"role update", run_role_update, NEEDS_SERVER, NULL, WITH_ROLE_CHANGE, false, "NAME [FLAGS]",
     "change a role; sets and permissions that are given replace all of it"},
    {"role delete", run_role_delete, NEEDS_SERVER, NULL, NULL, false, "NAME", "delete a role that nobody has"},
    {"policy list", run_policy_list, NEEDS_SERVER, NULL, WITH_POLICIES, false, "", "the policies that are set"},
    {"policy describe", run_policy_describe, NEEDS_SERVER, NULL, WITH_SCOPE, false, "TYPE [--project P]",
     "the policy that is set in a scope, as a file for apply"},
    {"policy effective", run_policy_effective, NEEDS_SERVER, NULL, WITH_SCOPE, false, "TYPE [--project P]",
     "what holds in a scope, and which scope says so"},
    {"policy apply", run_policy_apply, NEEDS_SERVER, NULL, WITH_POLICY, false, "TYPE -f FILE [--project P]",
     "set the policy of a scope"},
    {"policy delete", run_policy_delete, NEEDS_SERVER, NULL, WITH_SCOPE, false, "TYPE [--project P]",
     "remove the policy of a scope"},
    ASSET_COMMANDS("template", ASSET_TEMPLATE, "templates"),
    ASSET_COMMANDS("compute", ASSET_COMPUTE, "compute resources"),
    ASSET_COMMANDS("environment", ASSET_ENVIRONMENT, "environments"),
    ASSET_COMMANDS("datasource", ASSET_DATA_SOURCE, "data sources"),
    {"access-rule list", run_access_rule_list, NEEDS_SERVER, NULL, WITH_LIST, false, "", "who has which role where"},
    {"access-rule create", run_access_rule_create, NEEDS_SERVER, NULL, WITH_RULE, false,
     "--role R --user U --project P [--expires TIME]", "give a role to each subject in each scope"},
    {"access-rule delete", run_access_rule_delete, NEEDS_SERVER, NULL, NULL, false, "ID", "take a role away"},
    {"access-key list", run_access_key_list, NEEDS_SERVER, NULL, WITH_LIST, false, "", "your access keys"},
    {"access-key create", run_access_key_create, NEEDS_SERVER, NULL, WITH_LIST, false, "NAME",
     "make one; its secret is shown this once"},
    {"access-key regenerate", run_access_key_regenerate, NEEDS_SERVER, NULL, WITH_LIST, false, "NAME",
     "a new secret for one; the old one ends"},
    {"access-key delete", run_access_key_delete, NEEDS_SERVER, NULL, NULL, false, "NAME",
     "delete one, and end what signed in with it"},
    {"audit list", run_audit_list, NEEDS_SERVER, NULL, WITH_AUDIT, false, "[--start TIME] [--filter CONDITION]",
     "who did what, newest first"},
    {"audit download", run_audit_download, NEEDS_SERVER, NULL, WITH_AUDIT_FILE, false,
     "[--start TIME] [--format csv|json] [-o FILE]", "the same as a file"},
    {"account password", run_account_password, NEEDS_SERVER, NULL, WITH_OWN, false, "", "change your password"},
    {"account sessions end", run_account_sessions_end, NEEDS_SERVER, NULL, NULL, false, "ID|others",
     "end one of your sessions, or all but this one"},
    {"account sessions", run_account_sessions, NEEDS_SERVER, NULL, WITH_LIST, false, "", "where you are signed in"},
    {"account otp enable", run_account_otp_enable, NEEDS_SERVER, NULL, WITH_OWN, false, "",
     "ask for a code of your app beside the password"},
    {"account otp confirm", run_account_otp_confirm, NEEDS_SERVER, NULL, WITH_OWN, false, "[--code CODE]",
     "confirm the app by one of its codes"},
    {"account otp disable", run_account_otp_disable, NEEDS_SERVER, NULL, WITH_OWN, false, "[--code CODE]",
     "ask for the password alone again"},
    {"account otp", run_account_otp, NEEDS_SERVER, NULL, WITH_LIST, false, "", "whether your password needs a code"},
    {"version", run_version, NEEDS_NOTHING, NULL, NULL, false, "", "the client's version"},
    {"config set", run_config_set, NEEDS_PROFILE, NULL, WITH_CONFIG, false, "--cp-url URL", "which server"},
    {"config project", run_project_set, NEEDS_SERVER, NULL, NULL, true, "NAME", "the default project"},
    {"project set", run_project_set, NEEDS_SERVER, NULL, NULL, false, "NAME", "the default project"},
    {"project list", run_project_list, NEEDS_SERVER, NULL, WITH_LIST, false, "", "projects, quota and use"},
    {"project create", run_project_create, NEEDS_SERVER, NULL, WITH_PROJECT, false,
     "NAME [--department D] [--gpu-quota N]", "make a project"},
    {"project update", run_project_update, NEEDS_SERVER, NULL, WITH_QUOTA, false, "NAME --gpu-quota N",
     "change its quota in a node pool"},
    {"project delete", run_project_delete, NEEDS_SERVER, NULL, NULL, false, "NAME", "delete it and its workloads"},
    {"department create", run_department_create, NEEDS_SERVER, NULL, WITH_UNIT, false, "NAME [--gpu-quota N]",
     "make a department"},
    {"department update", run_department_update, NEEDS_SERVER, NULL, WITH_QUOTA, false, "NAME --gpu-quota N",
     "change its quota in a node pool"},
    {"department delete", run_department_delete, NEEDS_SERVER, NULL, WITH_PROJECTS, false, "NAME [--with-projects]",
     "delete it"},
    {"department list", run_department_list, NEEDS_SERVER, NULL, WITH_LIST, false, "", "departments, quota and use"},
    {"cluster list", run_cluster_list, NEEDS_SERVER, NULL, WITH_LIST, false, "", "clusters"},
    {"cluster set", run_cluster_set, NEEDS_SERVER, NULL, NULL, false, "NAME", "the cluster to use"},
    {"node list", run_node_list, NEEDS_SERVER, NULL, WITH_NODES, false, "[--show-labels]",
     "nodes and what is free on them"},
    {"node describe", run_node_describe, NEEDS_SERVER, NULL, WITH_DESCRIBE, false, "NAME",
     "a node: resources, labels, its GPUs and who holds them"},
    {"node label", run_node_label, NEEDS_SERVER, NULL, WITH_LABELS, false, "NAME KEY=VALUE... KEY-...",
     "set labels of a node, or with KEY- remove them; its node pool follows"},
    {"pods list", run_pods_list, NEEDS_SERVER, NULL, WITH_LIST, false, "", "running pods without a workload"},
    {"pods end", run_pods_end, NEEDS_SERVER, NULL, NULL, false, "NAME|ID", "end one of them"},
    {"pods adopt", run_pods_adopt, NEEDS_SERVER, NULL, WITH_ADOPT, false, "NAME|ID [-p PROJECT]",
     "make one of them, with all pods of its workload, a workload again"},
    {"nodepool list", run_nodepool_list, NEEDS_SERVER, NULL, WITH_LIST, false, "", "node pools"},
    {"workload list", run_workload_list, NEEDS_SERVER, &ANY, WITH_LIST, false, "", "workloads of every kind"},
    {"workload submit", run_submit_file, NEEDS_SERVER, &ANY, WITH_FILE, false, "[NAME] -f FILE", "submit a file"},
    {"workload describe", run_workload_describe, NEEDS_SERVER, &ANY, WITH_DESCRIBE, false, "NAME", "show one"},
    {"workload explain", run_explain, NEEDS_SERVER, &ANY, WITH_DESCRIBE, false, "NAME",
     "why it waits, and what would start it"},
    {"workload logs", run_workload_logs, NEEDS_SERVER, &ANY, WITH_LOGS, false, "NAME", "its output"},
    {"workload delete", run_workload_delete, NEEDS_SERVER, &ANY, WITH_DELETE, false, "NAME...", "delete one"},
    {"workload suspend", run_workload_suspend, NEEDS_SERVER, &ANY, WITH_DELETE, false, "NAME", "stop one"},
    {"workload resume", run_workload_resume, NEEDS_SERVER, &ANY, WITH_DELETE, false, "NAME", "run it again"},
    {"top", run_top, NEEDS_SERVER, NULL, WITH_QUEUE, false, "",
     "GPUs: utilization, memory, who holds them, who else uses them"},
    ENTER("", ANY),
    ENTER("workload ", ANY),
    ENTER("training ", TRAINING),
    ENTER("training standard ", TRAINING),
    ENTER("training pytorch ", PYTORCH),
    ENTER("training mpi ", MPI),
    ENTER("training tensorflow ", TENSORFLOW),
    ENTER("training xgboost ", XGBOOST),
    ENTER("training jax ", JAX),
    ENTER("workspace ", WORKSPACE),
    ENTER("inference ", INFERENCE),
    ENTER("distributed ", DISTRIBUTED),
    {"explain", run_explain, NEEDS_SERVER, &ANY, WITH_DESCRIBE, false, "NAME",
     "why a workload waits, and what would start it"},
    {"fairshare", run_fairshare, NEEDS_SERVER, NULL, WITH_SHARES, false, "[--pool NAME] [--terms]",
     "how a node pool is divided between departments and projects"},
    {"queue", run_queue, NEEDS_SERVER, NULL, WITH_QUEUE, false, "[--pool NAME]",
     "who waits for a node pool, in the order in which the scheduler tries them"},
    {"receipts", run_receipts, NEEDS_SERVER, &ANY, WITH_RECEIPTS, false, "[-p PROJECT] [--workload NAME] [--pool NAME]",
     "what gave way, for whom, and what it cost"},
    LIFE("training pytorch", PYTORCH),
    LIFE("training mpi", MPI),
    LIFE("training tensorflow", TENSORFLOW),
    LIFE("training xgboost", XGBOOST),
    LIFE("training jax", JAX),
    LIFE("training standard", TRAINING),
    LIFE("training", TRAINING),
    LIFE("workspace", WORKSPACE),
    LIFE("inference", INFERENCE),
    {"inference update", run_inference_update, NEEDS_SERVER, &INFERENCE, WITH_SUBMIT, false, "NAME [FLAGS] [-- ARGS]",
     "change what is given; replicas follow one by one"},
    LIFE("distributed", DISTRIBUTED),
    LIFE("pytorch", PYTORCH),
    LIFE("mpi", MPI),
    LIFE("tensorflow", TENSORFLOW),
    LIFE("xgboost", XGBOOST),
    LIFE("jax", JAX),
    // The first generation's spellings.
    {"submit-mpi", run_submit, NEEDS_SERVER, &MPI, WITH_OLD_SUBMIT, true, "NAME --processes N -i IMAGE [FLAGS]",
     "submit a distributed training"},
    {"submit", run_submit, NEEDS_SERVER, &TRAINING, WITH_OLD_SUBMIT, true, "NAME -i IMAGE [-g GPUS] [FLAGS] [-- ARGS]",
     "submit a training, or with --interactive a workspace"},
    {"list projects", run_project_list, NEEDS_SERVER, NULL, WITH_LIST, true, "", "projects and their quota"},
    {"list nodes", run_node_list, NEEDS_SERVER, NULL, WITH_NODES, true, "", "nodes"},
    {"list templates", run_asset_list, NEEDS_SERVER, &ASSET_TEMPLATE, WITH_LIST, true, "", "templates"},
    {"describe template", run_asset_describe, NEEDS_SERVER, &ASSET_TEMPLATE, WITH_LIST, true, "NAME", "show one"},
    {"list clusters", run_cluster_list, NEEDS_SERVER, NULL, WITH_LIST, true, "", "clusters"},
    {"list jobs", run_workload_list, NEEDS_SERVER, &ANY, WITH_LIST, true, "[-A]", "workloads"},
    {"list job", run_workload_list, NEEDS_SERVER, &ANY, WITH_LIST, true, "[-A]", "workloads"},
    {"list", run_workload_list, NEEDS_SERVER, &ANY, WITH_LIST, false, "[-A]", "workloads (earlier spelling)"},
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
    {"delete job", run_workload_delete, NEEDS_SERVER, &ANY, WITH_DELETE, true, "NAME...", "delete workloads"},
    {"delete", run_workload_delete, NEEDS_SERVER, &ANY, WITH_DELETE, true, "NAME...", "delete workloads"},
    {"suspend", run_workload_suspend, NEEDS_SERVER, &ANY, WITH_DELETE, true, "NAME", "stop a workload"},
    {"resume", run_workload_resume, NEEDS_SERVER, &ANY, WITH_DELETE, true, "NAME", "run it again"},
    {"logs", run_workload_logs, NEEDS_SERVER, &ANY, WITH_LOGS, true, "NAME", "its output"},
    {0},
};
