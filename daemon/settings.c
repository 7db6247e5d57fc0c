#include "daemon/settings.h"

#include "base/arena.h"
#include "base/error.h"
#include "daemon/config_file.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum setting_type {
    TYPE_TEXT,
    TYPE_LIST,
    TYPE_NUMBER,
    TYPE_INTEGER,
    TYPE_FLAG
};

struct setting {
    const char *name;
    enum setting_type type;
    const char *fallback;
    double minimum, maximum;
    const char *argument;
    const char *sentence;
};

static const struct setting SETTINGS[] = {
#define SETTING(name, type, fallback, minimum, maximum, argument, sentence) \
    {#name, TYPE_##type, fallback, minimum, maximum, argument, sentence},
#include "base/settings.def"
#undef SETTING
};
enum {
    SETTING_COUNT = sizeof(SETTINGS) / sizeof(SETTINGS[0])
};

// Where a value came from; a stronger source replaces a weaker one's value.
enum source {
    SOURCE_DEFAULT,
    SOURCE_FILE,
    SOURCE_ENVIRONMENT,
    SOURCE_FLAG
};

struct given {
    enum source source;
    const char *values[SETTINGS_LIST_MAX];
    const char *where; // of the latest value, for messages: "--speed", "PRORATA_SPEED", "prorata.yaml: speed"
    size_t count;
};

struct reading {
    struct arena *arena;
    struct given given[SETTING_COUNT];
    const char *scenario;
};

static int find_setting(const char *name)
{
    for (int i = 0; i < SETTING_COUNT; i++)
        if (strcmp(SETTINGS[i].name, name) == 0)
            return i;
    return -1;
}

static int check_value(const struct setting *setting, const char *value, const char *where, struct error *err)
{
    char *end;
    if (setting->type == TYPE_FLAG && strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
        return error_set(err, ERROR_INVALID, "%s: true or false, got %s", where, value);
    if (setting->type != TYPE_NUMBER && setting->type != TYPE_INTEGER)
        return 0;
    errno = 0;
    double number = strtod(value, &end);
    if (end == value || *end != '\0' || errno != 0 || !isfinite(number))
        return error_set(err, ERROR_INVALID, "%s: not a number: %s", where, value);
    if (setting->type == TYPE_INTEGER && number != floor(number))
        return error_set(err, ERROR_INVALID, "%s: a whole number is wanted, got %s", where, value);
    if (number < setting->minimum || number > setting->maximum)
        return error_set(err, ERROR_INVALID, "%s: %g to %g, got %s", where, setting->minimum, setting->maximum, value);
    return 0;
}

static int take_value(struct reading *reading, int index, enum source source, const char *value, const char *where,
                      struct error *err)
{
    struct given *given = &reading->given[index];
    const struct setting *setting = &SETTINGS[index];
    if (source < given->source)
        return 0;
    if (check_value(setting, value, where, err) < 0)
        return -1;
    if (source > given->source || setting->type != TYPE_LIST)
        given->count = 0;
    if (given->count == SETTINGS_LIST_MAX)
        return error_set(err, ERROR_INVALID, "%s: at most %d values", where, SETTINGS_LIST_MAX);
    given->source = source;
    given->where = where;
    given->values[given->count++] = value;
    return 0;
}

static int take_list(struct reading *reading, int index, enum source source, const char *text, const char *where,
                     struct error *err)
{
    if (SETTINGS[index].type != TYPE_LIST)
        return take_value(reading, index, source, text, where, err);
    char *rest = arena_strdup(reading->arena, text), *part;
    while ((part = strsep(&rest, ",")))
        if (*part != '\0' && take_value(reading, index, source, part, where, err) < 0)
            return -1;
    return 0;
}

static void show_help(const char *command)
{
    printf("Usage: prorata %s [OPTIONS]\n\n", command);
    if (strcmp(command, "demo") == 0)
        puts("Starts a server in a temporary folder with a ready-made cluster; the folder goes when it stops.\n\n"
             "  --scenario NAME          quota (2 nodes of 2 GPUs; team-a and team-b with 2 each; the default) or\n"
             "                           preemption (one node of 8 GPUs; project-a and project-b with 4 each)");
    else if (strcmp(command, "doctor") == 0)
        puts("Says what is possible on this machine for a server with these options, and how to get more. Nothing is "
             "changed.\nThe exit status is 0 where such a server would work, else 1.\n\n"
             "  --json                   as JSON");
    else
        puts("Serves the API and the dashboard.\n");
    for (int i = 0; i < SETTING_COUNT; i++) {
        char flag[64];
        snprintf(flag, sizeof(flag), "--%s %s", SETTINGS[i].name, SETTINGS[i].argument);
        printf("  %-24s %s", flag, SETTINGS[i].sentence);
        if (SETTINGS[i].type != TYPE_FLAG && *SETTINGS[i].fallback)
            printf(" (default %s)", SETTINGS[i].fallback);
        putchar('\n');
    }
    puts("  --help                   this text\n\n"
         "Each is also a key of the --config file and an environment variable: --log-level is PRORATA_LOG_LEVEL.\n"
         "PRORATA_ADMIN_PASSWORD is the administrator's password on the first start.");
}

static int read_flags(struct reading *reading, int argc, char **argv, const char *command, bool *out_help,
                      struct error *err)
{
    for (int i = 1; i < argc; i++) {
        const char *flag = argv[i];
        if (strcmp(flag, "--help") == 0 || strcmp(flag, "-h") == 0) {
            *out_help = true;
            return 0;
        }
        if (strncmp(flag, "--", 2) != 0)
            return error_set(err, ERROR_INVALID, "%s: an option is wanted; see prorata %s --help", flag, command);
        const char *equals = strchr(flag, '=');
        const char *name = equals ? arena_strndup(reading->arena, flag + 2, (size_t)(equals - flag - 2)) : flag + 2;
        bool is_scenario = strcmp(command, "demo") == 0 && strcmp(name, "scenario") == 0;
        int index = find_setting(name);
        if (index < 0 && !is_scenario)
            return error_set(err, ERROR_INVALID, "--%s: unknown option; see prorata %s --help", name, command);
        const char *value = equals ? equals + 1 : NULL;
        if (!value && !is_scenario && SETTINGS[index].type == TYPE_FLAG)
            value = "true";
        if (!value && (i + 1 >= argc || !(value = argv[++i])))
            return error_set(err, ERROR_INVALID, "--%s: a value is missing", name);
        if (is_scenario)
            reading->scenario = value;
        else if (take_value(reading, index, SOURCE_FLAG, value, arena_printf(reading->arena, "--%s", name), err) < 0)
            return -1;
    }
    return 0;
}

static int read_environment(struct reading *reading, struct error *err)
{
    for (int i = 0; i < SETTING_COUNT; i++) {
        char *name = arena_printf(reading->arena, "PRORATA_%s", SETTINGS[i].name);
        for (char *c = name; *c; c++)
            *c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
        const char *value = getenv(name);
        if (value && *value && take_list(reading, i, SOURCE_ENVIRONMENT, value, name, err) < 0)
            return -1;
    }
    return 0;
}

static int read_file(struct reading *reading, const char *path, struct error *err)
{
    struct config_entry *entries = NULL;
    size_t count = 0;
    if (config_file_read(path, reading->arena, &entries, &count, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        int index = find_setting(entries[i].key);
        if (index < 0 || strcmp(entries[i].key, "config") == 0)
            return error_set(err, ERROR_INVALID, "%s: %s: unknown setting", path, entries[i].key);
        const char *where = arena_printf(reading->arena, "%s: %s", path, entries[i].key);
        if (take_value(reading, index, SOURCE_FILE, entries[i].value, where, err) < 0)
            return -1;
    }
    return 0;
}

static const struct given *given_of(const struct reading *reading, const char *name)
{
    return &reading->given[find_setting(name)];
}

static const char *text_of(const struct reading *reading, const char *name)
{
    const struct given *given = given_of(reading, name);
    return given->count && *given->values[0] ? given->values[0] : NULL;
}

static int one_of(const struct reading *reading, const char *name, const char *a, const char *b, struct error *err)
{
    const char *value = text_of(reading, name);
    if (!value || (strcmp(value, a) != 0 && strcmp(value, b) != 0))
        return error_set(err, ERROR_INVALID, "%s: %s or %s, got %s", given_of(reading, name)->where, a, b,
                         value ? value : "nothing");
    return strcmp(value, b) == 0;
}

static int check_backend(const struct reading *reading, struct error *err)
{
    const char *backend = text_of(reading, "backend");
    if (backend && (strcmp(backend, "simulated") == 0 || strcmp(backend, "local") == 0))
        return 0;
    if (backend && strcmp(backend, "kubernetes") == 0)
        return error_set(err, ERROR_INVALID, "%s: %s comes with a later release; this one has simulated and local",
                         given_of(reading, "backend")->where, backend);
    return error_set(err, ERROR_INVALID, "%s: simulated, local or kubernetes, got %s",
                     given_of(reading, "backend")->where, backend ? backend : "nothing");
}

// In the order of enum image_policy (backends/local/images/images.h).
static int read_images(const struct reading *reading, int *out_policy, struct error *err)
{
    static const char *const POLICIES[] = {"auto", "required", "ignore"};
    const char *text = text_of(reading, "local-images");
    for (int i = 0; i < 3; i++)
        if (text && strcmp(text, POLICIES[i]) == 0) {
            *out_policy = i;
            return 0;
        }
    return error_set(err, ERROR_INVALID, "%s: auto, required or ignore, got %s",
                     given_of(reading, "local-images")->where, text ? text : "nothing");
}

static int fill(const struct reading *reading, struct settings *out, struct error *err)
{
    const struct given *listen = given_of(reading, "listen"), *proxies = given_of(reading, "trusted-proxy");
    *out = (struct settings){
        .data = text_of(reading, "data"),
        .backend = text_of(reading, "backend"),
        .cluster = text_of(reading, "cluster"),
        .speed = strtod(text_of(reading, "speed"), NULL),
        .metrics_open = strcmp(text_of(reading, "metrics-open"), "true") == 0,
        .http_threads = (int)strtol(text_of(reading, "http-threads"), NULL, 10),
        .body_max_bytes = strtoll(text_of(reading, "body-max-bytes"), NULL, 10),
        .workload_max_bytes = strtoll(text_of(reading, "workload-max-bytes"), NULL, 10),
        .workloads_per_project = strtoll(text_of(reading, "workloads-per-project"), NULL, 10),
        .workloads_per_person = strtoll(text_of(reading, "workloads-per-person"), NULL, 10),
        .token_lifetime_s = strtoll(text_of(reading, "token-lifetime"), NULL, 10),
        .read_limit_s = strtod(text_of(reading, "read-limit"), NULL),
        .journal_days = strtod(text_of(reading, "journal-days"), NULL),
        .journal_bytes = strtoll(text_of(reading, "journal-bytes"), NULL, 10),
        .database_bytes = strtoll(text_of(reading, "database-bytes"), NULL, 10),
        .deleted_days = strtod(text_of(reading, "deleted-days"), NULL),
        .event_days = strtod(text_of(reading, "event-days"), NULL),
        .sample_days = strtod(text_of(reading, "sample-days"), NULL),
        .allocation_days = strtod(text_of(reading, "allocation-days"), NULL),
        .retry_delay_s = strtod(text_of(reading, "retry-delay"), NULL),
        .staleness_grace_s = strtod(text_of(reading, "staleness-grace"), NULL),
        .quick_start = strcmp(text_of(reading, "quick-start"), "true") == 0,
        .local_gpus = strtoll(text_of(reading, "local-gpus"), NULL, 10),
        .local_user = text_of(reading, "local-user"),
        .local_uid_range = text_of(reading, "local-uid-range"),
        .local_gid_range = text_of(reading, "local-gid-range"),
        .local_user_map = text_of(reading, "local-user-map"),
        .local_scratch = text_of(reading, "local-scratch"),
        .local_reserved_cpu = text_of(reading, "local-reserved-cpu"),
        .local_reserved_memory = text_of(reading, "local-reserved-memory"),
        .local_memory_default = text_of(reading, "local-memory-default"),
        .local_unkillable_s = strtod(text_of(reading, "local-unkillable-limit"), NULL),
        .local_disk_reserve = text_of(reading, "local-disk-reserve"),
        .local_image_total = text_of(reading, "local-image-total"),
        .local_home_project = text_of(reading, "local-home-project"),
        .local_log_pod = text_of(reading, "local-log-pod"),
        .local_log_project = text_of(reading, "local-log-project"),
        .local_log_total = text_of(reading, "local-log-total"),
        .local_log_days = strtod(text_of(reading, "local-log-days"), NULL),
        .local_nvml = text_of(reading, "local-nvml"),
        .scenario = reading->scenario,
    };
    for (size_t i = 0; i < listen->count; i++)
        out->listen[out->listen_count++] = listen->values[i];
    for (size_t i = 0; i < proxies->count; i++)
        if (*proxies->values[i])
            out->trusted_proxies[out->trusted_proxy_count++] = proxies->values[i];
    int json = one_of(reading, "log-format", "text", "json", err);
    if (json < 0 || check_backend(reading, err) < 0)
        return -1;
    if (read_images(reading, &out->local_images, err) < 0)
        return -1;
    int ignores = one_of(reading, "local-foreign", "avoid", "ignore", err);
    int kills = ignores < 0 ? -1 : one_of(reading, "local-gpu-memory", "warn", "kill", err);
    int shares_tmp = kills < 0 ? -1 : one_of(reading, "local-private-tmp", "on", "off", err);
    int ends_strays =
        kills >= 0 && text_of(reading, "local-stray") ? one_of(reading, "local-stray", "warn", "kill", err) : 0;
    if (kills < 0 || shares_tmp < 0 || ends_strays < 0)
        return -1;
    out->log_json = json;
    out->local_avoids_foreign = !ignores;
    out->local_kills_over_memory = kills;
    out->local_private_tmp = !shares_tmp;
    out->local_strays = text_of(reading, "local-stray") ? ends_strays + 1 : 0;
    if (log_level_parse(text_of(reading, "log-level") ? text_of(reading, "log-level") : "", &out->log_level, err) < 0)
        return error_prefix(err, "%s: ", given_of(reading, "log-level")->where);
    return 0;
}

int settings_read(int argc, char **argv, const char *command, struct arena *arena, struct settings *out_settings,
                  enum settings_outcome *out_outcome, struct error *err)
{
    struct reading *reading = arena_alloc(arena, sizeof(*reading)); // large for a stack
    reading->arena = arena;
    bool help = false;
    for (int i = 0; i < SETTING_COUNT; i++)
        if (take_value(reading, i, SOURCE_DEFAULT, SETTINGS[i].fallback, SETTINGS[i].name, err) < 0)
            return -1;
    if (read_flags(reading, argc, argv, command, &help, err) < 0)
        return -1;
    if (help) {
        show_help(command);
        *out_outcome = SETTINGS_HELP_SHOWN;
        return 0;
    }
    if (read_environment(reading, err) < 0)
        return -1;
    if (text_of(reading, "config") && read_file(reading, text_of(reading, "config"), err) < 0)
        return -1;
    *out_outcome = SETTINGS_READ;
    return fill(reading, out_settings, err);
}
