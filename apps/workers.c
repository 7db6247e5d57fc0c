#include "apps/workers.h"

#include "base/arena.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    WORKERS = 4
};

struct queue {
    struct job *first, *last;
};

struct workers {
    struct apps_rights rights;
    int done_fd, thread_count;
    pthread_t threads[WORKERS];
    pthread_mutex_t lock;
    pthread_cond_t has_more;
    struct queue asked, done;
    bool is_over;
};

static void push(struct queue *queue, struct job *job)
{
    job->next = NULL;
    if (queue->last)
        queue->last->next = job;
    else
        queue->first = job;
    queue->last = job;
}

static struct job *pop(struct queue *queue)
{
    struct job *job = queue->first;
    if (job && !(queue->first = job->next))
        queue->last = NULL;
    return job;
}

static void do_job(const struct workers *workers, struct job *job)
{
    const struct apps_rights *rights = &workers->rights;
    if (job->link)
        (void)rights->open(rights->context, &job->pass, &job->fd, &job->err);
    else
        (void)rights->check(rights->context, &job->pass, &job->err);
}

static void *work(void *context)
{
    struct workers *workers = context;
    pthread_mutex_lock(&workers->lock);
    while (!workers->is_over) {
        struct job *job = pop(&workers->asked);
        if (!job) {
            pthread_cond_wait(&workers->has_more, &workers->lock);
            continue;
        }
        pthread_mutex_unlock(&workers->lock);
        do_job(workers, job);
        pthread_mutex_lock(&workers->lock);
        push(&workers->done, job);
        if (eventfd_write(workers->done_fd, 1) < 0)
            abort(); // our own mistake
    }
    pthread_mutex_unlock(&workers->lock);
    return NULL;
}

int workers_start(const struct apps_rights *rights, int done_fd, struct workers **out_workers, struct error *err)
{
    struct workers *workers = memory_array(1, sizeof(*workers));
    workers->rights = *rights;
    workers->done_fd = done_fd;
    pthread_mutex_init(&workers->lock, NULL);
    pthread_cond_init(&workers->has_more, NULL);
    for (; workers->thread_count < WORKERS; workers->thread_count++) {
        int rc = pthread_create(&workers->threads[workers->thread_count], NULL, work, workers);
        if (rc != 0) {
            workers_stop(workers);
            return error_set(err, ERROR_INTERNAL, "cannot start a thread: %s", strerror(rc));
        }
    }
    *out_workers = workers;
    return 0;
}

static void empty(struct queue *queue)
{
    struct job *job;
    while ((job = pop(queue))) {
        if (job->fd >= 0)
            close(job->fd);
        free(job);
    }
}

void workers_stop(struct workers *workers)
{
    if (!workers)
        return;
    pthread_mutex_lock(&workers->lock);
    workers->is_over = true;
    pthread_cond_broadcast(&workers->has_more);
    pthread_mutex_unlock(&workers->lock);
    for (int i = 0; i < workers->thread_count; i++)
        pthread_join(workers->threads[i], NULL);
    empty(&workers->asked);
    empty(&workers->done);
    pthread_cond_destroy(&workers->has_more);
    pthread_mutex_destroy(&workers->lock);
    free(workers);
}

void workers_give(struct workers *workers, const struct job *job)
{
    struct job *copy = memory_array(1, sizeof(*copy));
    *copy = *job;
    copy->fd = -1;
    pthread_mutex_lock(&workers->lock);
    push(&workers->asked, copy);
    pthread_cond_signal(&workers->has_more);
    pthread_mutex_unlock(&workers->lock);
}

struct job *workers_take(struct workers *workers)
{
    pthread_mutex_lock(&workers->lock);
    struct job *job = pop(&workers->done);
    pthread_mutex_unlock(&workers->lock);
    return job;
}
