#include "backends/kubernetes/streams/kube_channels.h"

#include "backends/kubernetes/client/kube_answer.h"
#include "base/json_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STATUS_MAX = 255
};

static int exit_status_of(const struct kube_status *status)
{
    for (int i = 0; i < status->cause_count; i++)
        if (strcmp(status->causes[i].reason, "ExitCode") == 0) {
            long code = strtol(status->causes[i].message, NULL, 10);
            return code > 0 && code <= STATUS_MAX ? (int)code : STATUS_MAX;
        }
    return -1;
}

const char *kube_channel_read_end(const char *data, size_t length, char out[KUBE_END_SIZE])
{
    json_t *object = NULL;
    struct kube_status status = {0};
    if (json_reader_parse(data, length, &object, NULL) < 0 || !json_is_object(object)) {
        json_decref(object);
        snprintf(out, KUBE_END_SIZE, "%d the cluster does not say how it ended", KUBE_BROKEN_OFF);
        return out;
    }
    const char *word = json_string_value(json_object_get(object, "status"));
    kube_status_read(object, &status);
    int code = word && strcmp(word, "Success") == 0 ? 0 : exit_status_of(&status);
    json_decref(object);
    if (code >= 0)
        snprintf(out, KUBE_END_SIZE, "%d ", code);
    else
        snprintf(out, KUBE_END_SIZE, "%d %.120s", KUBE_NO_SUCH_COMMAND, status.message);
    for (char *at = out; *at; at++)
        *at = (unsigned char)*at < ' ' ? ' ' : *at;
    return out;
}
