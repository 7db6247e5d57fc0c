// What an asset puts into a submission: environments and compute resources as their specifications have it, data
// sources as one item of `storage`.
#pragma once
#include <jansson.h>

// A new reference; never NULL. kind is the asset's ("compute", "environment", "nfs", ...), path where a data source is
// mounted instead of where it says; NULL: where it says.
json_t *asset_spec_for_submission(const char *kind, const json_t *spec, const char *path);
// The list of `storage` that data sources of the kind go to, and the member that says where they are mounted; NULL for
// what is no data source.
const char *asset_spec_storage(const char *kind, const char **out_path_member);
