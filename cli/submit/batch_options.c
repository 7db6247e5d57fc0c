#include "cli/submit/batch_options.h"

#include "base/arena.h"
#include "base/error.h"
#include "cli/command.h"

#include <stdlib.h>
#include <string.h>

enum {
    ARRAY_LAST = 9999,
    LINE_WORDS_MAX = 32,
    FLAGS_MAX = 128
};
#define PREFIX "#SBATCH"

struct reading {
    struct arena *arena;
    struct batch_options *out;
    char *flags[FLAGS_MAX];
    int flag_count;
};

struct option;
typedef int (*take_fn)(struct reading *reading, const struct option *option, const char *value, struct error *err);

enum value_need {
    VALUE_NEEDED,
    VALUE_MAY_BE,
    VALUE_NONE
};

struct option {
    const char *name;
    char letter; // 0: none
    enum value_need need;
    take_fn take;     // NULL: its flag takes the value as it is, or it is left out
    const char *flag; // of ours; without one and without take it has no meaning here
    const char *note; // why, or what does it
};

static void note(struct reading *reading, const char *text)
{
    if (reading->out->note_count < BATCH_NOTES_MAX)
        reading->out->notes[reading->out->note_count++] = text;
}

static int add(struct reading *reading, const char *flag, const char *value, struct error *err)
{
    if (reading->flag_count == FLAGS_MAX)
        return error_set(err, ERROR_INVALID, "more than %d options", FLAGS_MAX);
    reading->flags[reading->flag_count++] =
        value ? arena_printf(reading->arena, "--%s=%s", flag, value) : arena_printf(reading->arena, "--%s", flag);
    return 0;
}

static int refuse(struct reading *reading, const struct option *option, const char *value, struct error *err)
{
    (void)reading, (void)value;
    return error_set(err, ERROR_INVALID, "--%s: %s", option->name, option->note);
}

// One is what a script gets.
static int take_one(struct reading *reading, const struct option *option, const char *value, struct error *err)
{
    return strcmp(value, "1") == 0 || strcmp(value, "1-1") == 0 ? 0 : refuse(reading, option, value, err);
}

// [TYPE:]N
static int take_gpus(struct reading *reading, const struct option *option, const char *value, struct error *err)
{
    const char *colon = strrchr(value, ':');
    if (colon)
        note(reading, arena_printf(reading->arena, "--%s: the type %.*s is left out; --node-type names one",
                                   option->name, (int)(colon - value), value));
    return add(reading, "gpu-devices-request", colon ? colon + 1 : value, err);
}

// gpu[:TYPE][:N]; others are no GPUs.
static int take_gres(struct reading *reading, const struct option *option, const char *value, struct error *err)
{
    if (strcmp(value, "none") == 0)
        return 0;
    if (strncmp(value, "gpu", 3) != 0 || (value[3] && value[3] != ':') || strchr(value, ','))
        return error_set(err, ERROR_INVALID, "--%s: %s: gpu:N is known; others are --extended-resource NAME=N",
                         option->name, value);
    const char *rest = value[3] ? value + 4 : "1";
    const char *last = strrchr(rest, ':');
    if (!strchr("0123456789", last ? last[1] : *rest)) // a type alone is one of it
        rest = arena_printf(reading->arena, "%s:1", rest);
    return take_gpus(reading, option, rest, err);
}

// A number of MiB, or with a unit, which is of 1024.
static int take_memory(struct reading *reading, const struct option *option, const char *value, struct error *err)
{
    size_t digits = strspn(value, "0123456789");
    const char *unit = value + digits;
    if (strcmp(value, "0") == 0) {
        note(reading, "--mem=0: left out; what a pod uses beyond its request is not bounded");
        return 0;
    }
    if (digits == 0 || (*unit && (!strchr("KMGT", *unit) || (unit[1] && strcmp(unit + 1, "B") != 0))))
        return error_set(err, ERROR_INVALID, "--%s: %s is no amount such as 16G", option->name, value);
    return add(reading, "cpu-memory-request",
               arena_printf(reading->arena, "%.*s%ci", (int)digits, value, *unit ? *unit : 'M'), err);
}

