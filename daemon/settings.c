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
    TYPE_FLAG,
    TYPE_CHOICE
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
#define SETTING(name, member, type, fallback, minimum, maximum, argument, sentence) \
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

// Which of the words between bars the value is, from 0; -1: none.
static int find_word(const char *words, const char *value)
{
    size_t length = strlen(value);
    for (int number = 0;; number++) {
        size_t word = strcspn(words, "|");
        if (word == length && strncmp(words, value, length) == 0)
            return number;
        if (words[word] == '\0')
            return -1;
        words += word + 1;
    }
}

// "a, b or c" of "a|b|c"; a first word that is empty is not said.
static int refuse_word(const char *words, const char *value, const char *where, struct error *err)
{
    char said[128] = "";
    words += *words == '|';
    for (size_t word; *words; words += word + (words[word] == '|')) {
        word = strcspn(words, "|");
        const char *between = !*said ? "" : words[word] == '|' ? ", " : " or ";
        snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s%.*s", between, (int)word, words);
    }
    return error_set(err, ERROR_INVALID, "%s: %s, got %s", where, said, *value ? value : "nothing");
}

static int check_value(const struct setting *setting, const char *value, const char *where, struct error *err)
{
    char *end;
    if (setting->type == TYPE_FLAG && strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
        return error_set(err, ERROR_INVALID, "%s: true or false, got %s", where, value);
    if (setting->type == TYPE_CHOICE && find_word(setting->argument, value) < 0)
        return refuse_word(setting->argument, value, where, err);
    if (setting->type != TYPE_NUMBER && setting->type != TYPE_INTEGER)
        return 0;
    errno = 0;
    double number = strtod(value, &end);
    if (end == value || *end != '\0' || errno != 0 || !isfinite(number))
        return error_set(err, ERROR_INVALID, "%s: not a number: %s", where, value);
    if (setting->type == TYPE_INTEGER && number != floor(number))
        return error_set(err, ERROR_INVALID, "%s: expected a whole number, got %s", where, value);
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
        const char *argument = SETTINGS[i].argument;
        snprintf(flag, sizeof(flag), "--%s %s", SETTINGS[i].name, argument + (*argument == '|'));
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
            return error_set(err, ERROR_INVALID, "%s: expected an option; see prorata %s --help", flag, command);
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

static const char *text_of(const struct given *given)
{
    return given->count && *given->values[0] ? given->values[0] : NULL;
}

static const struct given *given_of(const struct reading *reading, const char *name)
{
    return &reading->given[find_setting(name)];
}

static int check_backend(const struct reading *reading, struct error *err)
{
    const char *backend = text_of(given_of(reading, "backend"));
    if (backend && find_word("simulated|local|kubernetes", backend) >= 0)
        return 0;
    return error_set(err, ERROR_INVALID, "%s: simulated, local or kubernetes, got %s",
                     given_of(reading, "backend")->where, backend ? backend : "nothing");
}

static size_t list_of(const struct given *given, const char **out_values)
{
    size_t count = 0;
    for (size_t i = 0; i < given->count; i++)
        if (*given->values[i])
            out_values[count++] = given->values[i];
    return count;
}

#define READ_TEXT(member) out->member = text_of(given);
#define READ_LIST(member) out->member##_count = list_of(given, out->member);
#define READ_NUMBER(member) out->member = strtod(given->values[0], NULL);
#define READ_INTEGER(member) out->member = strtoll(given->values[0], NULL, 10);
#define READ_FLAG(member) out->member = strcmp(given->values[0], "true") == 0;
#define READ_CHOICE(member) out->member = find_word(SETTINGS[given - reading->given].argument, given->values[0]);

static void fill(const struct reading *reading, struct settings *out)
{
    const struct given *given = reading->given;
    *out = (struct settings){.scenario = reading->scenario};
#define SETTING(name, member, type, ...) READ_##type(member) given++;
#include "base/settings.def"
#undef SETTING
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
    const char *file = text_of(given_of(reading, "config"));
    if ((file && read_file(reading, file, err) < 0) || check_backend(reading, err) < 0)
        return -1;
    fill(reading, out_settings);
    *out_outcome = SETTINGS_READ;
    return 0;
}
