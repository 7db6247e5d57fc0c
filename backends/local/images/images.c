#include "backends/local/images/images.h"

#include "backends/local/images/image_files.h"
#include "backends/local/images/program.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/log.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    LOOK_AGAIN_S = 60, // at the runtimes, where none answered
    INSPECT_MS = 30 * 1000,
    PULL_MS = 60 * 60 * 1000,
    OUTPUT_MAX = 8192,
    STACK_BYTES = 256 * 1024,
    IMAGES_MODE = 0711
};

// One image that is asked for, and the pods that wait for the answer.
struct job {
    struct images *images;
    struct job *next;
    pthread_t thread;
    bool is_done;
    char image[512];
    enum image_pull pull;
    char (*pods)[UUID_SIZE];
    size_t pod_count, pod_capacity;
};

struct images {
    enum image_policy policy;
    char *folder;
    int64_t bytes_max;
    image_answer_fn fn;
    void *context;
    pthread_mutex_t look_lock; // of who looks at the runtimes
    pthread_mutex_t lock;      // of all below
    struct job *jobs;
    int cancel_fd;
    bool has_looked;
    int64_t looked_s; // monotonic
    struct arena arena;
    struct runtime runtimes[RUNTIME_KIND_COUNT];
};

static int64_t monotonic_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

struct images *images_create(enum image_policy policy, const char *folder, int64_t bytes_max, image_answer_fn fn,
                             void *context)
{
    struct images *images = memory_array(1, sizeof(*images));
    images->policy = policy;
    images->folder = memory_strdup(folder);
    images->bytes_max = bytes_max;
    images->fn = fn;
    images->context = context;
    images->cancel_fd = eventfd(0, EFD_CLOEXEC);
    pthread_mutex_init(&images->lock, NULL);
    pthread_mutex_init(&images->look_lock, NULL);
    arena_init(&images->arena);
    return images;
}

static void free_job(struct job *job)
{
    pthread_join(job->thread, NULL);
    free(job->pods);
    free(job);
}

void images_destroy(struct images *images)
{
    uint64_t one = 1;
    if (!images)
        return;
    (void)!write(images->cancel_fd, &one, sizeof(one)); // stays readable: every program under way ends
    for (struct job *job = images->jobs, *next; job; job = next) {
        next = job->next;
        free_job(job);
    }
    close(images->cancel_fd);
    arena_done(&images->arena);
    pthread_mutex_destroy(&images->lock);
    pthread_mutex_destroy(&images->look_lock);
    free(images->folder);
    free(images);
}

// The last thing a program said, for people.
static void keep_words(const struct buffer *out, char why[128], const char *what)
{
    const char *text = out->data ? out->data : "";
    size_t length = out->length;
    while (length > 0 && text[length - 1] == '\n')
        length--;
    size_t start = length;
    while (start > 0 && text[start - 1] != '\n')
        start--;
    snprintf(why, 128, "%s%s%.*s", what, length > start ? ": " : "", (int)(length - start), text + start);
}

static bool run(struct images *images, const char *const *argv, int timeout_ms, const char *what, char why[128])
{
    struct buffer out;
    buffer_init(&out, OUTPUT_MAX);
    bool is_good = program_run(argv, timeout_ms, images->cancel_fd, &out) == 0;
    if (!is_good)
        keep_words(&out, why, what);
    buffer_done(&out);
    return is_good;
}

// A runtime that answers; asks them again if none answered a while ago. NULL: *why says so.
static bool choose_runtime(struct images *images, struct runtime *out, char why[128])
{
    struct runtime found[RUNTIME_KIND_COUNT];
    pthread_mutex_lock(&images->look_lock);
    pthread_mutex_lock(&images->lock);
    bool is_old =
        !images->has_looked || (!runtimes_choose(images->runtimes) && monotonic_s() - images->looked_s >= LOOK_AGAIN_S);
    pthread_mutex_unlock(&images->lock);
    if (is_old) // none answered before, so nobody has kept a text of the arena's
        runtimes_look(images->cancel_fd, &images->arena, found);
    pthread_mutex_lock(&images->lock);
    if (is_old) {
        memcpy(images->runtimes, found, sizeof(found));
        images->has_looked = true;
        images->looked_s = monotonic_s();
    }
    const struct runtime *chosen = runtimes_choose(images->runtimes);
    if (chosen)
        *out = *chosen;
    else
        snprintf(why, 128, "no container runtime answers");
    pthread_mutex_unlock(&images->lock);
    pthread_mutex_unlock(&images->look_lock);
    return chosen != NULL;
}

