// How many replicas an inference should have: a row is a course of readings, a second apart, and where it leads.
#include "model/serving.h"
#include "reconciler/serving/autoscale.h"
#include "tests/support/check.h"

#include <string.h>

enum {
    INTERVAL_MS = 1000,
    STEPS = 40,
    T0_MS = 1700000000
};

#define NO_LOAD (-1.0)

struct course {
    const char *name;
    int64_t min, max, delay_ms, begin;
    // Loads in turn, each so many times; NO_LOAD: no replica shows the metric. They end with no times.
    struct {
        double load;
        int times;
    } loads[5];
    int64_t want;
    int want_changes;
};

// The target is 10 for one replica.
static const struct course COURSES[] = {
    {"nothing measured: the number stays", 1, 9, 0, 3, {{NO_LOAD, 30}}, 3, 0},
    {"a load at the target changes nothing", 1, 9, 0, 2, {{20, 30}}, 2, 0},
    {"a little more asks for one more", 1, 9, 0, 2, {{21, 30}}, 3, 1},
    {"two readings are too few", 1, 9, 0, 2, {{90, 2}}, 2, 0},
    {"three will do, for twice as many", 1, 9, 0, 2, {{90, 3}}, 4, 1},
    {"it rests between its steps", 1, 9, 0, 1, {{90, 5}}, 2, 1},
    {"step by step to the maximum, not beyond", 1, 9, 0, 1, {{900, 20}}, 9, 4},
    {"a load that is no number a replica can have", 1, 9, 0, 1, {{1e300, 20}}, 9, 4},
    {"less load is not believed before the window is over", 1, 9, 0, 4, {{10, 12}}, 4, 0},
    {"after it half of them go at most", 1, 9, 0, 4, {{10, 13}}, 2, 1},
    {"a peak within the window keeps them", 1, 9, 0, 4, {{10, 9}, {40, 3}, {10, 9}}, 4, 0},
    {"down to the minimum, not below", 2, 9, 0, 8, {{0, 40}}, 2, 2},
    {"no load leaves the last one", 1, 9, 0, 2, {{0, 40}}, 1, 1},
    {"nor does none at all end it where none is allowed", 0, 9, 0, 2, {{0, 40}}, 1, 1},
    {"scaleDownDelaySeconds makes the window longer", 1, 9, 30000, 4, {{10, 30}}, 4, 0},
    {"and then it is over, too", 1, 9, 20000, 4, {{10, 22}}, 2, 1},
    {"readings that are missed begin the window again", 1, 9, 0, 4, {{10, 9}, {NO_LOAD, 1}, {10, 9}}, 4, 0},
    {"bounds that moved up are kept at once", 3, 9, 0, 1, {{NO_LOAD, 1}}, 3, 1},
    {"bounds that moved down, too", 1, 2, 0, 5, {{90, 1}}, 2, 1},
};

static void run_course(const struct course *course)
{
    struct serving serving = {.min_replicas = course->min,
                              .max_replicas = course->max,
                              .activation_replicas = 1,
                              .metric = "concurrency",
                              .target = 10,
                              .scale_down_delay_ms = course->delay_ms};
    struct autoscale_memory memory = {0};
    int64_t replicas = course->begin, now_ms = T0_MS;
    int changes = 0;
    for (size_t i = 0; i < COUNT(course->loads) && course->loads[i].times; i++)
        for (int k = 0; k < course->loads[i].times; k++, now_ms += INTERVAL_MS) {
            double load = course->loads[i].load;
            struct autoscale_reading reading = {
                .has_load = load >= 0, .load = load, .interval_ms = INTERVAL_MS, .now_ms = now_ms};
            struct autoscale_answer answer = autoscale_decide(&serving, &memory, replicas, &reading);
            changes += answer.replicas != replicas;
            check_true(answer.replicas >= course->min && answer.replicas <= course->max, "%s: bounds", course->name);
            check_int(answer.replicas != replicas, answer.cause != AUTOSCALE_NONE, "%s: a cause", course->name);
            replicas = answer.replicas;
        }
    check_int(replicas, course->want, "%s", course->name);
    check_int(changes, course->want_changes, "%s: changes", course->name);
}

static void check_zero(void)
{
    struct serving serving = {.min_replicas = 0, .max_replicas = 4, .activation_replicas = 2};
    struct autoscale_memory memory = {0};
    struct autoscale_reading quiet = {.is_idle = true, .interval_ms = INTERVAL_MS, .now_ms = T0_MS};
    struct autoscale_reading called = {.has_caller = true, .interval_ms = INTERVAL_MS, .now_ms = T0_MS + 1};
    check_int(autoscale_decide(&serving, &memory, 3, &quiet).replicas, 0, "nobody calls: none is left");
    check_int(autoscale_decide(&serving, &memory, 0, &quiet).replicas, 0, "nobody calls: none comes");
    check_int(autoscale_decide(&serving, &memory, 0, &called).replicas, 2, "the first caller gets activationReplicas");
    serving.min_replicas = 1;
    check_int(autoscale_decide(&serving, &memory, 3, &quiet).replicas, 3, "a minimum of one is no matter of callers");
}

static void check_clock_set_back(void)
{
    struct serving serving = {.min_replicas = 1, .max_replicas = 4, .metric = "latency", .target = 10};
    struct autoscale_memory memory = {0};
    struct autoscale_reading reading = {.has_load = true, .load = 80, .interval_ms = INTERVAL_MS, .now_ms = T0_MS};
    int64_t replicas = 1;
    for (int i = 0; i < STEPS; i++) {
        replicas = autoscale_decide(&serving, &memory, replicas, &reading).replicas;
        reading.now_ms -= INTERVAL_MS;
    }
    check_int(replicas, 4, "a clock that goes back holds nothing up");
}

int main(void)
{
    for (size_t i = 0; i < COUNT(COURSES); i++)
        run_course(&COURSES[i]);
    check_zero();
    check_clock_set_back();
    return check_finish();
}
