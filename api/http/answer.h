// Writes answers: the head that every answer has, then the body, in one write.
#pragma once
#include "api/http/exchange.h"

struct error;

// Sends what the response holds. HEAD gets the head alone.
void answer_send(struct exchange *exchange, enum answer_policy policy);
// Drops the body and sends {"code", "message", "details"}, and complianceIssues where a policy refused; further header
// lines stay.
void answer_error(struct exchange *exchange, const struct error *err);
// The head of a stream; no length, the connection ends with it. -1 when it could not be sent.
int answer_stream_head(struct exchange *exchange, const char *content_type);
// Sends bytes under the response deadline. -1 when the peer is gone or too slow.
int answer_write(struct exchange *exchange, const void *data, size_t size);
// The reason phrase of a status.
const char *answer_reason(int status);
