#include "api/notifications/collector.h"

#include "api/notifications/audience.h"
#include "api/notifications/channel_config.h"
#include "api/notifications/message.h"
#include "api/notifications/types.h"
#include "base/arena.h"
#include "base/error.h"
#include "db/db.h"
#include "db/notifications/channels.h"
#include "db/notifications/subscriptions.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DAY_MS INT64_C(86400000)

// A channel of a subscription: whom it tells.
struct target {
    const char *name;
    bool is_direct, is_shared;
};

struct wish {
    const struct subscription *subscription;
    uint64_t types;
    uint32_t channels; // a bit each of the step's targets
};

struct step {
    struct collector *collector;
    struct db_conn *conn;
    struct arena *arena;
    int64_t now_ms;
    struct target targets[NOTIFICATION_CHANNELS_MAX];
    size_t target_count;
    struct wish *wishes;
    size_t wish_count;
    uint64_t types; // that anybody wants
    int64_t since_ms;
    struct audience audience;
    struct notification_cursor cursor; // behind what was read
    struct notification_post *posts;
    size_t post_count, post_capacity;
};

static void read_target(struct step *step, const struct notification_channel *channel)
{
    json_t *config = channel_config_to_json(channel);
    bool is_webhook = strcmp(channel->type, CHANNEL_WEBHOOK) == 0;
    bool has_person = strcmp(channel->type, CHANNEL_EMAIL) == 0 || !json_object_get(config, "webhookHost");
    bool is_direct = !is_webhook && has_person && json_is_true(json_object_get(config, "directNotifications"));
    bool is_shared = is_webhook || !has_person || json_array_size(json_object_get(config, "recipients")) > 0;
    json_decref(config);
    step->targets[step->target_count++] = (struct target){channel->name, is_direct, is_shared};
}

static int read_targets(struct step *step, struct error *err)
{
    struct notification_channel *channels;
    size_t count;
    if (db_list_notification_channels(step->conn, step->arena, &channels, &count, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        if (channels[i].is_enabled)
            read_target(step, &channels[i]);
    return 0;
}

static uint32_t channels_of(const struct step *step, const struct subscription *subscription)
{
    json_t *names = json_loads(subscription->channels_json, 0, NULL);
    uint32_t bits = 0;
    for (size_t i = 0; i < json_array_size(names); i++)
        for (size_t t = 0; t < step->target_count; t++)
            if (strcmp(step->targets[t].name, json_string_value(json_array_get(names, i))) == 0)
                bits |= UINT32_C(1) << t;
    json_decref(names);
    return bits;
}

static uint64_t types_of(const struct subscription *subscription)
{
    json_t *events = json_loads(subscription->events_json, 0, NULL);
    uint64_t bits = 0;
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i), *types = json_object_get(event, "types");
        const char *category = json_string_value(json_object_get(event, "category"));
        for (size_t t = 0; t < json_array_size(types); t++)
            bits |= notification_type_bit(category, json_string_value(json_array_get(types, t)));
    }
    json_decref(events);
    return bits;
}

// Subscriptions that can come to anything.
static int read_wishes(struct step *step, struct error *err)
{
    struct subscription *subscriptions;
    size_t count;
    if (db_list_subscriptions(step->conn, 0, step->arena, &subscriptions, &count, err) < 0)
        return -1;
    step->wishes = arena_array(step->arena, count + 1, sizeof(*step->wishes));
    step->since_ms = step->now_ms;
    for (size_t i = 0; i < count; i++) {
        struct wish wish = {&subscriptions[i], types_of(&subscriptions[i]), channels_of(step, &subscriptions[i])};
        if (!wish.types || !wish.channels)
            continue;
        step->wishes[step->wish_count++] = wish;
        step->types |= wish.types;
        if (subscriptions[i].since_ms < step->since_ms)
            step->since_ms = subscriptions[i].since_ms;
    }
    return 0;
}

// The phases, or the reasons of events, that make types that somebody wants.
static const char *kinds_json(const struct step *step, bool is_phase)
{
    json_t *list = json_array();
    for (size_t i = 0; i < NOTIFICATION_TYPE_COUNT; i++) {
        const struct notification_type *type = &NOTIFICATION_TYPES[i];
        if (!(step->types & notification_type_mask(type)))
            continue;
        if (is_phase && type->phase)
            json_array_append_new(list, json_string(type->phase));
        for (size_t r = 0; !is_phase && r < type->reason_count; r++)
            json_array_append_new(list, json_string(event_reason_text(type->reasons[r])));
    }
    char *text = json_dumps(list, JSON_COMPACT);
    const char *copy = arena_strdup(step->arena, text);
    free(text);
    json_decref(list);
    return copy;
}

