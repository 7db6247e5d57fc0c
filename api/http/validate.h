// Checks a JSON value, or the text of a parameter, against a schema of the API document. The one place where types,
// ranges and patterns are checked: a handler does none of it. A refusal names the path and the value:
//     spec.compute.gpuDevicesRequest: at least 0, got -1
// Unknown fields are ignored, as newer clients send them. Recursion is as deep as the value (at most JSON_DEPTH_MAX)
// times the document's allOf (3).
#pragma once
#include "api/schema.h"
#include <jansson.h>
#include <stdbool.h>

struct error;

// Where a whole number is asked for and a real without fraction was given (1.0), the value is replaced by the integer.
int validate_body(const struct schema *schema, json_t *body, struct error *err);

// true, t, 1 or false, f, 0, in any case, as clients write them in a query. -1: none of them.
int validate_boolean(const char *text, bool *out_is_true);

// The text of a parameter. *out_integer is set for integers and booleans (0, 1), else 0.
int validate_text(const struct schema *schema, const char *name, const char *text, int64_t *out_integer,
                  struct error *err);
