// Compute resources and environments: what people load into a submission; the document has checked the specifications.
#include "api/catalog/asset_operations.h"
#include "api/http/request.h"
#include "api/operations.h"
#include "base/error.h"
#include "db/catalog/assets.h"

#include <string.h>

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

// Between the members of a specification; what is wrong with one alone the document has refused.
static int check_compute(const json_t *spec, struct error *err)
{
    const char *type = text_of(spec, "gpuRequestType");
    const json_t *devices = json_object_get(spec, "gpuDevicesRequest");
    bool is_shared = !strcmp(type, "portion") || !strcmp(type, "memory");
    if (is_shared && json_is_number(devices) && json_number_value(devices) > 1)
        return error_set(err, ERROR_INVALID, "spec.gpuDevicesRequest: 1 for a part of a device, got %.0f",
                         json_number_value(devices));
    if (!strcmp(type, "portion") && !json_is_number(json_object_get(spec, "gpuPortionRequest")))
        return error_set(err, ERROR_INVALID, "spec.gpuPortionRequest: required with gpuRequestType portion");
    if (!strcmp(type, "memory") && !json_is_string(json_object_get(spec, "gpuMemoryRequest")))
        return error_set(err, ERROR_INVALID, "spec.gpuMemoryRequest: required with gpuRequestType memory");
    double portion = json_number_value(json_object_get(spec, "gpuPortionRequest"));
    if (portion > 1)
        return error_set(err, ERROR_INVALID, "spec.gpuPortionRequest: at most 1, got %g", portion);
    return 0;
}

static int read_compute(struct request *req, const json_t *spec, struct asset_write *write, struct error *err)
{
    return check_compute(spec, err) < 0 ? -1 : asset_take_spec(req, spec, write, err);
}

int op_list_compute_assets(struct request *req, struct response *res, struct error *err)
{
    return asset_list(req, res, asset_family_of(ASSET_KIND_COMPUTE), err);
}

int op_create_compute_asset(struct request *req, struct response *res, struct error *err)
{
    return asset_create(req, res, asset_family_of(ASSET_KIND_COMPUTE), read_compute, err);
}

int op_get_compute_asset_by_id(struct request *req, struct response *res, struct error *err)
{
    return asset_get(req, res, asset_family_of(ASSET_KIND_COMPUTE), err);
}

int op_update_compute_asset_by_id(struct request *req, struct response *res, struct error *err)
{
    return asset_update(req, res, asset_family_of(ASSET_KIND_COMPUTE), read_compute, err);
}

int op_delete_compute_asset_by_id(struct request *req, struct response *res, struct error *err)
{
    return asset_delete(req, res, asset_family_of(ASSET_KIND_COMPUTE), err);
}

int op_list_environment_assets(struct request *req, struct response *res, struct error *err)
{
    return asset_list(req, res, asset_family_of(ASSET_KIND_ENVIRONMENT), err);
}

int op_create_environment_asset(struct request *req, struct response *res, struct error *err)
{
    return asset_create(req, res, asset_family_of(ASSET_KIND_ENVIRONMENT), asset_take_spec, err);
}

int op_get_environment_asset_by_id(struct request *req, struct response *res, struct error *err)
{
    return asset_get(req, res, asset_family_of(ASSET_KIND_ENVIRONMENT), err);
}

int op_update_environment_asset_by_id(struct request *req, struct response *res, struct error *err)
{
    return asset_update(req, res, asset_family_of(ASSET_KIND_ENVIRONMENT), asset_take_spec, err);
}

int op_delete_environment_asset_by_id(struct request *req, struct response *res, struct error *err)
{
    return asset_delete(req, res, asset_family_of(ASSET_KIND_ENVIRONMENT), err);
}
