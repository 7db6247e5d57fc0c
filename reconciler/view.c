#include "reconciler/view.h"

#include <stdlib.h>

void view_slot_init(struct view_slot *slot)
{
    pthread_mutex_init(&slot->lock, NULL);
    slot->view = NULL;
}

void view_slot_done(struct view_slot *slot)
{
    view_release(slot->view);
    pthread_mutex_destroy(&slot->lock);
}

struct view *view_create(struct world *world)
{
    struct view *view = memory_array(1, sizeof(*view));
    atomic_init(&view->references, 1);
    arena_init(&view->arena);
    view->world = world_acquire(world);
    return view;
}

struct view *view_acquire(struct view_slot *slot)
{
    pthread_mutex_lock(&slot->lock);
    struct view *view = slot->view;
    if (view)
        atomic_fetch_add(&view->references, 1);
    pthread_mutex_unlock(&slot->lock);
    return view;
}

void view_release(struct view *view)
{
    if (!view || atomic_fetch_sub(&view->references, 1) > 1)
        return;
    arena_done(&view->arena);
    world_release(view->world);
    free(view);
}

void view_publish(struct view_slot *slot, struct view *view)
{
    pthread_mutex_lock(&slot->lock);
    struct view *old = slot->view;
    slot->view = view;
    pthread_mutex_unlock(&slot->lock);
    view_release(old);
}

static const struct world *world_of(const struct reconciler_view *view)
{
    return ((const struct view *)view)->world; // its first member
}

int64_t reconciler_view_project_id(const struct reconciler_view *view, uint32_t project)
{
    return world_of(view)->rows.projects[project].id;
}

int64_t reconciler_view_department_id(const struct reconciler_view *view, uint32_t department)
{
    return world_of(view)->rows.departments[department].id;
}

int64_t reconciler_view_node_pool_id(const struct reconciler_view *view, uint32_t node_pool)
{
    return world_of(view)->rows.pools[node_pool].id;
}

int64_t reconciler_view_cluster_id(const struct reconciler_view *view)
{
    return world_of(view)->rows.cluster_id;
}

const char *reconciler_view_cluster_uuid(const struct reconciler_view *view)
{
    const char *uuid = view ? world_of(view)->rows.cluster_uuid : NULL;
    return uuid ? uuid : "";
}
