#include "model/container_spec.h"

#include "base/arena.h"
#include "base/duration.h"
#include "base/error.h"
#include "model/shell_words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAME_PART_MAX = 63,
    NAME_PREFIX_MAX = 253
};

// Items of a list that a caller took out again say exclude: true; they are not looked at further.
typedef int (*item_check)(const struct fields *item);

static int check_items(const struct fields *spec, const char *key, item_check check)
{
    size_t count;
    if (fields_count(spec, key, CONTAINER_ITEMS_MAX, &count) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        struct fields item;
        bool is_excluded = false;
        if (fields_item(spec, key, i, &item) < 0 || fields_bool(&item, "exclude", &is_excluded) < 0)
            return -1;
        if (!is_excluded && check(&item) < 0)
            return -1;
    }
    return 0;
}

static bool is_letter_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Letters and digits at both ends, between them also - _ and a dot.
static bool is_name_part(const char *text, size_t length)
{
    if (length == 0 || length > NAME_PART_MAX || !is_letter_or_digit(text[0]) || !is_letter_or_digit(text[length - 1]))
        return false;
    for (size_t i = 0; i < length; i++)
        if (!is_letter_or_digit(text[i]) && !strchr("-_.", text[i]))
            return false;
    return true;
}

// A Kubernetes key: [domain/]name.
static bool is_qualified_name(const char *text)
{
    const char *slash = strchr(text, '/');
    if (!slash)
        return is_name_part(text, strlen(text));
    size_t domain = (size_t)(slash - text);
    if (domain == 0 || domain > NAME_PREFIX_MAX || !is_letter_or_digit(text[0]) || !is_letter_or_digit(slash[-1]))
        return false;
    for (size_t i = 0; i < domain; i++)
        if (!is_letter_or_digit(text[i]) && text[i] != '-' && text[i] != '.')
            return false;
    return is_name_part(slash + 1, strlen(slash + 1));
}

// Name and value of an annotation or label; the value may be empty or left out.
static int read_pair(const struct fields *item, const char **out_name, const char **out_value)
{
    if (fields_text(item, "name", out_name) < 0)
        return -1;
    if (!*out_name)
        return fields_fail(item, "name", "required");
    if (!is_qualified_name(*out_name))
        return fields_fail(item, "name", "letters, digits and -_. behind an optional domain/, got %.80s", *out_name);
    json_t *value = fields_get(item, "value");
    if (value && !json_is_string(value))
        return fields_fail(item, "value", "text");
    *out_value = value ? json_string_value(value) : "";
    return 0;
}

static int check_label(const struct fields *item)
{
    const char *name = NULL, *value;
    if (read_pair(item, &name, &value) < 0)
        return -1;
    if (value[0] && !is_name_part(value, strlen(value)))
        return fields_fail(item, "value", "at most 63 letters, digits and -_., got %.80s", value);
    return 0;
}

static bool is_duration(const char *value)
{
    int64_t ms;
    return duration_parse(value, &ms, NULL) == 0 && ms >= 0;
}

static bool is_number_up_to(const char *value, double maximum)
{
    char *end;
    if (!*value || value[strspn(value, "0123456789.")])
        return false;
    double number = strtod(value, &end);
    return !*end && number <= maximum;
}

static bool is_exit_code(const char *value)
{
    return is_number_up_to(value, 255) && !strchr(value, '.');
}

static bool is_percent(const char *value)
{
    return is_number_up_to(value, 100);
}

static const struct {
    const char *name; // behind the prefix
    bool (*is_good)(const char *value);
    const char *what;
} SIMULATION_ANNOTATIONS[] = {
    {"duration", is_duration, "a duration like 90s or 1h30m"},
    {"start-delay", is_duration, "a duration like 90s or 1h30m"},
    {"stop-duration", is_duration, "a duration like 90s or 1h30m"},
    {"exit-code", is_exit_code, "0 to 255"},
    {"gpu-utilization", is_percent, "0 to 100 percent"},
};

