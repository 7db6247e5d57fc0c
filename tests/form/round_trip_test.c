// Writing a snapshot and reading it back changes nothing; nor does shuffling the lists of a document. Over a document
// that uses every key, and over every conformance case.
#include "base/arena.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "form/snapshot_reader.h"
#include "form/snapshot_writer.h"
#include "tests/support/check.h"
#include "tests/support/random_document.h"

#include <dirent.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

// What a document says, as text: two documents that say the same give the same text. NULL where it is not good.
static char *read_and_write(const json_t *document, const char *name)
{
    struct arena arena;
    struct buffer out;
    struct json_writer json;
    struct error err = {0};
    struct snapshot *snapshot;
    arena_init(&arena);
    buffer_init(&out, 0);
    char *text = json_dumps(document, 0);
    if (snapshot_read(text, strlen(text), &arena, &snapshot, &err) == 0) {
        json_writer_init(&json, &out, false);
        snapshot_write(&json, snapshot);
    }
    check_text(err.message, "", "%s: read", name);
    free(text);
    arena_done(&arena);
    return out.data;
}

static void check_document(json_t *document, const char *name)
{
    char *once = read_and_write(document, name);
    json_t *written = json_loads(once ? once : "null", JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
    char *twice = read_and_write(written, name);
    check_text(twice, once, "%s: written, read and written", name);
    for (unsigned seed = 1; seed <= 5; seed++) {
        struct document_dice dice = {.state = seed};
        json_t *shuffled = json_deep_copy(document);
        random_document_shuffle(&dice, shuffled);
        char *text = read_and_write(shuffled, name);
        check_text(text, once, "%s: shuffled with seed %u", name, seed);
        free(text);
        json_decref(shuffled);
    }
    free(once);
    free(twice);
    json_decref(written);
}

static void check_every_key(void)
{
    json_error_t problem;
    json_t *document = json_load_file("tests/form/every_key.json", JSON_REJECT_DUPLICATES, &problem);
    check_true(document != NULL, "every_key.json: %s", problem.text);
    check_document(document, "every_key.json");
    // What is written of it has every key of it again: nothing is read and then forgotten.
    char *once = read_and_write(document, "every_key.json");
    json_t *written = json_loads(once, 0, NULL);
    const char *key;
    json_t *value;
    json_object_foreach(document, key, value)
        check_true(json_object_get(written, key) != NULL, "%s is written", key);
    static const char *const LISTS[] = {"nodePools", "nodes", "departments", "projects", "workloads", "usage"};
    for (size_t i = 0; i < COUNT(LISTS); i++) {
        json_t *item = json_array_get(json_object_get(document, LISTS[i]), 0);
        json_t *other = json_array_get(json_object_get(written, LISTS[i]), 0);
        json_object_foreach(item, key, value)
            check_true(json_object_get(other, key) != NULL, "%s[0].%s is written", LISTS[i], key);
    }
    free(once);
    json_decref(written);
    json_decref(document);
}

int main(void)
{
    check_every_key();
    DIR *dir = opendir("tests/conformance/cases");
    check_true(dir != NULL, "tests/conformance/cases");
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        char path[512];
        if (!strstr(entry->d_name, ".json"))
            continue;
        snprintf(path, sizeof(path), "tests/conformance/cases/%s", entry->d_name);
        json_t *test_case = json_load_file(path, 0, NULL);
        check_document(json_object_get(test_case, "snapshot"), entry->d_name);
        json_decref(test_case);
    }
    if (dir)
        closedir(dir);
    return check_finish();
}
