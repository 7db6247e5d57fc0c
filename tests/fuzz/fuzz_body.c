// JSON bodies of every operation: parsed, then validated. The first byte chooses the operation.
#include "api/http/validate.h"
#include "api/operation.h"
#include "base/error.h"
#include "base/json_reader.h"
#include <assert.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    json_t *body = NULL;
    if (size < 1)
        return 0;
    const struct operation *operation = &OPERATIONS[data[0] % OPERATION_COUNT];
    if (!operation->body_schema || json_reader_parse((const char *)data + 1, size - 1, &body, &err) < 0)
        return 0;
    if (validate_body(operation->body_schema, body, &err) < 0)
        assert(err.code == ERROR_INVALID && err.message[0]);
    json_decref(body);
    return 0;
}
