#include "daemon/outside.h"

#include "api/access/auth.h"
#include "api/access/openid.h"
#include "api/http/listen.h"
#include "api/notifications/notifications.h"
#include "api/server.h"
#include "api/workloads/apps.h"
#include "apps/apps.h"
#include "base/error.h"
#include "daemon/settings.h"

#include <netinet/in.h>

int outside_create_openid(const struct settings *settings, struct db *db, const struct auth *auth,
                          struct place_book *places, struct openid **out_openid, struct error *err)
{
    struct openid_options options = {
        .db = db, .sealing = auth->sealing, .ca_file = settings->openid_ca, .places = places};
    return openid_create(&options, out_openid, err);
}

int outside_create_notifications(const struct settings *settings, struct db *db, const struct auth *auth,
                                 struct notifications **out_notifications, struct error *err)
{
    struct notification_options options = {
        .networks = settings->notify_networks,
        .network_count = settings->notify_networks_count,
        .proxy = settings->notify_proxy,
        .ca_file = settings->notify_ca,
        .slack_api = settings->slack_api,
        .per_hour = settings->notify_per_hour,
        .retry_ms = (int64_t)(settings->notify_retry_s * 1000),
        .give_up_ms = (int64_t)(settings->notify_give_up_h * 3600000),
    };
    return notifications_create(db, auth->sealing, &options, out_notifications, err);
}

int outside_start_apps(const struct settings *settings, struct server *server, struct error *err)
{
    struct listen_address at;
    if (!settings->apps_listen)
        return 0;
    if (listen_parse(settings->apps_listen, &at, err) < 0)
        return error_prefix(err, "--apps-listen: ");
    if (at.address == htonl(INADDR_ANY) && !settings->apps_domain)
        return error_set(err, ERROR_INVALID,
                         "--apps-listen: %s is every address, and --apps-domain must say which "
                         "one browsers use: *.DOMAIN or https://HOST",
                         settings->apps_listen);
    struct apps_options options = {.address = at.address,
                                   .port = at.port,
                                   .listen = settings->apps_listen,
                                   .domain = settings->apps_domain,
                                   .rights = workload_apps_rights(server),
                                   .places = &server->places};
    return apps_start(&options, &server->apps, err);
}
