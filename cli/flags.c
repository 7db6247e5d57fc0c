#include "cli/flags.h"

#include "base/error.h"
#include "cli/suggest.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static bool is_spelled(const char *spelling, const char *name, size_t length)
{
    return spelling && strlen(spelling) == length && strncmp(spelling, name, length) == 0;
}

static const struct flag *find_long(const struct flag *const *tables, const char *name, size_t length)
{
    for (; *tables; tables++)
        for (const struct flag *flag = *tables; flag->name; flag++)
            if (flag->type != FLAG_HEADING &&
                (is_spelled(flag->name, name, length) || is_spelled(flag->alias, name, length)))
                return flag;
    return NULL;
}

static const struct flag *find_letter(const struct flag *const *tables, char letter)
{
    for (; *tables; tables++)
        for (const struct flag *flag = *tables; flag->name; flag++)
            if (flag->letter == letter)
                return flag;
    return NULL;
}

// What people write who know another tool, and the flag that says it; the first that the command has.
static const char *const MEANT[][4] = {
    {"gpu", "gpu-devices-request"},
    {"gpus", "gpu-devices-request", "gpu"},
    {"gpu-devices-request", "gpu"},
    {"gpu-devices", "gpu"},
    {"gpu-portion-request", "gpu"},
    {"gpu-fraction", "gpu-portion-request", "gpu"},
    {"gpu-memory", "gpu-memory-request"},
    {"gpu-memory-request", "gpu-memory"},
    {"cpu", "cpu-core-request"},
    {"cpu-core-request", "cpu"},
    {"memory", "cpu-memory-request"},
    {"cpu-memory-request", "memory"},
    {"env", "environment-variable"},
    {"volume", "host-path"},
    {"pvc", "existing-pvc"},
    {"existing-pvc", "pvc"},
    {"nodepool", "node-pools"},
    {"partition", "node-pools"},
    {"namespace", "project"},
    {"completions", "runs"},
    {"runs", "completions"},
    {"processes", "workers"},
    {"datavolume", "datasource"},
    {"env-my-credentials", "env-secret"},
    {"image-pull-my-credentials", "image-pull-secret"},
};

static const char *meant_by(const struct flag *const *tables, const char *name)
{
    for (size_t i = 0; i < sizeof(MEANT) / sizeof(MEANT[0]); i++)
        for (size_t k = 1; strcmp(MEANT[i][0], name) == 0 && k < 4 && MEANT[i][k]; k++)
            if (find_long(tables, MEANT[i][k], strlen(MEANT[i][k])))
                return MEANT[i][k];
    const char *nearest = NULL;
    size_t least = SIZE_MAX;
    for (; *tables; tables++)
        for (const struct flag *flag = *tables; flag->name; flag++) {
            size_t distance = suggest_distance(name, flag->name);
            if (flag->type != FLAG_HEADING && distance < least && suggest_is_near(name, distance)) {
                least = distance;
                nearest = flag->name;
            }
        }
    return nearest;
}

// text: as written, with its dashes.
static int refuse(const struct flag *const *tables, const char *text, size_t length, struct error *err)
{
    char name[SUGGEST_LENGTH_MAX + 1];
    snprintf(name, sizeof(name), "%.*s", (int)length - 2, text + 2);
    const char *meant = meant_by(tables, name);
    return error_set(err, ERROR_INVALID, "unknown flag: %.*s%s%s%s", (int)length, text,
                     meant ? "; did you mean --" : "", meant ? meant : "", meant ? "?" : "");
}

static int add_value(struct arguments *arguments, const struct flag *flag, const char *text, struct error *err)
{
    struct flag_value *value = NULL;
    for (size_t i = 0; i < arguments->value_count && !value; i++)
        if (arguments->values[i].flag == flag)
            value = &arguments->values[i];
    if (!value) {
        if (arguments->value_count == FLAG_VALUES_MAX)
            return error_set(err, ERROR_INVALID, "too many flags");
        value = &arguments->values[arguments->value_count++];
        *value = (struct flag_value){.flag = flag};
    }
    if (flag->type != FLAG_LIST)
        value->count = 0;
    if (value->count == FLAG_VALUES_MAX)
        return error_set(err, ERROR_INVALID, "--%s: too many values", flag->name);
    value->texts[value->count++] = text;
    return 0;
}

