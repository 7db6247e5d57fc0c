// Commands for signing in, users, roles, keys and the audit log.
#include "cli/command.h"
#include "cli/commands/command_tables.h"

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

static const struct flag TOKEN_FLAGS[] = {
    {"output", NULL, 'o', FLAG_TEXT, "FORM", "plaintext, or kubeconfig for an exec plugin (the default)"},
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

static const struct flag VERSION_FLAGS[] = {
    {"wide", NULL, 0, FLAG_SWITCH, "", "and the server's"},
    {0},
};

static const struct flag UPGRADE_FLAGS[] = {
    {"force", NULL, 0, FLAG_SWITCH, "", "also where it is the same version"},
    {0},
};

static const struct flag GENERATE_FLAGS[] = {
    {"file", NULL, 'f', FLAG_TEXT, "FILE", "into this file; else it is printed"},
    {"json", NULL, 0, FLAG_SWITCH, "", "as JSON (the default)"},
    {"yaml", NULL, 0, FLAG_SWITCH, "", "as YAML"},
    {0},
};

TABLES(WITH_LIST, PROJECT_FLAGS, LIST_FLAGS);
TABLES(WITH_ROLE, ROLE_FLAGS);
TABLES(WITH_ROLE_CHANGE, ROLE_FLAGS, ROLE_CHANGE_FLAGS);
TABLES(WITH_RULE, RULE_FLAGS);
TABLES(WITH_AUDIT, AUDIT_FLAGS, FORM_FLAGS);
TABLES(WITH_AUDIT_FILE, AUDIT_FLAGS, AUDIT_FILE_FLAGS);
TABLES(WITH_TOKEN, TOKEN_FLAGS);
TABLES(WITH_USER, USER_FLAGS);
TABLES(WITH_SSO, SSO_FLAGS);
TABLES(WITH_APPLICATION, APPLICATION_FLAGS);
TABLES(WITH_ACCESS_KEY, ACCESS_KEY_FLAGS);
TABLES(WITH_OWN, OWN_FLAGS);
TABLES(WITH_CONFIG, CONFIG_FLAGS);
TABLES(WITH_VERSION, VERSION_FLAGS);
TABLES(WITH_UPGRADE, UPGRADE_FLAGS);
TABLES(WITH_GENERATE, GENERATE_FLAGS);

const struct command PEOPLE_COMMANDS[] = {
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
    {"auth get-token", run_auth_get_token, NEEDS_PROFILE, NULL, WITH_TOKEN, false, "[-o plaintext|kubeconfig]",
     "the token of the login, for another program"},
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
    {"version", run_version, NEEDS_NOTHING, NULL, WITH_VERSION, false, "[--wide]", "the client's version"},
    {"upgrade", run_upgrade, NEEDS_SERVER, NULL, WITH_UPGRADE, false, "[--force]",
     "this program as the server has it, where that is another version"},
    {"completion", run_completion, NEEDS_NOTHING, NULL, NULL, false, "bash|zsh|fish",
     "the shell's completion of words and names: source <(prorata completion bash)"},
    {"complete", run_complete, NEEDS_PROFILE, NULL, NULL, false, "-- WORDS...", "what it asks: the words that fit"},
    {"config describe", run_config_describe, NEEDS_SERVER, NULL, WITH_LIST, false, "",
     "which server, cluster and project commands go to"},
    {"config generate", run_config_generate, NEEDS_PROFILE, NULL, WITH_GENERATE, false, "[--file FILE]",
     "the configuration for another machine: server, cluster, project; no login"},
    {"kubeconfig set", run_kubeconfig_set, NEEDS_PROFILE, NULL, NULL, false, "",
     "let kubectl take this login's token, where there is a kubectl"},
    {"config set", run_config_set, NEEDS_PROFILE, NULL, WITH_CONFIG, false, "--cp-url URL", "which server"},
    {0},
};
