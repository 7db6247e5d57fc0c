// An issuer's keys: any document gives keys of the two kinds or none, and no key finds a signature good that nobody
// made.
#include "api/access/openid_keys.h"

#include "base/error.h"
#include "base/json_reader.h"

#include <sodium.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    EC_SIGNATURE_SIZE = 64,
    RSA_SIGNATURE_SIZE = 256
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_key(const struct openid_keys *keys, const struct openid_key *key)
{
    unsigned char signature[RSA_SIGNATURE_SIZE];
    const struct openid_key *found = openid_keys_find(keys, key->id);
    memset(signature, 1, sizeof(signature));
    if (!found || strcmp(found->id, key->id) != 0 || !key->key)
        abort();
    if (strcmp(key->algorithm, "RS256") != 0 && strcmp(key->algorithm, "ES256") != 0)
        abort();
    if (openid_key_verifies(key, "text", 4, signature, EC_SIGNATURE_SIZE) ||
        openid_key_verifies(key, "text", 4, signature, RSA_SIGNATURE_SIZE) ||
        openid_key_verifies(key, "text", 4, signature, 0))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct openid_keys keys;
    json_t *set;
    if (sodium_init() < 0 || json_reader_parse((const char *)data, size, &set, NULL) < 0)
        return 0;
    int rc = openid_keys_read(set, &keys, NULL);
    if (keys.count > OPENID_KEYS_MAX || (rc == 0) != (keys.count > 0))
        abort();
    for (size_t i = 0; i < keys.count; i++)
        check_key(&keys, &keys.items[i]);
    openid_keys_done(&keys);
    json_decref(set);
    return 0;
}
