#include "backends/local/local_state.h"
#include "backends/local/machine_use.h"
#include "backends/local/pods/pod_use.h"
#include "base/condition.h"
#include "base/timestamp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    STACK_BYTES = 256 * 1024,
    INTERVAL_MS = 5000,
    FIRST_MS = 1000,       // between the two looks at a new pod
    CHANGE_PARTS = 20,     // a change of a twentieth is told,
    CHANGE_CPU_MILLI = 10, // and of so much
    MILLI = 1000,
    MACHINE_ROUNDS = 3,       // the machine itself is looked at in each third round,
    MACHINE_CHANGE_PARTS = 50 // and of it a change of so much of all that it has is told, too
};
static const int64_t CHANGE_MEMORY_BYTES = 4 << 20;

struct loads {
    pthread_t thread;
    pthread_mutex_t lock; // of what follows
    pthread_cond_t wake;
    bool is_stopping;
    size_t rounds;             // the thread's alone, as what follows
    struct local_load machine; // what all that runs on this machine uses
};

// A pod at one look.
struct look {
    char uuid[UUID_SIZE];
    pid_t supervisor;
    const char *runtime; // has the pod in a container, in cgroups of its own; "": none has
    struct container_keeper keeper;
    struct pod_use use;
};

static bool is_measurable(const struct local_pod *pod)
{
    return pod->phase == LOCAL_RUNNING && !pod->is_stray;
}

static size_t list_pods(struct local *local, struct arena *arena, struct look **out_looks)
{
    size_t count = 0;
    pthread_mutex_lock(&local->lock);
    struct look *looks = arena_array(arena, local->pods.count, sizeof(*looks));
    for (const struct local_pod *pod = NULL; (pod = local_pods_next(&local->pods, pod));) {
        if (!is_measurable(pod))
            continue;
        looks[count].supervisor = pod->supervisor;
        looks[count].runtime = pod->runtime[0] ? arena_strdup(arena, pod->runtime) : "";
        looks[count].keeper = pod->keeper;
        memcpy(looks[count++].uuid, pod->uuid, UUID_SIZE);
    }
    pthread_mutex_unlock(&local->lock);
    *out_looks = looks;
    return count;
}

// Below whom its processes are; 0: nobody knows.
static pid_t root_of(struct look *look)
{
    if (!look->runtime[0])
        return look->supervisor > 0 ? look->supervisor : 0;
    return container_keeper_find(&look->keeper, look->runtime, look->uuid) ? look->keeper.pid : 0;
}

// Their cgroups; then, of what these do not tell, their processes. The runtime's client alone is in the cgroup of a pod
// that runs in a container.
static void look_at(const struct local *local, struct look *looks, size_t count, struct arena *arena)
{
    pid_t *roots = arena_array(arena, count, sizeof(*roots));
    struct look **of = arena_array(arena, count, sizeof(struct look *));
    size_t missing = 0;
    for (size_t i = 0; i < count; i++) {
        looks[i].use = (struct pod_use){-1, -1};
        if (!looks[i].runtime[0])
            pod_use_read_cgroups(&local->cgroups, looks[i].uuid, &looks[i].use);
        if (looks[i].use.cpu_us >= 0 && looks[i].use.memory_bytes >= 0)
            continue;
        of[missing] = &looks[i];
        roots[missing] = root_of(&looks[i]);
        missing += roots[missing] > 0;
    }
    if (!missing)
        return;
    struct pod_use *uses = arena_array(arena, missing, sizeof(*uses));
    pod_use_read_processes(roots, missing, arena, uses);
    for (size_t i = 0; i < missing; i++) {
        struct pod_use *use = &of[i]->use;
        use->cpu_us = use->cpu_us < 0 ? uses[i].cpu_us : use->cpu_us;
        use->memory_bytes = use->memory_bytes < 0 ? uses[i].memory_bytes : use->memory_bytes;
    }
}

static bool is_change(int64_t told, int64_t now, int64_t least)
{
    int64_t change = llabs(now - told);
    return told < 0 || (change > 0 && (now == 0 || (change >= least && change >= told / CHANGE_PARTS)));
}

enum news {
    NEWS_FIRST, // it was the first look: cores follow from two
    NEWS_NONE,
    NEWS_CHANGE // to be told; it counts as told then
};

static enum news compare(struct local_load *load, const struct pod_use *use, int64_t now_us,
                         const struct local_load *least)
{
    int64_t spent_us = now_us - load->looked_us, used_us = use->cpu_us - load->cpu_us;
    bool is_first = load->looked_us == 0 || used_us < 0 || spent_us <= 0;
    load->looked_us = now_us;
    load->cpu_us = use->cpu_us;
    if (is_first)
        return NEWS_FIRST;
    int64_t cpu_milli = (used_us * MILLI + spent_us / 2) / spent_us;
    if (!is_change(load->cpu_milli, cpu_milli, least->cpu_milli) &&
        !is_change(load->memory_bytes, use->memory_bytes, least->memory_bytes))
        return NEWS_NONE;
    load->cpu_milli = cpu_milli;
    load->memory_bytes = use->memory_bytes;
    return NEWS_CHANGE;
}