// afterok:NAME[:NAME...][,afterany:...]: all of them.
static int take_dependency(struct reading *reading, const struct option *option, const char *value, struct error *err)
{
    static const char *const KINDS[][2] = {{"afterok", "ok"}, {"afterany", "any"}, {"afternotok", "failed"}};
    char *rest = arena_strdup(reading->arena, value), *part, *name;
    while ((part = strsep(&rest, ","))) {
        const char *kind = strsep(&part, ":"), *wanted = NULL;
        for (size_t i = 0; i < sizeof(KINDS) / sizeof(KINDS[0]); i++)
            wanted = strcmp(kind, KINDS[i][0]) == 0 ? KINDS[i][1] : wanted;
        if (!wanted || !part || strchr(part, '?'))
            return error_set(err, ERROR_INVALID,
                             "--%s: %s: afterok:NAME, afterany:NAME and afternotok:NAME are known, all with commas",
                             option->name, value);
        while ((name = strsep(&part, ":")))
            if (add(reading, "after", arena_printf(reading->arena, "%s:%s", name, wanted), err) < 0)
                return -1;
    }
    return 0;
}

// NAME=VALUE, or NAME of this shell; ALL and NONE say nothing of the pod.
static int take_export(struct reading *reading, const struct option *option, const char *value, struct error *err)
{
    char *rest = arena_strdup(reading->arena, value), *part;
    while ((part = strsep(&rest, ","))) {
        const char *here = strchr(part, '=') ? NULL : getenv(part);
        if (strcmp(part, "ALL") == 0)
            note(reading, "--export=ALL: left out; `run --env-from-shell` passes this shell's variables");
        if (strcmp(part, "ALL") == 0 || strcmp(part, "NONE") == 0 || strcmp(part, "NIL") == 0)
            continue;
        if (!strchr(part, '=') && !here)
            return error_set(err, ERROR_INVALID, "--%s: this shell has no variable %s", option->name, part);
        if (here)
            part = arena_printf(reading->arena, "%s=%s", part, here);
        if (add(reading, "environment-variable", part, err) < 0)
            return -1;
    }
    return 0;
}

static int take_nodes_to_shun(struct reading *reading, const struct option *option, const char *value,
                              struct error *err)
{
    char *rest = arena_strdup(reading->arena, value), *part;
    if (strchr(value, '['))
        return error_set(err, ERROR_INVALID, "--%s: %s: names with commas are known", option->name, value);
    while ((part = strsep(&rest, ",")))
        if (add(reading, "exclude-node", part, err) < 0)
            return -1;
    return 0;
}

// nvcr.io#nvidia/pytorch:24.01
static int take_image(struct reading *reading, const struct option *option, const char *value, struct error *err)
{
    (void)option;
    char *image = arena_strdup(reading->arena, value), *sign = strchr(image, '#');
    if (sign)
        *sign = '/';
    return add(reading, "image", image, err);
}

static int take_no_requeue(struct reading *reading, const struct option *option, const char *value, struct error *err)
{
    (void)option, (void)value;
    return add(reading, "terminate-after-preemption", NULL, err);
}

// A number, or FIRST-LAST[:STEP], and [%AT_ONCE]. A run that fails ends no other.
static int take_array(struct reading *reading, const struct option *option, const char *value, struct error *err)
{
    unsigned long long first = 0, last = 0, step = 1, at_once = 0;
    char *end;
    const char *at = value;
    bool is_good = *at >= '0' && *at <= '9';
    first = last = strtoull(at, &end, 10);
    if (*end == '-') {
        is_good &= end[1] >= '0' && end[1] <= '9';
        last = strtoull(end + 1, &end, 10);
    }
    if (*end == ':') {
        is_good &= end[1] >= '1' && end[1] <= '9';
        step = strtoull(end + 1, &end, 10);
    }
    if (*end == '%') {
        is_good &= end[1] >= '1' && end[1] <= '9';
        at_once = strtoull(end + 1, &end, 10);
    }
    if (!is_good || *end || last < first || last > ARRAY_LAST || step > ARRAY_LAST + 1)
        return error_set(err, ERROR_INVALID, "--%s: %s: 5 and 0-99:2%%8 are known, up to %d", option->name, value,
                         ARRAY_LAST);
    unsigned long long count = (last - first) / step + 1;
    reading->out->array = (struct batch_array){true, first, step};
    return add(reading, "runs", arena_printf(reading->arena, "%llu", count), err) < 0 ||
                   add(reading, "parallelism",
                       arena_printf(reading->arena, "%llu", at_once && at_once < count ? at_once : count), err) < 0 ||
                   add(reading, "environment-variable",
                       arena_printf(reading->arena, "SLURM_ARRAY_TASK_MIN=%llu", first), err) < 0 ||
                   add(reading, "environment-variable",
                       arena_printf(reading->arena, "SLURM_ARRAY_TASK_MAX=%llu", first + (count - 1) * step),
                       err) < 0 ||
                   add(reading, "environment-variable",
                       arena_printf(reading->arena, "SLURM_ARRAY_TASK_COUNT=%llu", count), err) < 0
               ? -1
               : add(reading, "backoff-limit-per-index", "0", err);
}

