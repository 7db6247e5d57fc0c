#include "daemon/doctor.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "daemon/daemon.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    EXIT_PROBLEM = 1,
    EXIT_BAD_SETTING = 2
};

static const char *const LEVELS[] = {[FINDING_GOOD] = "good", [FINDING_NOTE] = "note", [FINDING_PROBLEM] = "problem"};

void findings_add(struct findings *findings, enum finding_level level, const char *check, const char *says,
                  const char *advice)
{
    if (findings->count < FINDINGS_MAX)
        findings->items[findings->count++] = (struct finding){level, check, says, advice};
}

// Takes --json out of the words that are settings.
static bool take_json(int *argc, char **argv)
{
    bool is_json = false;
    int kept = 0;
    for (int i = 0; i < *argc; i++) {
        if (strcmp(argv[i], "--json") == 0)
            is_json = true;
        else
            argv[kept++] = argv[i];
    }
    *argc = kept;
    argv[kept] = NULL;
    return is_json;
}

static bool has_problem(const struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        if (findings->items[i].level == FINDING_PROBLEM)
            return true;
    return false;
}

static void print_json(const struct findings *findings)
{
    struct buffer text;
    struct json_writer json;
    buffer_init(&text, 0);
    json_writer_init(&json, &text, true);
    json_begin_object(&json);
    json_bool(&json, "ok", !has_problem(findings));
    json_key(&json, "findings");
    json_begin_array(&json);
    for (size_t i = 0; i < findings->count; i++) {
        json_begin_object(&json);
        json_text(&json, "check", findings->items[i].check);
        json_text(&json, "level", LEVELS[findings->items[i].level]);
        json_text(&json, "message", findings->items[i].says);
        if (findings->items[i].advice)
            json_text(&json, "advice", findings->items[i].advice);
        json_end_object(&json);
    }
    json_end_array(&json);
    json_end_object(&json);
    puts(text.data);
    buffer_done(&text);
}

static void print_text(const struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->items[i];
        printf("%-8s %-10s %s\n", LEVELS[finding->level], finding->check, finding->says);
        if (finding->advice)
            printf("%-19s -> %s\n", "", finding->advice);
    }
    puts(has_problem(findings) ? "\nA server with these settings would not work here."
                               : "\nA server with these settings works here.");
}

int daemon_main_doctor(int argc, char **argv)
{
    struct arena arena;
    struct settings settings;
    struct error err = {0};
    enum settings_outcome outcome = SETTINGS_HELP_SHOWN;
    bool is_json = take_json(&argc, argv);
    arena_init(&arena);
    if (settings_read(argc, argv, "doctor", &arena, &settings, &outcome, &err) < 0) {
        fprintf(stderr, "prorata: %s\n", err.message);
        arena_done(&arena);
        return EXIT_BAD_SETTING;
    }
    int status = 0;
    if (outcome == SETTINGS_READ) {
        struct findings *findings = arena_alloc(&arena, sizeof(*findings));
        findings->arena = &arena;
        if (strcmp(settings.backend, "kubernetes") == 0)
            doctor_look_at_kubernetes(&settings, findings);
        else
            doctor_look_at_machine(&settings, findings);
        doctor_look_at_socket(&settings, findings);
        doctor_look_at_data(&settings, findings);
        if (is_json)
            print_json(findings);
        else
            print_text(findings);
        status = has_problem(findings) ? EXIT_PROBLEM : 0;
    }
    arena_done(&arena);
    return fflush(stdout) == 0 ? status : EXIT_PROBLEM;
}
