// The ranks of projects and departments, under both names that the API has had for them.
#include "api/http/response.h"
#include "api/operations.h"
#include "base/json_writer.h"
#include "model/queue.h"

static void write_ranks(struct json_writer *json, const char *key)
{
    json_key(json, key);
    json_begin_array(json);
    for (size_t i = 0; i < RANK_COUNT; i++) {
        json_begin_object(json);
        json_text(json, "name", RANKS[i].name);
        json_int(json, "value", RANKS[i].value);
        json_bool(json, "isDefault", RANKS[i].is_default);
        json_end_object(json);
    }
    json_end_array(json);
}

static int answer_ranks(struct response *res, const char *key)
{
    struct json_writer json;
    json_writer_init(&json, res->body, false);
    json_begin_object(&json);
    write_ranks(&json, key);
    json_end_object(&json);
    return 0;
}

int op_get_priorities(struct request *req, struct response *res, struct error *err)
{
    (void)req;
    (void)err;
    return answer_ranks(res, "priorities");
}

int op_get_ranks(struct request *req, struct response *res, struct error *err)
{
    (void)req;
    (void)err;
    return answer_ranks(res, "ranks");
}