// An image that is a file is there; one of a registry becomes a file, named by all but its slashes.
static bool find_file(struct images *images, const struct job *job, const struct runtime *runtime,
                      struct image_answer *answer)
{
    char part[600], source[600];
    if (job->image[0] == '/') {
        snprintf(answer->image, sizeof(answer->image), "%s", job->image);
        if (access(answer->image, R_OK) == 0)
            return true;
        snprintf(answer->why, sizeof(answer->why), "the file cannot be read");
        return false;
    }
    size_t at = (size_t)snprintf(answer->image, sizeof(answer->image), "%s/", images->folder);
    for (const char *c = job->image; *c && at + 5 < sizeof(answer->image); c++)
        answer->image[at++] = *c == '/' || *c == ':' || *c == '@' ? '_' : *c;
    snprintf(answer->image + at, sizeof(answer->image) - at, ".sif");
    image_files_use(answer->image);
    if (job->pull != IMAGE_PULL_ALWAYS && access(answer->image, R_OK) == 0)
        return true;
    if (job->pull == IMAGE_PULL_NEVER) {
        snprintf(answer->why, sizeof(answer->why), "the image is not there, and is never to be pulled");
        return false;
    }
    (void)mkdir(images->folder, IMAGES_MODE);
    snprintf(part, sizeof(part), "%s.part", answer->image);
    snprintf(source, sizeof(source), "docker://%s", job->image);
    const char *const pull[] = {runtime->path, "pull", "--force", part, source, NULL};
    if (run(images, pull, PULL_MS, "the image cannot be pulled", answer->why)) {
        bool is_there = chmod(part, 0644) == 0 && rename(part, answer->image) == 0;
        image_files_use(answer->image);
        image_files_trim(images->folder, images->bytes_max);
        return is_there;
    }
    (void)unlink(part);
    return access(answer->image, R_OK) == 0;
}

static bool find_image(struct images *images, const struct job *job, const struct runtime *runtime,
                       struct image_answer *answer)
{
    char ignored[128];
    const char *const look[] = {runtime->path, "image", "inspect", "--format", "{{.Id}}", job->image, NULL};
    const char *const pull[] = {runtime->path, "pull", "--quiet", job->image, NULL};
    snprintf(answer->image, sizeof(answer->image), "%s", job->image);
    if (runtime->kind == RUNTIME_APPTAINER)
        return find_file(images, job, runtime, answer);
    if (job->pull != IMAGE_PULL_ALWAYS && run(images, look, INSPECT_MS, "", ignored))
        return true;
    if (job->pull == IMAGE_PULL_NEVER) {
        snprintf(answer->why, sizeof(answer->why), "the image is not there, and is never to be pulled");
        return false;
    }
    if (run(images, pull, PULL_MS, "the image cannot be pulled", answer->why))
        return true;
    return job->pull == IMAGE_PULL_ALWAYS && run(images, look, INSPECT_MS, "", ignored); // the one that is there
}

static void answer_job(struct images *images, const struct job *job, struct image_answer *answer)
{
    struct runtime runtime = {0};
    *answer = (struct image_answer){0};
    if (!choose_runtime(images, &runtime, answer->why))
        return;
    answer->runtime = runtime.kind;
    snprintf(answer->runtime_path, sizeof(answer->runtime_path), "%s", runtime.path);
    answer->is_usable = find_image(images, job, &runtime, answer);
    if (!answer->is_usable)
        log_write(LOG_WARN, "backends", "image %.200s is not used: %s", job->image, answer->why);
}