static int check_annotation(const struct fields *item)
{
    const char *name = NULL, *value;
    if (read_pair(item, &name, &value) < 0)
        return -1;
    if (strncmp(name, SIMULATION_ANNOTATION_PREFIX, strlen(SIMULATION_ANNOTATION_PREFIX)) != 0)
        return 0;
    const char *known = "";
    for (size_t i = 0; i < sizeof(SIMULATION_ANNOTATIONS) / sizeof(SIMULATION_ANNOTATIONS[0]); i++) {
        const char *wanted = SIMULATION_ANNOTATIONS[i].name;
        if (strcmp(name + strlen(SIMULATION_ANNOTATION_PREFIX), wanted) == 0)
            return SIMULATION_ANNOTATIONS[i].is_good(value)
                       ? 0
                       : fields_fail(item, "value", "%s is %s, got %.60s", name, SIMULATION_ANNOTATIONS[i].what, value);
        known = arena_printf(item->arena, "%s%s%s", known, i ? ", " : "", wanted);
    }
    return fields_fail(item, "name", "behind " SIMULATION_ANNOTATION_PREFIX " stands one of %s", known);
}

static int check_variable(const struct fields *item)
{
    static const char *const SOURCES[] = {"value", "secret", "configMap", "podFieldRef", "userCredential"};
    const char *name = NULL;
    if (fields_text(item, "name", &name) < 0)
        return -1;
    if (!name)
        return fields_fail(item, "name", "required");
    if (strchr(name, '='))
        return fields_fail(item, "name", "no = in it, got %.60s", name);
    int source_count = 0;
    for (size_t i = 0; i < sizeof(SOURCES) / sizeof(SOURCES[0]); i++)
        source_count += fields_get(item, SOURCES[i]) != NULL;
    if (source_count != 1)
        return fields_fail(item, "value", "exactly one of value, secret, configMap, podFieldRef and userCredential");
    return 0;
}

static int check_port(const struct fields *item)
{
    int64_t port;
    if (!fields_get(item, "container"))
        return fields_fail(item, "container", "required");
    return fields_integer(item, "container", 1, 65535, &port) < 0 ||
                   fields_integer(item, "external", 1, 65535, &port) < 0
               ? -1
               : 0;
}

static int check_exposed_url(const struct fields *item)
{
    size_t users, groups;
    if (check_port(item) < 0 || fields_count(item, "authorizedUsers", CONTAINER_ITEMS_MAX, &users) < 0 ||
        fields_count(item, "authorizedGroups", CONTAINER_ITEMS_MAX, &groups) < 0)
        return -1;
    if (users > 0 && groups > 0)
        return fields_fail(item, "authorizedGroups", "authorizedUsers or authorizedGroups, not both");
    return 0;
}

static int check_related_url(const struct fields *item)
{
    const char *url = NULL;
    if (fields_text(item, "url", &url) < 0)
        return -1;
    return url ? 0 : fields_fail(item, "url", "required");
}

static int check_command(const struct fields *spec, const char *key)
{
    const char *text = NULL;
    const char *const *words;
    size_t count;
    if (fields_text(spec, key, &text) < 0)
        return -1;
    if (!text)
        return 0;
    if (strlen(text) > CONTAINER_COMMAND_MAX)
        return fields_fail(spec, key, "at most %d bytes", CONTAINER_COMMAND_MAX);
    if (shell_words_split(text, spec->arena, &words, &count, spec->err) < 0)
        return error_prefix(spec->err, "%s: ", fields_path(spec, key));
    return 0;
}

static int check_image(const struct fields *spec)
{
    const char *image = NULL;
    if (fields_text(spec, "image", &image) < 0)
        return -1;
    if (!image)
        return fields_fail(spec, "image", "required");
    for (const char *c = image; *c; c++)
        if ((unsigned char)*c <= ' ' || *c == 0x7f)
            return fields_fail(spec, "image", "no blanks in it, got %.80s", image);
    return 0;
}

int container_spec_check(const struct fields *spec)
{
    if (check_image(spec) < 0 || check_command(spec, "command") < 0 || check_command(spec, "args") < 0)
        return -1;
    return check_items(spec, "environmentVariables", check_variable) < 0 ||
                   check_items(spec, "annotations", check_annotation) < 0 ||
                   check_items(spec, "labels", check_label) < 0 || check_items(spec, "ports", check_port) < 0 ||
                   check_items(spec, "exposedUrls", check_exposed_url) < 0 ||
                   check_items(spec, "relatedUrls", check_related_url) < 0
               ? -1
               : 0;
}