static void add_post(struct step *step, const struct target *target, bool is_shared,
                     const struct notification_line *line)
{
    step->posts =
        arena_grow(step->arena, step->posts, &step->post_capacity, step->post_count + 1, sizeof(*step->posts));
    step->posts[step->post_count++] = (struct notification_post){target->name, is_shared, *line};
}

// channels: of each person, who stand in a row and each once. Posts that share a delivery come one behind the other.
static void add_posts(struct step *step, struct notification_line *line, const int64_t *people,
                      const uint32_t *channels, size_t count)
{
    for (size_t t = 0; t < step->target_count; t++) {
        const struct target *target = &step->targets[t];
        for (size_t i = 0; i < count; i++) {
            line->user_id = people[i];
            if (target->is_direct && (channels[i] >> t & 1))
                add_post(step, target, false, line);
        }
        for (size_t i = 0; i < count; i++) {
            line->user_id = people[i];
            if (target->is_shared && (channels[i] >> t & 1))
                add_post(step, target, true, line);
        }
    }
}

static int wants(struct step *step, const struct wish *wish, const struct notification_source *source, uint64_t type,
                 struct error *err)
{
    const struct person *person;
    struct scope_path where = {source->cluster_id, source->department_id, source->project_id};
    bool is_own = strcasecmp(wish->subscription->user_email, source->created_by) == 0;
    if (!(wish->types & type) || source->time_ms < wish->subscription->since_ms ||
        !(is_own || wish->subscription->is_for_all))
        return 0;
    if (audience_person(&step->audience, wish->subscription->user_id, &person, err) < 0)
        return -1;
    return person_sees_workloads(person, &where);
}

// Each person once, with the channels of all subscriptions that the source meets.
static int tell(struct step *step, const struct notification_source *source, struct error *err)
{
    const struct notification_type *type =
        source->is_phase ? notification_type_of_phase(source->kind) : notification_type_of_reason(source->kind);
    int64_t *people = arena_array(step->arena, step->wish_count + 1, sizeof(*people));
    uint32_t *channels = arena_array(step->arena, step->wish_count + 1, sizeof(*channels));
    size_t count = 0;
    for (size_t i = 0; i < step->wish_count; i++) {
        int rc = wants(step, &step->wishes[i], source, notification_type_mask(type), err);
        if (rc < 0)
            return -1;
        if (rc == 0)
            continue;
        int64_t user_id = step->wishes[i].subscription->user_id;
        if (count == 0 || people[count - 1] != user_id) // subscriptions come by person
            people[count++] = user_id;
        channels[count - 1] |= step->wishes[i].channels;
    }
    struct notification_line line = {
        .source = arena_printf(step->arena, "%s:%" PRId64, source->is_phase ? "phase" : "event", source->id),
        .category = type->category,
        .type = type->type,
        .time_ms = source->time_ms,
        .sentence = message_sentence(source, step->arena),
        .workload_uuid = source->workload_uuid,
        .workload_name = source->workload_name,
        .project_name = source->project_name,
        .cluster_id = source->cluster_id,
        .department_id = source->department_id,
        .project_id = source->project_id,
    };
    if (count > 0)
        add_posts(step, &line, people, channels, count);
    return 0;
}

static void add_project(struct step *step, const struct target *target, bool is_shared, int64_t user_id,
                        const struct over_quota *project)
{
    struct notification_line line = {
        .user_id = user_id,
        .source = arena_printf(step->arena, "digest:%" PRId64, step->now_ms),
        .category = NOTIFICATION_CATEGORY_QUOTA,
        .type = NOTIFICATION_TYPE_OVER_QUOTA,
        .time_ms = step->now_ms,
        .sentence = message_over_quota(project, step->arena),
        .workload_name = "",
        .project_name = project->project_name,
        .cluster_id = project->cluster_id,
        .department_id = project->department_id,
        .project_id = project->project_id,
    };
    add_post(step, target, is_shared, &line);
}

