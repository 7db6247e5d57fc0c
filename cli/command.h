// A command of the client, and what it runs with.
#pragma once
#include "base/arena.h"
#include "cli/client.h"
#include "cli/flags.h"
#include "cli/profile.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct error;
struct table;

// What a word on the command line is about: the API's path and type.
struct kind {
    const char *word;      // "training"
    const char *type;      // the API's: "Training"; NULL: all
    const char *path;      // "trainings"; NULL where it follows from the workload found
    const char *framework; // of a distributed one; NULL: any
};

enum command_needs {
    NEEDS_NOTHING,
    NEEDS_PROFILE,
    NEEDS_SERVER
}; // SERVER: signed in

struct command;

struct cli {
    struct arena arena;
    const char *program;
    const struct command *command;
    struct arguments arguments;
    struct profile profile;
    struct client client;
    const char *list_key; // what the API calls the list that was read last; NULL: it has no name
    int exit_status;      // of a command that did what it was asked; 0 unless it says otherwise
};

typedef int (*command_fn)(struct cli *cli, struct error *err);

struct command {
    const char *words; // "training submit"
    command_fn run;
    enum command_needs needs;
    const struct kind *kind;
    const struct flag *const *flags; // tables besides the global ones
    bool is_old;                     // a spelling of the first generation: its tables, no questions
    const char *usage;               // behind the words
    const char *sentence;
};

// Which command comes next; zero before the first.
struct command_walk {
    size_t family, row;
};

// Every command once, NULL behind the last.
const struct command *command_next(struct command_walk *walk);
// The longest match of words at the beginning, and how many it takes; NULL: none.
const struct command *cli_command_of(const char *const *words, size_t count, size_t *out_taken);
extern const struct flag GLOBAL_FLAGS[], PROJECT_FLAGS[], LIST_FLAGS[], SUBMIT_FLAGS[], OLD_SUBMIT_FLAGS[], LOG_FLAGS[],
    DESCRIBE_FLAGS[];

// Output.
enum output {
    OUTPUT_TABLE,
    OUTPUT_JSON,
    OUTPUT_YAML
};
// ERROR_INVALID for a form of -o that the command does not have.
int cli_check_output(const struct cli *cli, struct error *err);
enum output cli_output(const struct cli *cli);
// --set-default-columns.
int cli_keep_columns(struct cli *cli, struct error *err);
// Prints the value as JSON or YAML, as asked for.
void cli_print(const struct cli *cli, const json_t *value);
void cli_print_yaml(const json_t *value);
// Takes away the lines that the YAML reader adds: they are no fields.
void cli_drop_lines(json_t *value);
// A list as JSON or YAML; with --no-pagination an object that holds it under the thing's plural.
void cli_print_entries(struct cli *cli, const json_t *entries);
// The entries as asked for: JSON, YAML, or a table with a row that add_row adds for each.
typedef void (*cli_row_fn)(struct cli *cli, const json_t *entry, struct table *table);
void cli_print_list(struct cli *cli, const json_t *entries, const char *const *titles, size_t count,
                    cli_row_fn add_row);
// Ruled, or plain for the older commands; --columns, --no-headers, -o wide and -o name are minded.
void cli_print_table(const struct cli *cli, const struct table *table);
// The same with the columns where none are named; NULL: all.
void cli_print_columns(const struct cli *cli, const struct table *table, const char *usual);
const char *cli_old_type(const json_t *workload); // "Train", "Interactive", "Inference"
// What was used of a node's device, in percent: as the machine says, else as it is recorded. No number: not known.
const json_t *cli_device_utilization(const json_t *node, size_t index);
const char *cli_age(struct cli *cli, const char *time_text);  // "5m", "2h", "3d"
const char *cli_pace(struct cli *cli, const json_t *pace);    // SchedulerPace as a sentence
const char *cli_amount(struct cli *cli, double value);        // two decimals
const char *cli_text(const json_t *object, const char *path); // "status.phase"; "" where there is none
double cli_number(const json_t *object, const char *path);
const json_t *cli_at(const json_t *object, const char *path);

// Asks at the terminal; `secret` does not show what is typed. NULL without a terminal.
const char *cli_ask(struct cli *cli, const char *question, bool secret);
// Before something is deleted: asks at a terminal, unless --yes was given. Without a terminal it refuses; but the first
// generation, whose scripts know no --yes, goes on.
int cli_confirm_deletion(struct cli *cli, const char *name, struct error *err);
// The caller's own password; wanted NULL: asks for it, twice.
int cli_change_password(struct cli *cli, const char *current, const char *wanted, struct error *err);

