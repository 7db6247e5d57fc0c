// Security settings: redirection to single sign-on, how long a browser's session may be idle, where signing out leads.
#pragma once
#include <stdint.h>

struct arena;
struct db_conn;
struct error;

// browserSessionTimeout.idleTimeout; 60 minutes where it is not set.
int security_settings_idle_ms(struct db_conn *conn, struct arena *arena, int64_t *out_idle_ms, struct error *err);
