#include "base/error.h"
#include "journal/journal.h"
#include "journal/reader.h"
#include "reconciler/state.h"

int reconciler_list_cycles(const struct reconciler *reconciler, int64_t from_ms, int64_t to_ms, struct arena *arena,
                           struct reconciler_cycle **out_cycles, size_t *out_count, struct error *err)
{
    struct journal_row *rows;
    size_t count;
    if (!reconciler->options.journal)
        return error_set(err, ERROR_NOT_FOUND, "journal: none is kept");
    if (journal_list(journal_folder(reconciler->options.journal), from_ms, to_ms, arena, &rows, &count, err) < 0) {
        *err = (struct error){0}; // no segment: there was no cycle yet
        count = 0;
    }
    struct reconciler_cycle *cycles = arena_array(arena, count, sizeof(*cycles));
    for (size_t i = 0; i < count; i++)
        cycles[i] = (struct reconciler_cycle){rows[i].cycle, rows[i].time_ms, rows[i].plan_us, rows[i].decision_count};
    *out_cycles = cycles;
    *out_count = count;
    return 0;
}
