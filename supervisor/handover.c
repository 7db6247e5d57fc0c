#include "supervisor/handover.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    enum handover_kind kind;
    size_t min, max;
} KINDS[HANDOVER_KIND_COUNT] = {
    {HANDOVER_VARIABLE, 0, HANDOVER_TEXTS_MAX},
    {HANDOVER_RIGHTS_VARIABLE, 0, HANDOVER_TEXTS_MAX},
    {HANDOVER_COMMAND, 1, HANDOVER_TEXTS_MAX},
    {HANDOVER_BEFORE, 0, HANDOVER_TEXTS_MAX},
    {HANDOVER_PRE_STOP, 0, HANDOVER_TEXTS_MAX},
    {HANDOVER_AFTER, 0, HANDOVER_TEXTS_MAX},
    {HANDOVER_FOLDER, 1, 1},
    {HANDOVER_NEED, 0, HANDOVER_NEEDS_MAX},
    {HANDOVER_KEPT, 0, HANDOVER_KEPT_MAX},
};

// HANDOVER_KIND_COUNT: there is none.
static size_t find_kind(char letter)
{
    size_t at = 0;
    while (at < HANDOVER_KIND_COUNT && (char)KINDS[at].kind != letter)
        at++;
    return at;
}

static bool is_text(const char *text, const char *end, const char *wanted)
{
    return (size_t)(end - text) == strlen(wanted) + 1 && memcmp(text, wanted, strlen(wanted) + 1) == 0;
}

// The end of a text, behind its zero byte; NULL: has none.
static char *end_of(char *text, const char *limit)
{
    char *zero = text < limit ? memchr(text, '\0', (size_t)(limit - text)) : NULL;
    return zero ? zero + 1 : NULL;
}

// How many there are of each kind. False: not whole, or beyond a bound.
static bool count_texts(char *text, const char *limit, struct handover *out)
{
    char *next = end_of(text, limit);
    size_t all = 0;
    if (!next || !is_text(text, next, HANDOVER_BEGIN))
        return false;
    for (text = next; (next = end_of(text, limit)) && next != limit; text = next) {
        size_t kind = find_kind(*text);
        if (kind == HANDOVER_KIND_COUNT || ++all > HANDOVER_TEXTS_MAX || ++out->counts[kind] > KINDS[kind].max)
            return false;
    }
    for (size_t kind = 0; kind < HANDOVER_KIND_COUNT; kind++)
        if (out->counts[kind] < KINDS[kind].min)
            return false;
    return next && is_text(text, next, HANDOVER_END);
}

bool handover_parse(char *text, size_t length, struct handover *out)
{
    struct handover found = {0};
    size_t size = 0, filled[HANDOVER_KIND_COUNT] = {0};
    *out = (struct handover){0};
    if (length > HANDOVER_BYTES_MAX || !count_texts(text, text + length, &found))
        return false;
    for (size_t kind = 0; kind < HANDOVER_KIND_COUNT; kind++) {
        found.starts[kind] = size;
        size += found.counts[kind] + 1;
    }
    found.texts = calloc(size, sizeof(*found.texts));
    if (!found.texts)
        return false;
    const char *limit = text + length - sizeof(HANDOVER_END);
    for (text = end_of(text, limit); text < limit; text = end_of(text, limit)) {
        size_t kind = find_kind(*text);
        found.texts[found.starts[kind] + filled[kind]++] = text + 1;
    }
    *out = found;
    return true;
}

static bool read_all(int fd, char *text, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t length = pread(fd, text + at, size - at, (off_t)at);
        if (length < 0 && errno == EINTR)
            continue;
        if (length <= 0)
            return false;
        at += (size_t)length;
    }
    return true;
}

bool handover_read(int fd, struct handover *out)
{
    static const int SEALS = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW;
    struct stat about;
    int seals = fcntl(fd, F_GET_SEALS);
    *out = (struct handover){0};
    if (seals < 0 || (seals & SEALS) != SEALS || fstat(fd, &about) < 0 || about.st_size <= 0 ||
        about.st_size > HANDOVER_BYTES_MAX)
        return false;
    char *text = malloc((size_t)about.st_size);
    if (!text)
        return false;
    if (!read_all(fd, text, (size_t)about.st_size) || !handover_parse(text, (size_t)about.st_size, out)) {
        free(text);
        return false;
    }
    out->text = text;
    return true;
}

void handover_done(struct handover *handover)
{
    free(handover->text);
    free(handover->texts);
    *handover = (struct handover){0};
}

char *const *handover_list(const struct handover *handover, enum handover_kind kind, size_t *out_count)
{
    size_t at = find_kind((char)kind);
    *out_count = handover->counts[at];
    return handover->texts + handover->starts[at];
}
