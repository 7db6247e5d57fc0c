// How flags become a specification.
#pragma once

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

extern const struct spec_field SPEC_FIELDS[]; // ends with flag == NULL
