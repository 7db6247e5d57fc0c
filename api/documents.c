// The API document: as JSON, and as pages of Swagger UI.
#include "api/assets.h"
#include "api/operations.h"
#include "base/error.h"

static int answer_file(struct request *req, const char *path, struct error *err)
{
    const struct asset *asset = asset_find(path);
    if (!asset)
        return error_set(err, ERROR_INTERNAL, "%s was not embedded", path);
    asset_answer(req->exchange, asset);
    return 0;
}

int op_get_swagger(struct request *req, struct response *res, struct error *err)
{
    (void)res;
    return answer_file(req, "/api/v1/swagger.json", err);
}

int op_get_docs(struct request *req, struct response *res, struct error *err)
{
    (void)res;
    return answer_file(req, "/api/docs/index.html", err);
}
