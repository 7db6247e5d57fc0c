#include "api/access/openid_person.h"

#include "base/arena.h"
#include "db/accounts/identity_provider.h"

#include <sodium.h>
#include <stdbool.h>
#include <string.h>

enum {
    NAME_MIN = 5, // as of local accounts
    NAME_BYTES_MAX = 254,
    GROUP_BYTES_MAX = 255,
    HASH_BYTES = 16
};

static bool is_clean(const char *text, size_t least, size_t most)
{
    size_t length = strlen(text);
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            return false;
    return length >= least && length <= most;
}

static void add_group(struct external_groups *groups, const json_t *value, struct arena *arena)
{
    const char *name = json_string_value(value);
    if (name && is_clean(name, 1, GROUP_BYTES_MAX) && groups->count < EXTERNAL_GROUPS_MAX)
        groups->names[groups->count++] = arena_strdup(arena, name);
}

struct external_groups openid_groups(const json_t *claims, const char *claim, struct arena *arena)
{
    const json_t *value = json_object_get(claims, claim);
    struct external_groups groups = {.names = arena_array(arena, EXTERNAL_GROUPS_MAX, sizeof(*groups.names))};
    if (json_is_string(value))
        add_group(&groups, value, arena);
    for (size_t i = 0; i < json_array_size(value); i++)
        add_group(&groups, json_array_get(value, i), arena);
    return groups;
}

// Never two people's: "<hash of issuer and subject>@<the issuer's host>".
static const char *fallback_name(const char *issuer, const char *subject, struct arena *arena)
{
    unsigned char hash[HASH_BYTES];
    char text[2 * HASH_BYTES + 1];
    const char *pair = arena_printf(arena, "%s\n%s", issuer, subject);
    crypto_generichash(hash, sizeof(hash), (const unsigned char *)pair, strlen(pair), NULL, 0);
    sodium_bin2hex(text, sizeof(text), hash, sizeof(hash));
    const char *slashes = strstr(issuer, "://");
    const char *host = slashes ? slashes + 3 : issuer;
    int length = (int)strcspn(host, "/:");
    return arena_printf(arena, "%s@%.*s", text, length > 100 ? 100 : length, host);
}

// An address that the issuer says is not confirmed names nobody.
static bool is_doubtful(const json_t *claims, const char *claim)
{
    return strcmp(claim, "email") == 0 && json_is_false(json_object_get(claims, "email_verified"));
}

void openid_person_read(const struct identity_provider *provider, const json_t *claims, const char *subject,
                        struct arena *arena, struct openid_person *out_person)
{
    const char *name = json_string_value(json_object_get(claims, provider->username_claim));
    const char *fallback = fallback_name(provider->issuer, subject, arena);
    bool has_name = name && is_clean(name, NAME_MIN, NAME_BYTES_MAX) && !is_doubtful(claims, provider->username_claim);
    *out_person = (struct openid_person){
        .issuer = provider->issuer,
        .subject = arena_strdup(arena, subject),
        .wanted_name = has_name ? arena_strdup(arena, name) : fallback,
        .fallback_name = fallback,
        .groups = openid_groups(claims, provider->groups_claim, arena),
        .refresh_s = provider->refresh_s,
    };
}
