#include "api/access/jws.h"

#include "base/arena.h"
#include "base/json_reader.h"

#include <sodium.h>
#include <string.h>

bool jws_split(const char *token, size_t max, struct jws *out_jws)
{
    static const char ALPHABET[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
    size_t length = strnlen(token, max + 1);
    if (length > max || strspn(token, ALPHABET) != length)
        return false;
    const char *first = strchr(token, '.');
    const char *second = first ? strchr(first + 1, '.') : NULL;
    if (!second || strchr(second + 1, '.'))
        return false;
    *out_jws = (struct jws){token, (size_t)(first - token), (size_t)(second - token), second + 1};
    return true;
}

static unsigned char *decode(const char *text, size_t length, struct arena *arena, size_t *out_size)
{
    unsigned char *bytes = arena_alloc(arena, length + 1);
    const char *end;
    if (sodium_base642bin(bytes, length, text, length, NULL, out_size, &end,
                          sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0 ||
        end != text + length)
        return NULL;
    return bytes;
}

static json_t *decode_object(const char *text, size_t length, struct arena *arena)
{
    size_t size;
    json_t *value;
    unsigned char *bytes = decode(text, length, arena, &size);
    if (!bytes || json_reader_parse((const char *)bytes, size, &value, NULL) < 0)
        return NULL;
    if (json_is_object(value))
        return value;
    json_decref(value);
    return NULL;
}

json_t *jws_header(const struct jws *jws, struct arena *arena)
{
    return decode_object(jws->text, jws->header_length, arena);
}

json_t *jws_claims(const struct jws *jws, struct arena *arena)
{
    return decode_object(jws->text + jws->header_length + 1, jws->signed_length - jws->header_length - 1, arena);
}

const unsigned char *jws_signature(const struct jws *jws, struct arena *arena, size_t *out_size)
{
    return decode(jws->signature, strlen(jws->signature), arena, out_size);
}
