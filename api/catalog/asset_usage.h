// What names an asset, as far as the caller may see it: `usedBy`, where usageInfo asks for it. Templates name assets;
// data sources and environments name credentials.
#pragma once
#include "api/catalog/asset_family.h"
#include <stdbool.h>
#include <stddef.h>

struct credential_use;
struct error;
struct json_writer;
struct request;
struct template_use;

struct asset_usage {
    bool is_asked;
    const struct template_use *uses;
    size_t count;
    bool is_of_credentials;
    const struct credential_use *credential_uses;
    size_t credential_use_count;
};

// Of one asset, or of all where uuid is NULL; in the request's arena. One statement where it is asked for.
int asset_usage_read(const struct request *req, enum asset_group group, const char *uuid, struct asset_usage *out_usage,
                     struct error *err);
// Writes usedBy and usageTimes of one asset.
void asset_usage_write(struct json_writer *json, const struct request *req, const char *uuid,
                       const struct asset_usage *usage);
