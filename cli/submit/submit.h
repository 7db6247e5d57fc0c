// How flags become a specification.
#pragma once
#include <jansson.h>
#include <stdbool.h>

enum field_form {
    FIELD_TEXT,
    FIELD_TEXTS, // a list of texts
    FIELD_NAMED, // a list of {name, value} from NAME=VALUE
    FIELD_SWITCH,
    FIELD_INTEGER,
    FIELD_NUMBER,
    FIELD_SECONDS, // from a duration
    FIELD_AFTER,   // a list of {name, when} from NAME[:WHEN]
    FIELD_START,   // a time, from what cli/submit/start_time.h reads
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
// {name, value} of NAME=VALUE; NULL with err set where it is not of that form.
json_t *submit_named_item(const char *flag, const char *text, struct error *err);
// The flags that are given of a table of fields.
int submit_take_fields(const struct cli *cli, const struct spec_field *fields, json_t *spec, struct error *err);
// 2 is whole devices, 0.5 a part of one.
int submit_take_gpus(struct cli *cli, const char *flag, json_t *spec, struct error *err);
// NAME=N of each, as extended resources.
void submit_take_resources(struct cli *cli, const char *flag, json_t *spec);
// Portion or memory, where the amount says it; a part of a device is of one where no number is given.
void submit_name_request_type(json_t *spec);
// The master: as the workers, but for what flags say.
int submit_add_master(struct cli *cli, json_t *body, const json_t *spec, struct error *err);
// Tolerations, volumes, URLs, variables that come from elsewhere; the shape of a gang: --sub-group and --topology.
int submit_take_lists(struct cli *cli, json_t *spec, struct error *err);
// What an inference is told by flags of other kinds, and --serving-port. kind is the command's.
int submit_take_serving(struct cli *cli, const struct kind *kind, json_t *spec, struct error *err);
// The body of a creation from the flags; submit.c. body is filled in.
int submit_make_body(struct cli *cli, const struct kind *kind, const json_t *project, json_t *body, struct error *err);
// The same of a command, behind --, that runs as it would here: once, in this folder, named after the program unless a
// flag names it; run.c.
int submit_make_run(struct cli *cli, const struct kind *kind, const char *program, const json_t *project, json_t *body,
                    struct error *err);
// Whether the program's name, without its folder, begins with one of these; NULL ends them; run.c.
bool submit_is_program(const char *path, const char *const *beginnings);
// Submits a script as its #SBATCH lines say; flags say more and come first. name: the workload's, NULL: theirs, or the
// script's. words: its arguments; batch.c.
int submit_script(struct cli *cli, const char *path, const char *name, const char *const *words, size_t word_count,
                  struct error *err);
// Whether the file begins as scripts do; batch.c.
bool submit_is_script(const char *path);
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

extern const struct spec_field SPEC_FIELDS[], MASTER_FIELDS[]; // each ends with flag == NULL