// Server.
int cli_get(struct cli *cli, json_t **out_answer, struct error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
// All entries of a list under `key`, page by page, as --page-size and --max-items say; path has no offset or limit. key
// NULL: a bare array that comes whole; CLI_BARE_PAGES: one in pages. Owned by the caller.
#define CLI_BARE_PAGES ""
int cli_get_all(struct cli *cli, const char *path, const char *key, json_t **out_entries, struct error *err);
// The same, and at most so many.
int cli_get_first(struct cli *cli, const char *path, const char *key, size_t most, json_t **out_entries,
                  struct error *err);
// --project, else the default one; ERROR_INVALID where there is none.
int cli_project_name(struct cli *cli, const char **out_name, struct error *err);
int cli_find_project(struct cli *cli, const char *name, json_t **out_project, struct error *err);
// what: "project" or "department".
int cli_find_unit(struct cli *cli, const char *what, const char *name, json_t **out_unit, struct error *err);
// The path with one more parameter, the arena's; value NULL: as it was.
const char *cli_add_query(struct cli *cli, const char *path, const char *parameter, const char *value);
// By name, without regard to case; the caller owns *out_role.
int cli_find_role(struct cli *cli, const char *name, json_t **out_role, struct error *err);
// The workload of this name: in the project asked for, or in the default one. Not deleted ones. With --uuid the one of
// that id, whatever the name.
int cli_find_workload(struct cli *cli, const char *name, json_t **out_workload, struct error *err);
// The same for what only looks: without a project named or set, the one workload of this name in all of them.
int cli_look_up_workload(struct cli *cli, const char *name, json_t **out_workload, struct error *err);
// Where the workload's ports answer, with commas between; node "": it has no place.
const char *cli_service_urls(struct cli *cli, const json_t *workload, const char *node);
// "trainings", "workspaces", "distributed", "inferences" of the API's type.
const char *cli_path_of_type(const char *type);
// NAME from the words behind the command; ERROR_INVALID where it is missing.
int cli_name(struct cli *cli, const char **out_name, struct error *err);

// Commands (files of the same names).
int run_login(struct cli *cli, struct error *err);
int run_inference_update(struct cli *cli, struct error *err);
// Takes the grant's body over; keeps the token and the cluster. who NULL: the server says who that is.
int cli_sign_in(struct cli *cli, json_t *grant, const char *who, struct error *err);
int run_login_sso(struct cli *cli, struct error *err);
int run_login_user(struct cli *cli, struct error *err);
int run_login_application(struct cli *cli, struct error *err);
int run_login_access_key(struct cli *cli, struct error *err);
int run_role_list(struct cli *cli, struct error *err);
int run_role_describe(struct cli *cli, struct error *err);
int run_role_create(struct cli *cli, struct error *err);
int run_role_update(struct cli *cli, struct error *err);
int run_role_delete(struct cli *cli, struct error *err);
int run_policy_list(struct cli *cli, struct error *err);
int run_policy_describe(struct cli *cli, struct error *err);
int run_policy_effective(struct cli *cli, struct error *err);
int run_policy_apply(struct cli *cli, struct error *err);
int run_policy_delete(struct cli *cli, struct error *err);
int run_access_rule_list(struct cli *cli, struct error *err);
int run_access_rule_create(struct cli *cli, struct error *err);
int run_access_rule_delete(struct cli *cli, struct error *err);
int run_access_key_list(struct cli *cli, struct error *err);
int run_access_key_create(struct cli *cli, struct error *err);
int run_access_key_delete(struct cli *cli, struct error *err);
int run_access_key_regenerate(struct cli *cli, struct error *err);
int run_user_list(struct cli *cli, struct error *err);
int run_user_create(struct cli *cli, struct error *err);
int run_user_delete(struct cli *cli, struct error *err);
int run_user_reset_password(struct cli *cli, struct error *err);
int run_user_reset_otp(struct cli *cli, struct error *err);
int run_user_logout(struct cli *cli, struct error *err);
int run_audit_list(struct cli *cli, struct error *err);
int run_audit_download(struct cli *cli, struct error *err);
int run_account_password(struct cli *cli, struct error *err);
int run_account_sessions(struct cli *cli, struct error *err);
int run_account_sessions_end(struct cli *cli, struct error *err);
int run_account_otp(struct cli *cli, struct error *err);
int run_account_otp_enable(struct cli *cli, struct error *err);
int run_account_otp_confirm(struct cli *cli, struct error *err);
int run_account_otp_disable(struct cli *cli, struct error *err);
int run_auth_get_token(struct cli *cli, struct error *err);
int run_logout(struct cli *cli, struct error *err);
int run_whoami(struct cli *cli, struct error *err);
int run_version(struct cli *cli, struct error *err);
int run_config_generate(struct cli *cli, struct error *err);
int run_kubeconfig_set(struct cli *cli, struct error *err);
int run_upgrade(struct cli *cli, struct error *err);
int run_completion(struct cli *cli, struct error *err);
int run_complete(struct cli *cli, struct error *err);
int run_config_describe(struct cli *cli, struct error *err);
int run_config_set(struct cli *cli, struct error *err);
int run_project_set(struct cli *cli, struct error *err);
int run_cluster_set(struct cli *cli, struct error *err);
int run_cluster_rename(struct cli *cli, struct error *err);
int run_project_list(struct cli *cli, struct error *err);
int run_project_create(struct cli *cli, struct error *err);
int run_project_update(struct cli *cli, struct error *err);
int run_project_delete(struct cli *cli, struct error *err);
int run_department_create(struct cli *cli, struct error *err);
int run_department_update(struct cli *cli, struct error *err);
int run_department_delete(struct cli *cli, struct error *err);
int run_department_list(struct cli *cli, struct error *err);
int run_cluster_list(struct cli *cli, struct error *err);
int run_cluster_status(struct cli *cli, struct error *err);
int run_node_list(struct cli *cli, struct error *err);
int run_node_describe(struct cli *cli, struct error *err);
int run_node_label(struct cli *cli, struct error *err);
int run_node_cordon(struct cli *cli, struct error *err);
int run_node_drain(struct cli *cli, struct error *err);
int run_node_uncordon(struct cli *cli, struct error *err);
int run_pods_list(struct cli *cli, struct error *err);
int run_pods_end(struct cli *cli, struct error *err);
int run_pods_adopt(struct cli *cli, struct error *err);
int run_workload_type_list(struct cli *cli, struct error *err);
int run_nodepool_list(struct cli *cli, struct error *err);
int run_cluster_info(struct cli *cli, struct error *err);
int run_get_resources(struct cli *cli, struct error *err);
int run_describe_project(struct cli *cli, struct error *err);
int run_workload_list(struct cli *cli, struct error *err);
int run_workload_describe(struct cli *cli, struct error *err);
int run_workload_delete(struct cli *cli, struct error *err);
int run_workload_suspend(struct cli *cli, struct error *err);
int run_workload_resume(struct cli *cli, struct error *err);
int run_workload_logs(struct cli *cli, struct error *err);
int run_workload_bash(struct cli *cli, struct error *err);
int run_workload_exec(struct cli *cli, struct error *err);
int run_workload_open(struct cli *cli, struct error *err);
int run_workload_port_forward(struct cli *cli, struct error *err);
int run_ssh(struct cli *cli, struct error *err);
int run_ssh_config(struct cli *cli, struct error *err);
int run_ssh_proxy(struct cli *cli, struct error *err);
int run_workload_attach(struct cli *cli, struct error *err);
int run_top(struct cli *cli, struct error *err);
int run_top_node(struct cli *cli, struct error *err);
int run_top_job(struct cli *cli, struct error *err);
int run_project_people(struct cli *cli, struct error *err);
int run_budget(struct cli *cli, struct error *err);
int run_explain(struct cli *cli, struct error *err);
int run_fairshare(struct cli *cli, struct error *err);
int run_queue(struct cli *cli, struct error *err);
int run_idle(struct cli *cli, struct error *err);
int run_timeline(struct cli *cli, struct error *err);
int run_event_list(struct cli *cli, struct error *err);
int run_waiting(struct cli *cli, struct error *err);
int run_receipts(struct cli *cli, struct error *err);
int run_submit(struct cli *cli, struct error *err);
int run_run(struct cli *cli, struct error *err);
int run_batch(struct cli *cli, struct error *err);
int run_submit_file(struct cli *cli, struct error *err);
int run_asset_list(struct cli *cli, struct error *err);
int run_asset_describe(struct cli *cli, struct error *err);
int run_asset_create(struct cli *cli, struct error *err);
int run_asset_delete(struct cli *cli, struct error *err);
