#include "model/pod_status.h"

#include <assert.h>
#include <string.h>

static const char *const STATUS_TEXTS[POD_STATUS_COUNT] = {
#define STATUS_TEXT(name, text) [name] = text,
    POD_STATUSES(STATUS_TEXT)
#undef STATUS_TEXT
};

const char *pod_status_text(enum pod_status status)
{
    assert(status < POD_STATUS_COUNT);
    return STATUS_TEXTS[status];
}

enum pod_status pod_status_parse(const char *text)
{
    int status = 0;
    while (status < POD_STATUS_COUNT && strcmp(STATUS_TEXTS[status], text) != 0)
        status++;
    return (enum pod_status)status;
}

bool pod_status_is_placed(enum pod_status status)
{
    return status == POD_STATUS_BINDING || status == POD_STATUS_BOUND || status == POD_STATUS_RUNNING;
}

bool pod_status_holds_place(enum pod_status status)
{
    return pod_status_is_placed(status) || status == POD_STATUS_RELEASING;
}

bool pod_status_is_over(enum pod_status status)
{
    return status == POD_STATUS_SUCCEEDED || status == POD_STATUS_FAILED || status == POD_STATUS_DELETED;
}