static void tell(struct backend_fact *fact, const struct local_load *load)
{
    fact->cpu_milli = load->cpu_milli;
    fact->memory_bytes = load->memory_bytes;
}

// False: it was the first.
static bool take_look(struct local *local, struct local_pod *pod, const struct look *look, int64_t now_us)
{
    const struct local_load least = {.cpu_milli = CHANGE_CPU_MILLI, .memory_bytes = CHANGE_MEMORY_BYTES};
    enum news news = compare(&pod->load, &look->use, now_us, &least);
    if (news == NEWS_CHANGE)
        tell(report_fact(local, BACKEND_POD_LOAD, pod->uuid, pod->decision, timestamp_now_ms()), &pod->load);
    return news != NEWS_FIRST;
}

// The same of the machine.
static bool look_at_machine(struct local *local, struct arena *arena)
{
    struct loads *loads = local->loads;
    struct local_load *load = &loads->machine;
    const struct local_load least = {.cpu_milli = sysconf(_SC_NPROCESSORS_ONLN) * MILLI / MACHINE_CHANGE_PARTS,
                                     .memory_bytes = local->options.memory_bytes / MACHINE_CHANGE_PARTS};
    struct pod_use use;
    if (loads->rounds++ % MACHINE_ROUNDS && load->cpu_milli >= 0)
        return true;
    machine_use_read(arena, &use);
    if (use.cpu_us < 0 || use.memory_bytes < 0)
        return true;
    pthread_mutex_lock(&local->lock);
    enum news news = compare(load, &use, timestamp_monotonic_us(), &least);
    if (news == NEWS_CHANGE) {
        struct backend_fact *fact = report_fact(local, BACKEND_NODE_LOAD, "", 0, timestamp_now_ms());
        snprintf(fact->node_name, sizeof(fact->node_name), "%s", local->options.node_name);
        tell(fact, load);
    }
    pthread_mutex_unlock(&local->lock);
    return news != NEWS_FIRST;
}

// False: some pod is to be looked at again soon.
static bool take_looks(struct local *local, const struct look *looks, size_t count)
{
    bool is_known = true;
    int64_t now_us = timestamp_monotonic_us();
    pthread_mutex_lock(&local->lock);
    for (size_t i = 0; i < count; i++) {
        struct local_pod *pod = local_pods_find(&local->pods, looks[i].uuid);
        if (!pod || !is_measurable(pod))
            continue;
        pod->keeper = looks[i].keeper;
        if (looks[i].use.cpu_us >= 0 && looks[i].use.memory_bytes >= 0)
            is_known &= take_look(local, pod, &looks[i], now_us);
    }
    bool any = local->facts.count > 0;
    pthread_mutex_unlock(&local->lock);
    if (any)
        local->wake(local->wake_context);
    return is_known;
}

static void *loads_main(void *context)
{
    struct local *local = context;
    struct loads *loads = local->loads;
    struct arena arena;
    arena_init(&arena);
    pthread_mutex_lock(&loads->lock);
    while (!loads->is_stopping) {
        pthread_mutex_unlock(&loads->lock);
        struct look *looks;
        size_t count = list_pods(local, &arena, &looks);
        look_at(local, looks, count, &arena);
        bool is_known = look_at_machine(local, &arena);
        is_known &= take_looks(local, looks, count);
        arena_clear(&arena);
        pthread_mutex_lock(&loads->lock);
        struct timespec until = condition_after(is_known ? INTERVAL_MS : FIRST_MS);
        while (!loads->is_stopping && pthread_cond_timedwait(&loads->wake, &loads->lock, &until) == 0) {
        }
    }
    pthread_mutex_unlock(&loads->lock);
    arena_done(&arena);
    return NULL;
}

bool loads_start(struct local *local)
{
    pthread_attr_t attributes;
    struct loads *loads = memory_array(1, sizeof(*loads));
    loads->machine = (struct local_load){.cpu_milli = -1, .memory_bytes = -1};
    pthread_mutex_init(&loads->lock, NULL);
    condition_init(&loads->wake);
    local->loads = loads;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    int rc = pthread_create(&loads->thread, &attributes, loads_main, local);
    pthread_attr_destroy(&attributes);
    if (rc == 0)
        return true;
    free(loads);
    local->loads = NULL;
    return false;
}

void loads_stop(struct local *local)
{
    struct loads *loads = local->loads;
    if (!loads)
        return;
    pthread_mutex_lock(&loads->lock);
    loads->is_stopping = true;
    pthread_cond_signal(&loads->wake);
    pthread_mutex_unlock(&loads->lock);
    pthread_join(loads->thread, NULL);
    pthread_cond_destroy(&loads->wake);
    pthread_mutex_destroy(&loads->lock);
    free(loads);
    local->loads = NULL;
}