// The projects that a person may see, in one delivery.
static int tell_projects(struct step *step, const struct target *target, bool is_shared, int64_t user_id,
                         const struct over_quota *projects, size_t count, struct error *err)
{
    const struct person *person;
    if (audience_person(&step->audience, user_id, &person, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        struct scope_path where = {projects[i].cluster_id, projects[i].department_id, projects[i].project_id};
        if (person_sees_project(person, &where))
            add_project(step, target, is_shared, user_id, &projects[i]);
    }
    return 0;
}

static int tell_target(struct step *step, size_t t, bool is_shared, const struct over_quota *projects, size_t count,
                       struct error *err)
{
    uint64_t type = notification_type_bit(NOTIFICATION_CATEGORY_QUOTA, NOTIFICATION_TYPE_OVER_QUOTA);
    int64_t told = 0;
    for (size_t i = 0; i < step->wish_count; i++) {
        const struct wish *wish = &step->wishes[i];
        if (!(wish->types & type) || !(wish->channels >> t & 1) || wish->subscription->user_id == told)
            continue;
        told = wish->subscription->user_id;
        if (tell_projects(step, &step->targets[t], is_shared, told, projects, count, err) < 0)
            return -1;
    }
    return 0;
}

static int tell_over_quota(struct step *step, struct error *err)
{
    struct over_quota *projects;
    size_t count;
    if (db_list_over_quota(step->conn, step->arena, &projects, &count, err) < 0)
        return -1;
    for (size_t t = 0; t < step->target_count; t++)
        if ((step->targets[t].is_direct && tell_target(step, t, false, projects, count, err) < 0) ||
            (step->targets[t].is_shared && tell_target(step, t, true, projects, count, err) < 0))
            return -1;
    return 0;
}

static int collect(struct step *step, bool *out_has_more, struct error *err)
{
    struct notification_source *sources;
    size_t count;
    struct notification_cursor cursor = step->collector->cursor;
    struct notification_wish wish = {.since_ms = step->since_ms};
    uint64_t digest = notification_type_bit(NOTIFICATION_CATEGORY_QUOTA, NOTIFICATION_TYPE_OVER_QUOTA);
    wish.phases_json = kinds_json(step, true);
    wish.reasons_json = kinds_json(step, false);
    if (db_list_notification_sources(step->conn, &wish, step->arena, &cursor, &sources, &count, out_has_more, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        if (tell(step, &sources[i], err) < 0)
            return -1;
    if ((step->types & digest) && cursor.digest_ms <= step->now_ms) {
        if (tell_over_quota(step, err) < 0)
            return -1;
        cursor.digest_ms = step->now_ms + DAY_MS;
    }
    step->cursor = cursor;
    return 0;
}

static int run_step(struct step *step, bool *out_has_more, struct error *err)
{
    struct collector *collector = step->collector;
    if (!collector->has_cursor && db_find_notification_cursor(step->conn, &collector->cursor, err) < 0)
        return -1;
    collector->has_cursor = true;
    *out_has_more = false;
    if (read_targets(step, err) < 0 || read_wishes(step, err) < 0)
        return -1;
    return collect(step, out_has_more, err);
}

// What concerned nobody moves the cursor in memory alone: after a start it is read again, and concerns nobody again.
static int keep(struct step *step, struct error *err)
{
    struct collector *collector = step->collector;
    struct notification_batch batch = {step->posts, step->post_count, step->cursor, step->now_ms, collector->per_hour};
    bool is_kept = step->post_count > 0 || step->cursor.digest_ms != collector->cursor.digest_ms;
    if (is_kept && db_add_notifications(collector->db, &batch, err) < 0)
        return -1;
    collector->cursor = step->cursor;
    return 0;
}

int collector_step(struct collector *collector, int64_t now_ms, bool *out_has_more, struct error *err)
{
    struct arena arena;
    arena_init(&arena);
    struct db_conn *conn = db_acquire_for_notifications(collector->db);
    struct step step = {.collector = collector, .conn = conn, .arena = &arena, .now_ms = now_ms};
    step.audience = (struct audience){.conn = conn, .arena = &arena};
    int rc = run_step(&step, out_has_more, err);
    db_give_back(collector->db, conn);
    if (rc == 0)
        rc = keep(&step, err);
    arena_done(&arena);
    return rc;
}
