#include "api/authenticate.h"
#include "base/error.h"

int authenticate(struct request *req, struct error *err)
{
    (void)req;
    return error_set(err, ERROR_UNAUTHORIZED, "no token, or one that is not good");
}

int authorize(struct request *req, struct error *err)
{
    (void)req;
    return error_set(err, ERROR_FORBIDDEN, "not permitted");
}
