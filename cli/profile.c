#include "cli/profile.h"

#include "base/arena.h"
#include "base/error.h"
#include "cli/flags.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    TOKEN_BYTES_MAX = 16384
};

static const char *first_of(const char *a, const char *b, const char *c)
{
    return a ? a : b && *b ? b : c;
}

static const char *home_folder(void)
{
    const char *home = getenv("HOME");
    if (home && *home)
        return home;
    const struct passwd *user = getpwuid(getuid());
    return user ? user->pw_dir : ".";
}

static int load(const char *path, json_t **out_json, struct error *err)
{
    json_error_t why;
    if (access(path, F_OK) < 0) {
        *out_json = json_object();
        return 0;
    }
    *out_json = json_load_file(path, JSON_REJECT_DUPLICATES, &why);
    if (!*out_json || !json_is_object(*out_json)) {
        json_decref(*out_json);
        return error_set(err, ERROR_INVALID, "%s:%d: %s", path, why.line, why.text);
    }
    return 0;
}

static int save(const char *path, const json_t *json, struct error *err)
{
    char unfinished[4096];
    if (snprintf(unfinished, sizeof(unfinished), "%s.%ld", path, (long)getpid()) >= (int)sizeof(unfinished))
        return error_set(err, ERROR_INVALID, "%s: too long a path", path);
    int fd = open(unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_set(err, ERROR_INVALID, "%s: %s", unfinished, strerror(errno));
    int rc = json_dumpfd(json, fd, JSON_INDENT(2) | JSON_SORT_KEYS);
    if (close(fd) < 0 || rc < 0 || rename(unfinished, path) < 0) {
        error_set(err, ERROR_INVALID, "%s: %s", path, strerror(errno));
        unlink(unfinished);
        return -1;
    }
    return 0;
}

int profile_open(const struct arguments *arguments, struct arena *arena, struct profile *out_profile, struct error *err)
{
    const char *folder = first_of(flag_text(arguments, "config-path"), getenv("RUNAI_CLI_CONFIG_PATH"),
                                  arena_printf(arena, "%s/.runai", home_folder()));
    const char *file = first_of(flag_text(arguments, "config-file"), getenv("RUNAI_CLI_CONFIG_FILE"), "config.json");
    if (mkdir(folder, 0700) < 0 && errno != EEXIST)
        return error_set(err, ERROR_INVALID, "%s: %s", folder, strerror(errno));
    *out_profile = (struct profile){
        .folder = folder,
        .config_path = arena_printf(arena, "%s/%s", folder, file),
        .authentication_path = arena_printf(arena, "%s/authentication.json", folder),
    };
    return load(out_profile->config_path, &out_profile->config, err);
}

void profile_close(struct profile *profile)
{
    json_decref(profile->config);
    profile->config = NULL;
}

int profile_save(const struct profile *profile, struct error *err)
{
    return save(profile->config_path, profile->config, err);
}

void profile_set(struct profile *profile, const char *section, const char *key, const char *value)
{
    json_t *object = json_object_get(profile->config, section);
    if (!json_is_object(object)) {
        object = json_object();
        json_object_set_new(profile->config, section, object);
    }
    if (value)
        json_object_set_new(object, key, json_string(value));
    else
        json_object_del(object, key);
}

const char *profile_get(const struct profile *profile, const char *section, const char *key)
{
    return json_string_value(json_object_get(json_object_get(profile->config, section), key));
}

const char *profile_url(const struct profile *profile)
{
    const char *url = getenv("RUNAI_CP_URL");
    return url && *url ? url : profile_get(profile, "control_plane", "url");
}

const char *profile_project(const struct profile *profile)
{
    return profile_get(profile, "project", "name");
}

int profile_read_token(const struct profile *profile, struct arena *arena, const char **out_token, struct error *err)
{
    json_t *json;
    if (load(profile->authentication_path, &json, err) < 0)
        return -1;
    const char *encoded = json_string_value(json_object_get(json, "accessToken"));
    *out_token = NULL;
    if (encoded && strlen(encoded) < TOKEN_BYTES_MAX) {
        size_t length = 0;
        char *token = arena_alloc(arena, strlen(encoded) + 1);
        if (sodium_base642bin((unsigned char *)token, strlen(encoded), encoded, strlen(encoded), "=", &length, NULL,
                              sodium_base64_VARIANT_URLSAFE_NO_PADDING) == 0) {
            token[length] = '\0';
            *out_token = token;
        }
    }
    json_decref(json);
    return 0;
}

static int remove_keys(const struct profile *profile, struct error *err)
{
    static const char *const KEYS[] = {PROFILE_SSH "/key", PROFILE_SSH "/key.pub"};
    int rc = 0, folder = open(profile->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (size_t i = 0; rc == 0 && folder >= 0 && i < sizeof(KEYS) / sizeof(KEYS[0]); i++)
        if (unlinkat(folder, KEYS[i], 0) < 0 && errno != ENOENT && errno != ENOTDIR)
            rc = error_set(err, ERROR_INVALID, "%s/%s: %s", profile->folder, KEYS[i], strerrordesc_np(errno));
    if (folder >= 0)
        close(folder);
    return rc;
}

int profile_save_token(const struct profile *profile, const char *token, struct error *err)
{
    size_t size = sodium_base64_ENCODED_LEN(strlen(token), sodium_base64_VARIANT_URLSAFE);
    char *encoded = memory_alloc(size);
    sodium_bin2base64(encoded, size, (const unsigned char *)token, strlen(token), sodium_base64_VARIANT_URLSAFE);
    json_t *json = json_pack("{s:s}", "accessToken", encoded);
    int rc = remove_keys(profile, err) < 0 ? -1 : save(profile->authentication_path, json, err);
    json_decref(json);
    free(encoded);
    return rc;
}

int profile_remove_token(const struct profile *profile, struct error *err)
{
    if (unlink(profile->authentication_path) < 0 && errno != ENOENT)
        return error_set(err, ERROR_INVALID, "%s: %s", profile->authentication_path, strerror(errno));
    return remove_keys(profile, err);
}