#define OUTPUT "its output is kept: `workload logs NAME`"
#define MAIL "people choose what they are told of in the dashboard"
#define SEVERAL "one script is one pod: `pytorch submit` and `mpi submit` start several"
static const struct option OPTIONS[] = {
    {"account", 'A', VALUE_NEEDED, NULL, "project", NULL},
    {"array", 'a', VALUE_NEEDED, take_array, NULL, NULL},
    {"begin", 'b', VALUE_NEEDED, NULL, "begin", NULL},
    {"chdir", 'D', VALUE_NEEDED, NULL, "working-dir", NULL},
    {"comment", 0, VALUE_NEEDED, NULL, NULL, "--annotation NAME=VALUE has a place for it"},
    {"constraint", 'C', VALUE_NEEDED, NULL, NULL, "--node-type names a kind of nodes"},
    {"container-image", 0, VALUE_NEEDED, take_image, NULL, NULL},
    {"cpus-per-task", 'c', VALUE_NEEDED, NULL, "cpu-core-request", NULL},
    {"dependency", 'd', VALUE_NEEDED, take_dependency, NULL, NULL},
    {"error", 'e', VALUE_NEEDED, NULL, NULL, OUTPUT},
    {"exclude", 'x', VALUE_NEEDED, take_nodes_to_shun, NULL, NULL},
    {"exclusive", 0, VALUE_MAY_BE, NULL, NULL, "GPUs are never shared unless a part is asked for"},
    {"export", 0, VALUE_NEEDED, take_export, NULL, NULL},
    {"gpus", 'G', VALUE_NEEDED, take_gpus, NULL, NULL},
    {"gpus-per-node", 0, VALUE_NEEDED, take_gpus, NULL, NULL},
    {"gpus-per-task", 0, VALUE_NEEDED, take_gpus, NULL, NULL},
    {"gres", 0, VALUE_NEEDED, take_gres, NULL, NULL},
    {"hold", 'H', VALUE_NONE, NULL, "hold", NULL},
    {"input", 'i', VALUE_NEEDED, NULL, NULL, "a pod has no input"},
    {"job-name", 'J', VALUE_NEEDED, NULL, "name", NULL},
    {"mail-type", 0, VALUE_NEEDED, NULL, NULL, MAIL},
    {"mail-user", 0, VALUE_NEEDED, NULL, NULL, MAIL},
    {"mem", 0, VALUE_NEEDED, take_memory, NULL, NULL},
    {"mem-per-cpu", 0, VALUE_NEEDED, refuse, NULL, "say --mem, for the whole pod"},
    {"mem-per-gpu", 0, VALUE_NEEDED, refuse, NULL, "say --mem, for the whole pod"},
    {"no-requeue", 0, VALUE_NONE, take_no_requeue, NULL, NULL},
    {"nodelist", 'w', VALUE_NEEDED, NULL, NULL, "the scheduler chooses; --node-type names a kind of nodes"},
    {"nodes", 'N', VALUE_NEEDED, take_one, NULL, SEVERAL},
    {"ntasks", 'n', VALUE_NEEDED, take_one, NULL, SEVERAL},
    {"ntasks-per-node", 0, VALUE_NEEDED, take_one, NULL, SEVERAL},
    {"open-mode", 0, VALUE_NEEDED, NULL, NULL, OUTPUT},
    {"output", 'o', VALUE_NEEDED, NULL, NULL, OUTPUT},
    {"parsable", 0, VALUE_NONE, NULL, NULL, "--quiet prints nothing"},
    {"partition", 'p', VALUE_NEEDED, NULL, "node-pools", NULL},
    {"qos", 'q', VALUE_NEEDED, NULL, NULL, "--priority names a class"},
    {"requeue", 0, VALUE_NONE, NULL, NULL, "what is preempted runs again by itself"},
    {"signal", 0, VALUE_NEEDED, NULL, NULL, "SIGTERM comes --termination-grace-period before the end"},
    {"time", 't', VALUE_NEEDED, NULL, NULL, "its project says how long work may run"},
    {"verbose", 'v', VALUE_NONE, NULL, NULL, "nothing more can be said"},
};

