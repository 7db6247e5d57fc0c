// /healthz, /readyz and /metrics.
#pragma once
#include "api/http/exchange.h"

struct error;

void probe_health(struct exchange *exchange);
int probe_readiness(struct exchange *exchange, struct error *err);
// What all else is answered while the server starts; 0 afterwards.
int probe_starting(struct exchange *exchange, struct error *err);
// Asks for a token unless the configuration opened it.
int probe_metrics(struct exchange *exchange, struct error *err);
