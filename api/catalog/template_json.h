// Templates as the API has them, both ways.
#pragma once
#include <jansson.h>

struct arena;
struct error;
struct json_writer;
struct workload_template;

// {meta, spec, assets, runnable, combinedSpec, ...}; with complianceIssues where they are asked for: JSON text, or
// NULL.
void template_write(struct json_writer *json, const struct workload_template *template, const char *issues_json);
// Name, description, specification, assets and master, all in the place of what the template had. In the arena.
void template_replace(struct workload_template *template, const json_t *body, struct arena *arena);
// First takes away what fieldsToClear names, then lays what the body says over what is left: objects member by member,
// all else in the place of what was there; a null changes nothing. ERROR_INVALID for a path that cannot be cleared.
int template_patch(struct workload_template *template, const json_t *body, struct arena *arena, struct error *err);
