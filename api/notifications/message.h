// What a delivery says: its lines as text for people and as JSON for programs.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct arena;
struct notification_line;
struct notification_source;
struct over_quota;

struct message {
    const char *id; // the delivery's uuid
    const struct notification_line *lines;
    size_t line_count;
    int64_t omitted_count;
    int64_t created_ms;
};

// Without what could end a line, no longer than that, and cut between characters; the arena's.
const char *message_one_line(const char *text, size_t most, struct arena *arena);
// The sentence about a source, without the names of what belongs to others; one line, the arena's.
const char *message_sentence(const struct notification_source *source, struct arena *arena);
const char *message_over_quota(const struct over_quota *project, struct arena *arena);

// A template with {{ .category }}, {{ .reason }}, {{ .workload }} and {{ .project }} filled in; of several lines it
// says how many. One line of UTF-8, the arena's.
const char *message_subject(const struct message *message, const char *template, struct arena *arena);
// A line each, ended by "\n".
const char *message_text(const struct message *message, struct arena *arena);
// {"id", "createdAt", "notifications": [...], "omitted"}.
const char *message_json(const struct message *message, struct arena *arena);
