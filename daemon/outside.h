// What a server has to do with others than its clients: the identity provider, those who are notified, and the pods
// whose ports are reached by URL.
#pragma once

struct auth;
struct db;
struct error;
struct notifications;
struct openid;
struct place_book;
struct server;
struct settings;

int outside_create_openid(const struct settings *settings, struct db *db, const struct auth *auth,
                          struct place_book *places, struct openid **out_openid, struct error *err);
int outside_create_notifications(const struct settings *settings, struct db *db, const struct auth *auth,
                                 struct notifications **out_notifications, struct error *err);
// Sets server->apps, for apps_stop; nothing where --apps-listen is not given.
int outside_start_apps(const struct settings *settings, struct server *server, struct error *err);
