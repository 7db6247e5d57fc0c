#include "model/priority.h"

#include <string.h>
#include <strings.h>

const struct priority_class PRIORITY_CLASSES[] = {
    {"very-low", 25, "91b99f3d-0ba0-5641-9179-48bf6c6e9467"},    {"low", 40, "0bd1914d-8d45-5ba4-b1b6-5a5cce57824a"},
    {"medium-low", 65, "1e42f032-c6f0-5e0a-856f-74a7c0811397"},  {"medium", 80, "4387edc4-3b49-5513-9d24-fee3ec5ae400"},
    {"medium-high", 90, "52ab7960-1c40-5fe2-a483-0d7f46f4f5e2"}, {"high", 125, "27d3c742-05f6-52e5-b9fe-2d5605dc5e13"},
    {"very-high", 150, "67780a8e-6703-5620-9d67-19770ffa1b8e"},
};
const size_t PRIORITY_CLASS_COUNT = sizeof(PRIORITY_CLASSES) / sizeof(PRIORITY_CLASSES[0]);

// Up to version 2.20.
static const struct {
    const char *old_name, *name;
} SYNONYMS[] = {
    {"train", "low"},
    {"build", "high"},
    {"inference", "very-high"},
    {"interactive", "medium-high"},
    {"interactive-preemptible", "medium-high"},
    {"build-preemptible", "medium-high"},
};

const struct priority_class *priority_find(const char *name)
{
    for (size_t i = 0; i < sizeof(SYNONYMS) / sizeof(SYNONYMS[0]); i++)
        if (strcmp(SYNONYMS[i].old_name, name) == 0)
            name = SYNONYMS[i].name;
    for (size_t i = 0; i < PRIORITY_CLASS_COUNT; i++)
        if (strcmp(PRIORITY_CLASSES[i].name, name) == 0)
            return &PRIORITY_CLASSES[i];
    return NULL;
}

const struct priority_class *priority_find_id(const char *id)
{
    for (size_t i = 0; i < PRIORITY_CLASS_COUNT; i++)
        if (strcasecmp(PRIORITY_CLASSES[i].id, id) == 0)
            return &PRIORITY_CLASSES[i];
    return NULL;
}
