#include "api/audit/audit.h"

#include "base/arena.h"

#include <string.h>

static bool is_alike(const struct audit_record *a, const struct audit_record *b)
{
    return a->status == b->status && strcmp(a->operation, b->operation) == 0 && strcmp(a->address, b->address) == 0 &&
           strcmp(a->subject, b->subject) == 0 && strcmp(a->subject_type, b->subject_type) == 0;
}

static struct refusal *find_alike(struct audit *audit, const struct audit_record *record)
{
    for (size_t i = 0; i < audit->refusal_count; i++)
        if (is_alike(&audit->refusals[i].record, record))
            return &audit->refusals[i];
    return NULL;
}

// Whether one more kind of try gets a record of its own. Who isn't known takes no room from those who are.
static bool has_room(struct audit *audit, const struct audit_record *record)
{
    int64_t now_ms = record->time_ms;
    bool is_known = record->subject[0] && record->status != 401 && strcmp(record->action, "sign-in") != 0;
    int *count = is_known ? &audit->known_count : &audit->new_count;
    if (now_ms - audit->minute_ms >= REFUSALS_FOLD_MS || now_ms < audit->minute_ms) {
        audit->minute_ms = now_ms;
        audit->new_count = audit->known_count = 0;
    }
    if (audit->refusal_count == REFUSALS_MAX || *count == (is_known ? REFUSALS_KNOWN_MAX : REFUSALS_NEW_MAX))
        return false;
    (*count)++;
    return true;
}

// One after the other in out, and where each begins.
static const char *put(char **out, const char *text)
{
    char *begin = *out;
    *out = stpcpy(begin, text) + 1;
    return begin;
}

static void keep(struct refusal *refusal, const struct audit_record *record, const char *scope_type,
                 const char *scope_id)
{
    *refusal = (struct refusal){.record = *record, .began_ms = record->time_ms};
    size_t size = strlen(scope_type ? scope_type : "") + strlen(scope_id ? scope_id : "") + 2;
#define COLUMN_TEXT(name, member) size += strlen(record->member) + 1;
#define COLUMN_NUMBER(name, member)
#include "db/audit/columns.def"
#undef COLUMN_TEXT
    char *out = refusal->texts = memory_alloc(size);
#define COLUMN_TEXT(name, member) refusal->record.member = put(&out, record->member);
#include "db/audit/columns.def"
#undef COLUMN_TEXT
#undef COLUMN_NUMBER
    refusal->scope_type = scope_type ? put(&out, scope_type) : NULL;
    refusal->scope_id = scope_id ? put(&out, scope_id) : NULL;
}

void audit_refuse(struct audit *audit, const struct audit_record *record, const char *scope_type, const char *scope_id)
{
    pthread_mutex_lock(&audit->lock);
    struct refusal *refusal = find_alike(audit, record);
    if (refusal) {
        refusal->record.count++;
        refusal->record.last_ms = record->time_ms;
    } else if (has_room(audit, record)) {
        keep(&audit->refusals[audit->refusal_count++], record, scope_type, scope_id);
        pthread_cond_signal(&audit->work);
    } else {
        audit->overflow_count++;
    }
    pthread_mutex_unlock(&audit->lock);
}
