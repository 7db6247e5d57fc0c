#include "daemon/socket.h"

#include "api/access/socket_access.h"
#include "api/api_server.h"
#include "api/http/peers.h"
#include "backends/local/users/users.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "daemon/backend_kinds.h"
#include "daemon/local_users.h"
#include "daemon/settings.h"
#include "daemon/socket_relay.h"

#include <pwd.h>
#include <string.h>
#include <unistd.h>

int door_prepare(const struct settings *settings, struct arena *arena, struct server *server, struct door *out_door,
                 struct error *err)
{
    *out_door = (struct door){.listen_fd = -1, .file = {.lock_fd = -1}};
    if (socket_rules_read(settings->socket_groups, settings->socket_groups_count, settings->socket_root != 0, arena,
                          &out_door->rules, err) < 0)
        return -1;
    if (!socket_rules_admit_somebody(&out_door->rules) || !settings->socket)
        return 0;
    if (geteuid() != 0) {
        log_write(LOG_WARN, "daemon", "the server is not root: there is no socket for people of this machine");
        return 0;
    }
    if (socket_file_check(settings->socket, err) < 0)
        return -1;
    out_door->is_wanted = true;
    server->peers = peers_create((size_t)settings->http_threads / 4);
    server->socket_access = socket_access_create(&out_door->rules);
    return 0;
}

const char *door_danger(const struct settings *settings, const struct user_rules *rules)
{
    if (!backend_kind_find(settings->backend)->is_machine || rules->pod_groups.count)
        return NULL;
    return "pods have no groups of their own, so nothing tells them from people: --local-gid-range";
}

static void add_users(struct pod_marks *marks, const char *text)
{
    struct uid_range range;
    if (text && marks->user_count < POD_RANGES_MAX && uid_range_parse(text, &range, NULL) == 0)
        marks->users[marks->user_count++] = range;
}

static void add_groups(struct pod_marks *marks, const char *text)
{
    struct uid_range range;
    if (text && marks->group_count < POD_RANGES_MAX && uid_range_parse(text, &range, NULL) == 0)
        marks->groups[marks->group_count++] = range;
}

// The usual ranges are always among them: another server of this machine may have them.
static struct pod_marks marks_of(const struct door *door, const struct settings *settings,
                                 const struct user_rules *rules)
{
    struct pod_marks marks = {.admits_root = door->rules.is_root_administrator};
    add_users(&marks, UID_RANGE_DEFAULT);
    add_users(&marks, settings->local_uid_range);
    add_groups(&marks, GID_RANGE_DEFAULT);
    add_groups(&marks, settings->local_gid_range);
    if (rules->range.count)
        marks.users[marks.user_count++] = rules->range;
    if (rules->pod_groups.count)
        marks.groups[marks.group_count++] = rules->pod_groups;
    const struct passwd *others = settings->local_user ? getpwnam(settings->local_user) : NULL;
    if (others)
        marks.users[marks.user_count++] = (struct uid_range){.first = others->pw_uid, .count = 1};
    return marks;
}

int door_open(struct door *door, const struct settings *settings, struct db *db, bool is_first, struct arena *arena,
              struct server *server, struct error *err)
{
    struct user_rules rules = {0};
    if (!door->is_wanted)
        return 0;
    if (backend_kind_find(settings->backend)->is_machine &&
        local_users_choose(settings, db, is_first, arena, &rules, err) < 0)
        return -1;
    const char *danger = door_danger(settings, &rules);
    if (danger)
        return error_set(err, ERROR_INVALID, "socket: %s", danger);
    door->listen_fd = socket_file_open(settings->socket, arena, &door->file, err);
    if (door->listen_fd < 0)
        return -1;
    struct relay_options options = {.listen_fd = door->listen_fd,
                                    .peers = server->peers,
                                    .port = (uint16_t)api_server_relay_port(server),
                                    .max = (size_t)settings->http_threads / 4,
                                    .places = &server->places,
                                    .audit = door->audit,
                                    .marks = marks_of(door, settings, &rules)};
    if (relay_start(&options, &door->relay, err) < 0)
        return -1;
    log_write(LOG_INFO, "daemon", "people of this machine come in by the socket path=%s groups=%zu root=%d",
              settings->socket, door->rules.count, door->rules.is_root_administrator);
    return 0;
}

void door_close(struct door *door)
{
    relay_stop(door->relay);
    door->relay = NULL;
    socket_file_close(&door->file);
    if (door->listen_fd >= 0)
        close(door->listen_fd);
    door->listen_fd = -1;
}

void door_done(struct server *server)
{
    peers_destroy(server->peers);
    socket_access_destroy(server->socket_access);
    server->peers = NULL;
    server->socket_access = NULL;
}
