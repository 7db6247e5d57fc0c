#include "api/notifications/message.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/json_writer.h"
#include "base/timestamp.h"
#include "db/notifications/outbox.h"
#include "model/told.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

enum {
    SENTENCE_MAX = 1000,
    SUBJECT_MAX = 250,
    TEXT_MAX = 1 << 20
};

const char *message_one_line(const char *text, size_t most, struct arena *arena)
{
    size_t length = strlen(text);
    if (length > most)
        for (length = most; length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80;)
            length--;
    char *copy = arena_strndup(arena, text, length);
    for (char *c = copy; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = ' ';
    return copy;
}

// Who is told may know less than who reads the page: what is not the workload's own stays unnamed.
static const char *shown_name(void *context, enum told_kind kind, const char *name)
{
    const struct notification_source *source = context;
    const char *own = kind == TOLD_PROJECT ? source->project_name : kind == TOLD_WORKLOAD ? source->workload_name : "";
    if (strcmp(own, name) == 0)
        return name;
    return kind == TOLD_PROJECT ? "another project" : kind == TOLD_WORKLOAD ? "another workload" : "the department";
}

const char *message_sentence(const struct notification_source *source, struct arena *arena)
{
    struct notification_source copy = *source;
    const char *told = told_text(arena, source->message, shown_name, &copy), *sentence;
    bool is_named = strncmp(told, source->workload_name, strlen(source->workload_name)) == 0; // it, or a pod of it
    if (source->is_phase)
        sentence = arena_printf(arena, "%s of project %s is %s%s%s", source->workload_name, source->project_name,
                                source->kind, *told ? ": " : "", told);
    else if (is_named)
        sentence = arena_printf(arena, "Project %s: %s", source->project_name, told);
    else
        sentence = arena_printf(arena, "%s of project %s: %s", source->workload_name, source->project_name, told);
    return message_one_line(sentence, SENTENCE_MAX, arena);
}

static const char *gpus(int64_t milli, struct arena *arena)
{
    const char *rest = milli % 1000 ? arena_printf(arena, ".%03" PRId64, milli % 1000) : "";
    return arena_printf(arena, "%" PRId64 "%s", milli / 1000, rest);
}

const char *message_over_quota(const struct over_quota *project, struct arena *arena)
{
    const char *sentence = arena_printf(
        arena, "Project %s holds %s GPUs of node pool %s, %s over its quota of %s", project->project_name,
        gpus(project->allocated_milli, arena), project->node_pool_name,
        gpus(project->allocated_milli - project->deserved_milli, arena), gpus(project->deserved_milli, arena));
    return message_one_line(sentence, SENTENCE_MAX, arena);
}

struct field {
    const char *name, *value;
};

// The field that begins here, as {{ .name }} with any blanks; its length in the template, 0 where there is none.
static size_t field_at(const char *text, const struct field *fields, size_t count, const char **out_value)
{
    if (strncmp(text, "{{", 2) != 0)
        return 0;
    const char *at = text + 2 + strspn(text + 2, " ");
    for (size_t i = 0; *at == '.' && i < count; i++) {
        size_t length = strlen(fields[i].name);
        const char *end = at + 1 + length;
        if (strncmp(at + 1, fields[i].name, length) != 0)
            continue;
        end += strspn(end, " ");
        if (strncmp(end, "}}", 2) != 0)
            continue;
        *out_value = fields[i].value;
        return (size_t)(end + 2 - text);
    }
    return 0;
}

const char *message_subject(const struct message *message, const char *template, struct arena *arena)
{
    const struct notification_line *first = &message->lines[0];
    bool is_one = message->line_count == 1 && message->omitted_count == 0;
    int64_t count = (int64_t)message->line_count + message->omitted_count;
    const struct field FIELDS[] = {
        {"category", is_one ? first->category : "Digest"},
        {"reason", is_one ? first->type : arena_printf(arena, "%" PRId64 " notifications", count)},
        {"type", is_one ? first->type : ""},
        {"workload", is_one ? first->workload_name : ""},
        {"project", is_one ? first->project_name : ""},
    };
    struct buffer text;
    buffer_init(&text, TEXT_MAX);
    for (const char *c = template; *c;) {
        const char *value;
        size_t length = field_at(c, FIELDS, sizeof(FIELDS) / sizeof(FIELDS[0]), &value);
        buffer_append(&text, length ? value : c, length ? strlen(value) : 1);
        c += length ? length : 1;
    }
    const char *subject = message_one_line(text.data ? text.data : "", SUBJECT_MAX, arena);
    buffer_done(&text);
    return subject;
}

const char *message_text(const struct message *message, struct arena *arena)
{
    struct buffer text;
    buffer_init(&text, TEXT_MAX);
    for (size_t i = 0; i < message->line_count; i++) {
        const struct notification_line *line = &message->lines[i];
        char time[TIMESTAMP_SIZE];
        timestamp_format(line->time_ms, time);
        const char *row = arena_printf(arena, "%s  %s: %s\n", time, line->type, line->sentence);
        buffer_append(&text, row, strlen(row));
    }
    if (message->omitted_count > 0) {
        const char *row =
            arena_printf(arena, "and %" PRId64 " more, which the event list has\n", message->omitted_count);
        buffer_append(&text, row, strlen(row));
    }
    const char *copy = arena_strdup(arena, text.data ? text.data : "");
    buffer_done(&text);
    return copy;
}

static void write_line(struct json_writer *json, const struct notification_line *line)
{
    json_begin_object(json);
    json_text(json, "category", line->category);
    json_text(json, "type", line->type);
    json_time(json, "time", line->time_ms);
    json_text(json, "message", line->sentence);
    json_text(json, "projectName", line->project_name);
    json_text(json, "workloadId", line->workload_uuid);
    json_text(json, "workloadName", line->workload_uuid ? line->workload_name : NULL);
    json_end_object(json);
}

const char *message_json(const struct message *message, struct arena *arena)
{
    struct buffer text;
    struct json_writer json;
    buffer_init(&text, TEXT_MAX);
    json_writer_init(&json, &text, false);
    json_begin_object(&json);
    json_text(&json, "id", message->id);
    json_time(&json, "createdAt", message->created_ms);
    json_key(&json, "notifications");
    json_begin_array(&json);
    for (size_t i = 0; i < message->line_count; i++)
        write_line(&json, &message->lines[i]);
    json_end_array(&json);
    json_int(&json, "omitted", message->omitted_count);
    json_end_object(&json);
    const char *copy = arena_strdup(arena, text.data ? text.data : "{}");
    buffer_done(&text);
    return copy;
}
