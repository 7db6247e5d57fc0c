// Header blocks against the framing check: lines `Name: value`, the first the HTTP version.
#include "api/http/framing.h"
#include "base/error.h"
#include <assert.h>
#include <civetweb.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    struct mg_request_info info = {0};
    char *rest = text;
    info.http_version = strsep(&rest, "\n");
    while (rest && info.num_headers < MG_MAX_HEADERS) {
        char *value = strsep(&rest, "\n");
        char *name = strsep(&value, ":");
        info.http_headers[info.num_headers++] = (struct mg_header){name, value ? value : name + strlen(name)};
    }
    struct framing framing = {.length = -7};
    struct error err = {0};
    if (request_framing_check(&info, 1 << 20, &framing, &err) == 0) {
        assert(framing.is_chunked ? framing.length == -1 : framing.length >= 0 && framing.length <= 1 << 20);
        assert(framing.has_body == (framing.length != 0));
    } else {
        assert(err.code != ERROR_NONE && err.message[0] && framing.length == -7);
    }
    free(text);
    return 0;
}
