#include "tests/fakekube/kube.h"
#include "base/timestamp.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Bindings honour the uid from 1.23; 1.25.0 to 1.25.8 and the first of 1.26 lost it.
static bool honours_uid(int minor, int patch)
{
    if (minor == 25)
        return patch >= 9;
    if (minor == 26)
        return patch >= 15;
    return minor >= 23;
}

void kube_set_version(struct kube *kube, const char *version)
{
    int minor = 37, patch = 0;
    if (sscanf(version, "1.%d.%d", &minor, &patch) < 1)
        minor = 37;
    snprintf(kube->version, sizeof(kube->version), "1.%d.%d", minor, patch);
    kube->traits = (struct traits){
        .minor = minor,
        .does_honour_uid = honours_uid(minor, patch),
        .does_honour_gates = minor >= 27,
        .does_copy_zone = minor >= 35,
        .does_stream_lists = minor == 32 || minor >= 34,
        .has_stream_lists = minor >= 27,
        .is_exact_future_a_504 = minor >= 31,
        .has_policy_v1 = minor >= 22,
        .is_old_cache = minor <= 26,
    };
}

bool kube_setting_is(const struct kube *kube, const char *name)
{
    return json_is_true(json_object_get(kube->settings, name));
}

int64_t kube_setting_int(const struct kube *kube, const char *name, int64_t without)
{
    json_t *value = json_object_get(kube->settings, name);
    return json_is_integer(value) ? json_integer_value(value) : without;
}

int64_t kube_now_ms(const struct kube *kube)
{
    return timestamp_now_ms() + kube->clock_ms;
}

const char *kube_time(int64_t time_ms, char out[32])
{
    char full[TIMESTAMP_SIZE];
    timestamp_format(time_ms, full);
    snprintf(out, 32, "%.19sZ", full);
    return out;
}
