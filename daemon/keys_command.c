// `prorata keys rotate`: another key for the sealed secrets of a data folder.
#include "api/access/sealing.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/timestamp.h"
#include "daemon/daemon.h"
#include "daemon/data_folder.h"
#include "daemon/sealed_secrets.h"
#include "db/db.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    EXIT_PROBLEM = 1,
    EXIT_USAGE = 2
};

static const char HELP[] =
    "Usage: prorata keys rotate --data DIR\n\n"
    "Makes a new key for the secrets that the server keeps sealed in its database, seals all of them again with it in\n"
    "one transaction, and takes the old key away. Stop the server first. After a break the command may run again.\n"
    "Keys that sign tokens are replaced by the server itself.\n\n"
    "  --data DIR  the server's data folder\n";

// 0: go on; 1: help was shown; -1: err.
static int read_words(int argc, char **argv, const char **out_data, struct error *err)
{
    bool has_verb = false;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            fputs(HELP, stdout);
            return 1;
        }
        if (strcmp(word, "--data") == 0 && i + 1 < argc)
            *out_data = argv[++i];
        else if (strncmp(word, "--data=", strlen("--data=")) == 0)
            *out_data = word + strlen("--data=");
        else if (!has_verb && strcmp(word, "rotate") == 0)
            has_verb = true;
        else
            return error_set(err, ERROR_INVALID, "%.60s: unknown, or its value is missing", word);
    }
    if (!has_verb)
        return error_set(err, ERROR_INVALID, "expected: prorata keys rotate --data DIR");
    if (!*out_data || !**out_data)
        return error_set(err, ERROR_INVALID, "--data: the server's folder is missing");
    return 0;
}

static void tell(const char *data, const struct sealed_rotation *rotation)
{
    printf("%s: a new key; %zu secrets were sealed again\n", data, rotation->sealed_count);
    for (size_t i = 0; i < rotation->unusable_count; i++)
        printf("%s: %s stays as it is: no key in keys/ opens it; set it again\n", data, rotation->unusable[i]);
}

static int rotate_in(const struct data_folder *folder, struct arena *arena, struct error *err)
{
    struct db *db = NULL;
    struct sealing *ring = NULL;
    struct sealed_rotation rotation;
    int rc = db_open(&(struct db_options){.path = folder->database, .reader_count = 1}, &db, err);
    if (rc == 0)
        rc = sealing_open_ring(folder->path, timestamp_now_ms(), &ring, err);
    if (rc == 0)
        rc = sealed_secrets_rotate(db, ring, arena, &rotation, err);
    if (rc == 0)
        tell(folder->path, &rotation);
    sealing_close_ring(ring);
    db_close(db);
    return rc;
}

static int rotate(const char *data, struct arena *arena, struct error *err)
{
    struct data_folder folder;
    bool has_stepped = false;
    if (access(arena_printf(arena, "%s/prorata.db", data), F_OK) < 0)
        return error_set(err, ERROR_INVALID, "%s/prorata.db: %s", data, strerror(errno));
    if (data_folder_step_down(data, &has_stepped, err) < 0)
        return -1;
    int rc = data_folder_open(data, arena, &folder, err);
    if (rc == 0) {
        rc = rotate_in(&folder, arena, err);
        data_folder_close(&folder);
    }
    return data_folder_step_up(has_stepped, err) < 0 ? -1 : rc;
}

int daemon_main_keys(int argc, char **argv)
{
    const char *data = NULL;
    struct error err = {0};
    struct arena arena;
    int rc = read_words(argc, argv, &data, &err);
    if (rc > 0)
        return 0;
    umask(0077);
    arena_init(&arena);
    if (rc == 0)
        rc = sodium_init() < 0 ? error_set(&err, ERROR_INTERNAL, "no source of random numbers")
                               : rotate(data, &arena, &err);
    arena_done(&arena);
    if (rc == 0)
        return fflush(stdout) == 0 ? 0 : EXIT_PROBLEM;
    fprintf(stderr, "prorata keys: %s%s%s\n", err.message, err.details[0] ? ". " : "", err.details);
    return err.code == ERROR_INVALID ? EXIT_USAGE : EXIT_PROBLEM;
}
