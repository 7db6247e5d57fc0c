#include "model/workload_brief.h"

#include "base/buffer.h"

#include <string.h>

static const char *const FREE_MEMBERS[] = {"images",  "urls",     "externalConnections", "environmentVariables",
                                           "command", "arguments"};

// One character of a text with its escapes, as json_writer writes them.
static const char *after_character(const char *at)
{
    if (*at == '\\')
        return at + (at[1] == 'u' ? 6 : 2);
    for (at++; ((unsigned char)*at & 0xC0) == 0x80;)
        at++;
    return at;
}

static const char *after_text(const char *at)
{
    for (at++; *(at += strcspn(at, "\"\\")) == '\\';)
        at += 2;
    return at + 1;
}

static const char *after_value(const char *at)
{
    size_t depth = 0;
    do {
        if (*at == '"') {
            at = after_text(at);
            continue;
        }
        if (*at == '{' || *at == '[')
            depth++;
        else if (*at == '}' || *at == ']')
            depth--;
        at++;
    } while (depth > 0 || (*at && !strchr(",}]", *at)));
    return at;
}

static const char *after_member(const char *at)
{
    return after_value(*at == '"' && after_text(at)[0] == ':' ? after_text(at) + 1 : at);
}

// Returns how many bytes of the text were kept.
static size_t append_text(const char *text, const char *end, size_t room, struct buffer *out)
{
    const char *at = text + 1;
    while (at < end - 1 && (size_t)(after_character(at) - text) <= room)
        at = after_character(at);
    buffer_append(out, text, (size_t)(at - text));
    buffer_char(out, '"');
    return (size_t)(at - text);
}

static size_t append_items(const char *value, const char *end, size_t room, struct buffer *out)
{
    const char *at = value + 1;
    while (at < end - 1) {
        const char *next = after_member(*at == ',' ? at + 1 : at);
        if ((size_t)(next - value) > room)
            break;
        at = next;
    }
    buffer_append(out, value, (size_t)(at - value));
    buffer_char(out, end[-1]);
    return (size_t)(at - value);
}

static bool is_free(const char *key, size_t length)
{
    for (size_t i = 0; i < sizeof(FREE_MEMBERS) / sizeof(FREE_MEMBERS[0]); i++)
        if (strlen(FREE_MEMBERS[i]) == length && memcmp(key, FREE_MEMBERS[i], length) == 0)
            return true;
    return false;
}

bool workload_brief_cuts(const char *name)
{
    return is_free(name, strlen(name));
}

static bool is_asked(const char *key, size_t length, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(names[i], key, length) == 0 && names[i][length] == '\0')
            return true;
    return false;
}

void workload_brief_pick(const char *object, const char *const *names, size_t count, struct buffer *out)
{
    bool is_first = true;
    for (const char *at = object + 1; *at == '"';) {
        const char *key_end = after_text(at), *end = after_value(key_end + 1);
        if (is_asked(at + 1, (size_t)(key_end - at) - 2, names, count)) {
            if (!is_first)
                buffer_char(out, ',');
            buffer_append(out, at, (size_t)(end - at));
            is_first = false;
        }
        at = *end == ',' ? end + 1 : end;
    }
}

bool workload_brief_append(const char *listing, struct buffer *out)
{
    size_t room = WORKLOAD_BRIEF_BYTES;
    bool is_cut = false;
    for (const char *at = listing; *at;) {
        const char *key_end = after_text(at), *value = key_end + 1, *end = after_value(value);
        size_t length = (size_t)(end - value);
        if (!is_free(at + 1, (size_t)(key_end - at) - 2) || length <= room) {
            buffer_append(out, at, (size_t)(end - at));
            room -= is_free(at + 1, (size_t)(key_end - at) - 2) ? length : 0;
        } else {
            buffer_append(out, at, (size_t)(value - at));
            size_t kept = *value == '"' ? append_text(value, end, room, out) : append_items(value, end, room, out);
            room -= kept < room ? kept : room; // what opens it is written in any case
            is_cut = true;
        }
        if (*end == ',')
            buffer_char(out, *end++);
        at = end;
    }
    return is_cut;
}
