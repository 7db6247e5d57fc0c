#include "api/lists/findings.h"
#include "api/lists/visibility.h"

#include <string.h>

static void show_as(json_t *object, const char *key, const char *shown)
{
    if (shown && shown != json_string_value(json_object_get(object, key)))
        json_object_set_new(object, key, json_string(shown));
}

void findings_show_sentence(const struct visibility *visibility, json_t *object, const char *key)
{
    show_as(object, key, visibility_sentence(visibility, json_string_value(json_object_get(object, key))));
}

static void show_name(const struct visibility *visibility, json_t *object, const char *key, enum told_kind kind)
{
    show_as(object, key, visibility_name(visibility, kind, json_string_value(json_object_get(object, key))));
}

static enum told_kind kind_of(const json_t *queue)
{
    const char *kind = json_string_value(json_object_get(queue, "kind"));
    return kind && strcmp(kind, "department") == 0 ? TOLD_DEPARTMENT : TOLD_PROJECT;
}

void findings_show(const struct visibility *visibility, json_t *findings)
{
    size_t i, k;
    json_t *finding, *holder;
    json_array_foreach(findings, i, finding) {
        json_t *queue = json_object_get(finding, "queue");
        findings_show_sentence(visibility, finding, "message");
        show_name(visibility, queue, "name", kind_of(queue));
        json_array_foreach(json_object_get(finding, "reclaim"), k, holder) {
            show_name(visibility, holder, "project", TOLD_PROJECT);
            show_name(visibility, holder, "department", TOLD_DEPARTMENT);
            findings_show_sentence(visibility, holder, "sentence");
        }
    }
}
