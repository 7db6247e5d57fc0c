// Answers that go on: server-sent events, logs that are followed. They last as long as their owner may see them.
#pragma once
#include "api/http/response.h"

// A stream (server-sent events, following logs): the head is written at once, with status 200. Takes one of the stream
// places (base/places.def; a quarter of the threads); none left for the caller is ERROR_UNAVAILABLE.
int response_stream_begin(struct response *res, const char *content_type, struct error *err);
// -1 when the peer has gone, is too slow, has lost its rights, or the server stops: the handler returns 0 then. A
// stream must write at least each 15 s (a heartbeat) and look at response_stream_is_over each second.
int response_stream_write(struct response *res, const char *text, size_t size);
// The last piece of a stream that has to break off; also where its owner has no more rights, or the server stops.
void response_stream_write_last(struct response *res, const char *text, size_t size);
// Nothing is missing. A chunked stream that ends without this is a broken one to its client.
void response_stream_end(struct response *res);
// True when the peer has gone, the server stops, or the caller's session or rights are no longer what they were: end
// it. The caller is looked up twice a second, not at each call.
bool response_stream_is_over(struct response *res);
// Why it is over, as the end of a sentence.
const char *response_stream_reason(const struct response *res);
// The same of the peer alone.
bool response_stream_is_gone(const struct response *res);
// The same of the caller alone, looked up now: before something new is told.
bool response_stream_is_revoked(struct response *res);
