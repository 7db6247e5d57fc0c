// What the client remembers: ~/.runai/config.json (server's address, cluster, default project) and
// ~/.runai/authentication.json (the token), in the form that other clients read.
#pragma once
#include <jansson.h>

struct arguments;
struct arena;
struct error;

struct profile {
    const char *folder;
    const char *config_path;
    const char *authentication_path;
    json_t *config; // owned
};

// A missing file is an empty one. Paths come from the flags --config-path and --config-file, the environment
// (RUNAI_CLI_CONFIG_PATH, RUNAI_CLI_CONFIG_FILE), else ~/.runai/config.json.
int profile_open(const struct arguments *arguments, struct arena *arena, struct profile *out_profile,
                 struct error *err);
void profile_close(struct profile *profile);
int profile_save(const struct profile *profile, struct error *err); // mode 0600, whole or not at all

const char *profile_url(const struct profile *profile);     // NULL: not configured
const char *profile_project(const struct profile *profile); // NULL: none set
// value NULL: no longer set.
void profile_set(struct profile *profile, const char *section, const char *key, const char *value);
const char *profile_get(const struct profile *profile, const char *section, const char *key);

// The access token, in arena; *out_token is NULL where nobody is signed in.
int profile_read_token(const struct profile *profile, struct arena *arena, const char **out_token, struct error *err);
// Both end the login before: its keys in the folder PROFILE_SSH go.
#define PROFILE_SSH "ssh"
int profile_save_token(const struct profile *profile, const char *token, struct error *err);
int profile_remove_token(const struct profile *profile, struct error *err);
