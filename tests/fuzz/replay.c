// Runs a libFuzzer target over the files of a corpus folder, so that ordinary builds test what fuzzing once found.
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return -1;
    uint8_t *data = malloc(1 << 20);
    size_t size = data ? fread(data, 1, 1 << 20, file) : 0;
    fclose(file);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    int count = 0;
    DIR *dir = argc > 1 ? opendir(argv[1]) : NULL;
    if (!dir) {
        fprintf(stderr, "no corpus folder %s\n", argc > 1 ? argv[1] : "(none given)");
        return 1;
    }
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[2048];
        snprintf(path, sizeof(path), "%s/%s", argv[1], entry->d_name);
        if (entry->d_name[0] != '.' && run_file(path) == 0)
            count++;
    }
    closedir(dir);
    printf("%d inputs\n", count);
    return count > 0 ? 0 : 1;
}