// The option of a word, and its value where that is in the same word.
static const struct option *find_option(const char *word, const char **out_value)
{
    size_t length = strcspn(word + 2, "=");
    *out_value = NULL;
    for (size_t i = 0; i < sizeof(OPTIONS) / sizeof(OPTIONS[0]); i++) {
        const struct option *option = &OPTIONS[i];
        if (word[1] != '-') {
            *out_value = word[2] ? word + 2 : NULL;
            if (option->letter == word[1])
                return option;
        } else if (strlen(option->name) == length && strncmp(word + 2, option->name, length) == 0) {
            *out_value = word[2 + length] ? word + 3 + length : NULL;
            return option;
        }
    }
    return NULL;
}

static int take(struct reading *reading, const struct option *option, const char *value, struct error *err)
{
    if (option->take)
        return option->take(reading, option, value, err);
    if (option->flag)
        return add(reading, option->flag, value, err);
    note(reading, arena_printf(reading->arena, "--%s: left out; %s", option->name, option->note));
    return 0;
}

// Words as the shell has them: quotes hold blanks together, # begins a comment.
static size_t split(char *line, char *words[static LINE_WORDS_MAX])
{
    size_t count = 0;
    char *from = line;
    while (count < LINE_WORDS_MAX) {
        from += strspn(from, " \t\r");
        if (!*from || *from == '#')
            break;
        char quote = '\0', *to = from;
        words[count++] = from;
        for (; *from && (quote || !strchr(" \t\r", *from)); from++) {
            if (quote ? *from == quote : *from == '"' || *from == '\'')
                quote = quote ? '\0' : *from;
            else
                *to++ = *from;
        }
        from += *from != '\0';
        *to = '\0';
    }
    return count;
}

static int read_line(struct reading *reading, char *line, struct error *err)
{
    char *words[LINE_WORDS_MAX];
    size_t count = split(line, words);
    for (size_t i = 0; i < count; i++) {
        const char *value = NULL;
        const struct option *option = words[i][0] == '-' && words[i][1] ? find_option(words[i], &value) : NULL;
        if (!option)
            return error_set(err, ERROR_INVALID, "%s: no option of sbatch that is known here", words[i]);
        if (option->need == VALUE_NEEDED && !value) {
            if (i + 1 == count)
                return error_set(err, ERROR_INVALID, "--%s: its value is missing", option->name);
            value = words[++i];
        }
        if (take(reading, option, value, err) < 0)
            return -1;
    }
    return 0;
}

int batch_options_read(const char *script, struct arena *arena, struct batch_options *out, struct error *err)
{
    static const struct flag *const TABLES[] = {PROJECT_FLAGS, SUBMIT_FLAGS, NULL};
    struct reading reading = {.arena = arena, .out = out};
    *out = (struct batch_options){0};
    int number = 1;
    for (const char *at = script; *at; number++) {
        size_t length = strcspn(at, "\n");
        char *line = arena_strndup(arena, at, length);
        at += length + (at[length] == '\n');
        const char *text = line + strspn(line, " \t\r");
        if (*text && *text != '#')
            break; // the first command
        if (strncmp(line, PREFIX, strlen(PREFIX)) == 0 && strchr(" \t", line[strlen(PREFIX)]) &&
            read_line(&reading, line + strlen(PREFIX), err) < 0)
            return error_prefix(err, "line %d: " PREFIX " ", number);
    }
    return flags_read(reading.flag_count, reading.flags, TABLES, &out->flags, err);
}
