// Names in sentences: marked by what they name, shown or told otherwise by that mark alone.
#include "base/arena.h"
#include "model/told.h"
#include "tests/support/check.h"

#include <string.h>

static const char *hide_projects(void *context, enum told_kind kind, const char *name)
{
    (void)context;
    return kind == TOLD_PROJECT ? "another project" : kind == TOLD_WORKLOAD ? "another workload" : name;
}

int main(void)
{
    struct arena arena;
    arena_init(&arena);
    const char *project = told_name(&arena, TOLD_PROJECT, "default");
    const char *department = told_name(&arena, TOLD_DEPARTMENT, "default");
    const char *workload = told_name(&arena, TOLD_WORKLOAD, "a1.default.7");
    const struct {
        const char *text, *want_plain, *want_shown;
    } CASES[] = {
        {"Needs 1 GPU in default; 0 are free", "Needs 1 GPU in default; 0 are free",
         "Needs 1 GPU in default; 0 are free"},
        {project, "Project default", "another project"},
        {arena_printf(&arena, "%s holds 2 GPUs in default", project), "Project default holds 2 GPUs in default",
         "another project holds 2 GPUs in default"},
        {arena_printf(&arena, "Department %s of %s", department, project), "Department default of project default",
         "Department default of another project"},
        {arena_printf(&arena, "Yields to %s of %s", workload, project), "Yields to a1.default.7 of project default",
         "Yields to another workload of another project"},
        {arena_printf(&arena, "Yields to %s of project %s", workload, project),
         "Yields to a1.default.7 of project default", "Yields to another workload of project another project"},
        {arena_printf(&arena, "1 is free. %s deserves 1, %s 2", department, project),
         "1 is free. Department default deserves 1, project default 2",
         "1 is free. Department default deserves 1, another project 2"},
        {arena_printf(&arena, "%s%s", project, project), "Project defaultproject default",
         "another projectanother project"},
        {"", "", ""},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        check_text(told_plain(&arena, CASES[i].text), CASES[i].want_plain, "plain %zu", i);
        check_text(told_text(&arena, CASES[i].text, hide_projects, NULL), CASES[i].want_shown, "shown %zu", i);
        check_true(!told_has_names(told_plain(&arena, CASES[i].text)), "no mark is left in %zu", i);
    }
    check_true(told_plain(&arena, NULL) == NULL, "nothing stays nothing");
    arena_done(&arena);
    return check_finish();
}
