// Who may open which port of a workload by URL: what apps/ asks about each request, and again while bytes pass.
#pragma once
#include "apps/apps.h"

struct server;

// context is the server, whose db and reconciler are there by the time somebody asks.
struct apps_rights workload_apps_rights(struct server *server);