static void *run_job(void *context)
{
    struct job *job = context;
    struct images *images = job->images;
    struct image_answer answer;
    answer_job(images, job, &answer);
    pthread_mutex_lock(&images->lock);
    job->is_done = true; // nobody is added any more
    pthread_mutex_unlock(&images->lock);
    for (size_t i = 0; i < job->pod_count; i++)
        images->fn(images->context, job->pods[i], &answer);
    return NULL;
}

// Frees the jobs that have answered, and finds the one under way for this image.
static struct job *sweep(struct images *images, const char *image, enum image_pull pull)
{
    struct job *found = NULL;
    for (struct job **at = &images->jobs; *at;) {
        struct job *job = *at;
        if (job->is_done && pthread_tryjoin_np(job->thread, NULL) == 0) {
            *at = job->next;
            free(job->pods);
            free(job);
            continue;
        }
        if (!job->is_done && job->pull == pull && strcmp(job->image, image) == 0)
            found = job;
        at = &job->next;
    }
    return found;
}

static void add_pod(struct job *job, const char *pod_uuid)
{
    if (job->pod_count == job->pod_capacity) {
        job->pod_capacity = job->pod_capacity ? 2 * job->pod_capacity : 4;
        job->pods = memory_realloc(job->pods, job->pod_capacity * sizeof(*job->pods));
    }
    snprintf(job->pods[job->pod_count++], UUID_SIZE, "%s", pod_uuid);
}

// Without the runtimes being asked: is there an answer?
static bool is_known(struct images *images, const char *image, struct image_answer *answer)
{
    *answer = (struct image_answer){0};
    if (images->policy == IMAGES_IGNORE)
        return true;
    if (!image || image[0] == '-' || strlen(image) >= sizeof(((struct job *)0)->image)) {
        snprintf(answer->why, sizeof(answer->why), "no image is named");
        return true;
    }
    char path[256];
    bool has_any = false;
    pthread_mutex_lock(&images->lock);
    bool is_fresh = images->has_looked && monotonic_s() - images->looked_s < LOOK_AGAIN_S;
    bool is_none = is_fresh && !runtimes_choose(images->runtimes);
    pthread_mutex_unlock(&images->lock);
    if (!is_fresh)
        has_any = program_find("podman", path, sizeof(path)) || program_find("docker", path, sizeof(path)) ||
                  program_find("apptainer", path, sizeof(path));
    if (is_none || (!is_fresh && !has_any))
        snprintf(answer->why, sizeof(answer->why), "no container runtime answers");
    return is_none || (!is_fresh && !has_any);
}

// Starts the job's thread. False: there is none to be had.
static bool start_job(struct images *images, struct job *job)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    bool is_started = pthread_create(&job->thread, &attributes, run_job, job) == 0;
    pthread_attr_destroy(&attributes);
    job->next = is_started ? images->jobs : NULL;
    if (is_started)
        images->jobs = job;
    return is_started;
}

bool images_ask(struct images *images, const char *pod_uuid, const char *image, enum image_pull pull,
                struct image_answer *out_answer)
{
    if (is_known(images, image, out_answer))
        return true;
    pthread_mutex_lock(&images->lock); // a new job answers after this
    struct job *job = sweep(images, image, pull);
    if (job) {
        add_pod(job, pod_uuid);
        pthread_mutex_unlock(&images->lock);
        return false;
    }
    job = memory_array(1, sizeof(*job));
    job->images = images;
    job->pull = pull;
    snprintf(job->image, sizeof(job->image), "%s", image);
    add_pod(job, pod_uuid);
    bool is_started = start_job(images, job);
    pthread_mutex_unlock(&images->lock);
    if (is_started)
        return false;
    snprintf(out_answer->why, sizeof(out_answer->why), "there is no thread to ask with");
    free(job->pods);
    free(job);
    return true;
}
