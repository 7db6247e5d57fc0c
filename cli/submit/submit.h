// How flags become a specification.
#pragma once
#include <jansson.h>

enum field_form {
    FIELD_TEXT,
    FIELD_TEXTS, // a list of texts
    FIELD_NAMED, // a list of {name, value} from NAME=VALUE
    FIELD_SWITCH,
    FIELD_INTEGER,
    FIELD_NUMBER,
    FIELD_SECONDS, // from a duration
};

struct spec_field {
    const char *flag;
    const char *path; // "compute.gpuDevicesRequest"
    enum field_form form;
};

struct cli;
struct error;
struct kind;

// The parts of `a=1,b=2,c`; NULL where the key is missing, "" where it has no value.
const char *submit_part_of(struct cli *cli, const char *text, const char *key);
// Sets a member as deep as the path's dots say; takes value over.
void submit_set_at(json_t *object, const char *path, json_t *value);
// To the list that stands there; takes item over.
void submit_append_to(json_t *spec, const char *path, json_t *item);
// Tolerations, volumes, URLs, variables that come from elsewhere; the shape of a gang: --sub-group and --topology.
int submit_take_lists(struct cli *cli, json_t *spec, struct error *err);
// What an inference is told by flags of other kinds, and --serving-port. kind is the command's.
int submit_take_serving(struct cli *cli, const struct kind *kind, json_t *spec, struct error *err);
// The body of a creation from the flags; submit.c. body is filled in.
int submit_make_body(struct cli *cli, const struct kind *kind, const json_t *project, json_t *body, struct error *err);
// Sends the body, or prints or asks what would happen, as --dry-run and --what-if say; submit.c.
int submit_send(struct cli *cli, const struct kind *kind, json_t *body, const char *project, struct error *err);
// All flags as a specification; submit.c.
int submit_make_spec(struct cli *cli, const struct kind *kind, json_t *spec, struct error *err);

// What it is made from: --template, --compute, --environment NAME, --datasource. The body has its project.
int submit_take_assets(struct cli *cli, json_t *body, struct error *err);
// --file: the body of a creation, with `type` and the names `project` and `template` beside it. The caller owns
// *out_body; the texts are the arena's.
int submit_read_file(struct cli *cli, json_t **out_body, const char **out_type, const char **out_project,
                     struct error *err);

extern const struct spec_field SPEC_FIELDS[]; // ends with flag == NULL