// A switch takes no value unless it stands behind `=`, or the next word is one.
static int read_flag(int argc, char **argv, int *index, const struct flag *flag, const char *attached,
                     struct arguments *arguments, struct error *err)
{
    const char *text = attached;
    if (flag->type == FLAG_SWITCH && text && strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
        return error_set(err, ERROR_INVALID, "--%s: true or false, got %s", flag->name, text);
    const char *next = *index + 1 < argc ? argv[*index + 1] : NULL;
    if (!text && flag->type == FLAG_SWITCH)
        text = next && (strcmp(next, "true") == 0 || strcmp(next, "false") == 0) ? argv[++*index] : "true";
    if (!text && flag->type == FLAG_OPTIONAL && (!next || strcmp(next, "--") == 0))
        text = "";
    if (!text) {
        if (!next)
            return error_set(err, ERROR_INVALID, "--%s: a value is missing", flag->name);
        text = argv[++*index];
    }
    return add_value(arguments, flag, text, err);
}

static int read_word(struct arguments *arguments, const char *word, struct error *err)
{
    if (arguments->word_count == WORDS_MAX)
        return error_set(err, ERROR_INVALID, "too many words");
    arguments->words[arguments->word_count++] = word;
    return 0;
}

static int read_one(int argc, char **argv, int *index, const struct flag *const *tables, struct arguments *arguments,
                    struct error *err)
{
    const char *text = argv[*index];
    if (text[0] != '-' || text[1] == '\0')
        return read_word(arguments, text, err);
    if (text[1] == '-') {
        const char *equals = strchr(text, '=');
        size_t length = equals ? (size_t)(equals - text - 2) : strlen(text + 2);
        const struct flag *flag = find_long(tables, text + 2, length);
        if (!flag)
            return refuse(tables, text, length + 2, err);
        return read_flag(argc, argv, index, flag, equals ? equals + 1 : NULL, arguments, err);
    }
    for (const char *letter = text + 1;; letter++) {
        const struct flag *flag = find_letter(tables, *letter);
        if (!flag)
            return error_set(err, ERROR_INVALID, "unknown flag: -%c", *letter);
        bool is_last = flag->type != FLAG_SWITCH || letter[1] == '\0' || letter[1] == '=';
        const char *attached = letter[1] == '\0' ? NULL : letter[1] == '=' ? letter + 2 : letter + 1;
        if (read_flag(argc, argv, index, flag, is_last ? attached : "true", arguments, err) < 0)
            return -1;
        if (is_last)
            return 0;
    }
}

int flags_read(int argc, char **argv, const struct flag *const *tables, struct arguments *out_arguments,
               struct error *err)
{
    memset(out_arguments, 0, sizeof(*out_arguments));
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0) {
            out_arguments->has_rest = true;
            for (i++; i < argc; i++) {
                if (out_arguments->rest_count == REST_MAX)
                    return error_set(err, ERROR_INVALID, "too many words after --");
                out_arguments->rest[out_arguments->rest_count++] = argv[i];
            }
            return 0;
        }
        if (read_one(argc, argv, &i, tables, out_arguments, err) < 0)
            return -1;
    }
    return 0;
}

const struct flag_value *flag_values(const struct arguments *arguments, const char *name)
{
    for (size_t i = 0; i < arguments->value_count; i++)
        if (strcmp(arguments->values[i].flag->name, name) == 0)
            return &arguments->values[i];
    return NULL;
}

const char *flag_text(const struct arguments *arguments, const char *name)
{
    const struct flag_value *value = flag_values(arguments, name);
    return value ? value->texts[value->count - 1] : NULL;
}

bool flag_is_set(const struct arguments *arguments, const char *name)
{
    const char *text = flag_text(arguments, name);
    return text && strcmp(text, "false") != 0;
}

bool flag_takes(const struct flag *const *tables, const char *name)
{
    for (size_t i = 0; tables && tables[i]; i++)
        for (const struct flag *flag = tables[i]; flag->name; flag++)
            if (strcmp(flag->name, name) == 0)
                return true;
    return false;
}

void flags_help(const struct flag *const *tables, const char *type)
{
    for (; *tables; tables++) {
        bool is_shown = true;
        for (const struct flag *flag = *tables; flag->name; flag++) {
            if (flag->type == FLAG_HEADING) {
                is_shown = !*flag->argument || !type || strcmp(flag->argument, type) == 0;
                if (is_shown)
                    printf("\n%s:\n", flag->sentence);
                continue;
            }
            if (!is_shown)
                continue;
            char left[192];
            snprintf(left, sizeof(left), "%s%c%s--%s%s%s", flag->letter ? "-" : "  ", flag->letter ? flag->letter : ' ',
                     flag->letter ? ", " : " ", flag->name, flag->argument && *flag->argument ? " " : "",
                     flag->argument ? flag->argument : "");
            if (strlen(left) > 38)
                printf("  %s\n  %-38s %s\n", left, "", flag->sentence);
            else
                printf("  %-38s %s\n", left, flag->sentence);
        }
    }
}
