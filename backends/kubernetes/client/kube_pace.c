#include "backends/kubernetes/client/kube_pace.h"

#include <math.h>

static const double ROOM_MOST = 32, RATE_LEAST = 5, RECOVERY = 1.1;

void kube_pace_init(struct kube_pace *pace, double per_second, int64_t now_us)
{
    *pace = (struct kube_pace){.most = per_second, .rate = per_second, .room = ROOM_MOST, .at_us = now_us};
}

static void pass_time(struct kube_pace *pace, int64_t now_us)
{
    double seconds = (double)(now_us - pace->at_us) / 1e6;
    if (seconds <= 0)
        return;
    pace->at_us = now_us;
    pace->room = fmin(pace->room + seconds * pace->rate, fmin(ROOM_MOST, fmax(1, pace->rate / 4)));
    pace->rate = fmin(pace->rate * pow(RECOVERY, seconds), pace->most);
}

bool kube_pace_take(struct kube_pace *pace, int64_t now_us)
{
    pass_time(pace, now_us);
    if (pace->room < 1)
        return false;
    pace->room -= 1;
    return true;
}

int64_t kube_pace_wait_ms(const struct kube_pace *pace)
{
    return pace->room >= 1 ? 0 : (int64_t)ceil((1 - pace->room) / pace->rate * 1000);
}

void kube_pace_slow(struct kube_pace *pace, int64_t now_us)
{
    pass_time(pace, now_us);
    if (pace->slowed_us && now_us - pace->slowed_us < 1000000)
        return;
    pace->slowed_us = now_us;
    pace->rate = fmax(pace->rate / 2, fmin(RATE_LEAST, pace->most));
    pace->room = 0;
}
