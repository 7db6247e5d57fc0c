// The scheduler's findings as they are stored beside a workload, shown to a caller: projects and departments that he
// may not read lose their names there.
#pragma once
#include <jansson.h>

struct visibility;

// Replaces hidden names in the text at this key of the object, if there is one.
void findings_show_sentence(const struct visibility *visibility, json_t *object, const char *key);
// The same in each finding of the array: message, queue, and who holds what. NULL: nothing.
void findings_show(const struct visibility *visibility, json_t *findings);
