// Reads a request's body under its size and time limits, and parses it.
#pragma once
#include "api/http/exchange.h"

struct error;

// Answers `Expect: 100-continue` first. Sets request.body_text, and request.body where the operation takes JSON; a JSON
// body is checked against the operation's schema.
int body_read(struct exchange *exchange, struct error *err);
