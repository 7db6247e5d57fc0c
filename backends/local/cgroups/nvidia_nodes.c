#include "backends/local/cgroups/nvidia_nodes.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum {
    LINE_SIZE = 256
};

int nvidia_nodes_major(const char *path, const char *name)
{
    char line[LINE_SIZE], found[64];
    bool is_character = false;
    int result = -1, major;
    FILE *file = fopen(path, "re");
    while (file && result < 0 && fgets(line, sizeof(line), file)) {
        if (strchr(line, ':'))
            is_character = strncmp(line, "Character", strlen("Character")) == 0;
        else if (is_character && sscanf(line, "%d %63s", &major, found) == 2 && strcmp(found, name) == 0)
            result = major;
    }
    if (file)
        fclose(file);
    return result;
}

int nvidia_nodes_instance(const char *path, int gpu_minor, int gpu_instance, int compute_instance)
{
    char line[LINE_SIZE], wanted[64], found[64];
    int result = -1, minor;
    if (compute_instance < 0)
        snprintf(wanted, sizeof(wanted), "gpu%d/gi%d/access", gpu_minor, gpu_instance);
    else
        snprintf(wanted, sizeof(wanted), "gpu%d/gi%d/ci%d/access", gpu_minor, gpu_instance, compute_instance);
    FILE *file = fopen(path, "re");
    while (file && result < 0 && fgets(line, sizeof(line), file))
        if (sscanf(line, "%63s %d", found, &minor) == 2 && strcmp(found, wanted) == 0)
            result = minor;
    if (file)
        fclose(file);
    return result;
}

size_t nvidia_nodes_caps(const char *path, int *out_minors, size_t most)
{
    char line[LINE_SIZE];
    size_t count = 0;
    FILE *file = fopen(path, "re");
    while (file && count < most && fgets(line, sizeof(line), file))
        count += sscanf(line, "%*s %d", &out_minors[count]) == 1;
    if (file)
        fclose(file);
    return count;
}
