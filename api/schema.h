// The tables that the build makes from openapi/openapi.yaml: schemas, parameters, paths. Read by router.c, parameters.c
// and validate.c; written by tools/generate_operations.py alone.
#pragma once
#include "api/operation.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum schema_type {
    SCHEMA_OBJECT = 1,
    SCHEMA_ARRAY = 2,
    SCHEMA_STRING = 4,
    SCHEMA_INTEGER = 8,
    SCHEMA_NUMBER = 16,
    SCHEMA_BOOLEAN = 32,
};

enum schema_format {
    FORMAT_NONE,
    FORMAT_UUID,
    FORMAT_DATE_TIME,
    FORMAT_IPV4
};

// A regular expression as an automaton over bytes: state 0 is dead, 1 the start.
struct pattern {
    const char *text;
    const char *words;        // what to say instead of it: "expected ..."; NULL: nothing
    const uint8_t *classes;   // of each of the 256 bytes
    const uint16_t *next;     // [state * class_count + class]
    const uint8_t *accepting; // of each state
    uint16_t class_count;
};

struct schema_property;

struct schema {
    unsigned type; // one enum schema_type; 0: any
    bool nullable;
    enum schema_format format;
    bool has_minimum, has_maximum;
    double minimum, maximum;
    uint32_t min_length, max_length;    // characters; max 0: none
    uint32_t max_items, max_properties; // 0: none
    const struct pattern *pattern;
    const char *const *enum_values;
    size_t enum_count;
    const struct schema_property *properties; // sorted by name
    size_t property_count;
    const char *const *required;
    size_t required_count;
    const struct schema *items;
    const struct schema *additional; // of properties that are not listed; NULL: they are ignored
    bool is_closed;                  // they are refused
    const struct schema *const *all_of;
    size_t all_of_count;
};

struct schema_property {
    const char *name;
    const struct schema *schema;
};

enum parameter_place {
    PARAMETER_PATH,
    PARAMETER_QUERY,
    PARAMETER_HEADER
};

struct parameter {
    const char *name;
    enum parameter_place place;
    bool required;
    bool is_list;                     // comma separated, or repeated
    uint16_t segment;                 // of a path parameter: its place in the path, from 0
    uint32_t max_items;               // of a list; 0: none
    const struct schema *schema;      // of the value; of a list, of each item
    const char *default_text;         // or NULL
    const char *const *filter_fields; // of a filterBy: the names that the pattern allows
    size_t filter_field_count;
    uint8_t filter_operators; // bit per enum filter_operator
};

// A node of the tree of path segments.
struct route {
    const char *literal;  // NULL: a parameter takes any segment
    uint16_t first_child; // in ROUTES; literal children, sorted
    uint16_t child_count;
    uint16_t parameter_child;              // in ROUTES; 0: none
    int16_t operations[HTTP_METHOD_COUNT]; // in OPERATIONS; -1: none
};

extern const struct route ROUTES[]; // 0 is the root
extern const size_t ROUTE_COUNT;
