#include "api/scheduling/timeline_blocks.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

enum {
    BLOCKS_OF_DEVICES = 1400, // with a name each, what an answer has room for
    BLOCKS_OF_SHARES = 3000,
    SHARES_AT_FIRST = 4,    // as many parts as would be four times too many blocks: neighbours are often alike
    LEAST_PART_MS = 1000,   // of shares: they are told in seconds
    NODE_STEP_MILLI = 1000, // what a share is rounded to
    ROW_STEP_MILLI = 250,
    DEVICES = 64,
};

// What a project held of a lane; project_id 0: those of others, and of those beyond the ones that are told apart.
struct row {
    size_t lane;
    int64_t project_id;
    int64_t milli_ms;
};

struct merging {
    const struct timeline_query *query;
    size_t lane_count;
    const struct timeline_place *places;
    size_t place_count;
    enum timeline_by by;
    struct row *rows; // of shares
    size_t row_count;
    size_t *row_of; // by place
    int64_t step_milli;
    struct arena *arena;
    int64_t part_ms;
    struct timeline_block *blocks;
    size_t count, capacity;
};

static int64_t begin_of(const struct merging *merging, const struct timeline_place *place)
{
    return place->held.started_ms > merging->query->start_ms ? place->held.started_ms : merging->query->start_ms;
}

// A stranger's is alike to no other: nobody learns what belongs together.
static bool is_of_same_project(const struct timeline_place *a, const struct timeline_place *b)
{
    return a && b && a->held.project_id && a->held.project_id == b->held.project_id;
}

static bool is_of_same_workload(const struct timeline_place *a, const struct timeline_place *b)
{
    return a && b && a->held.workload_id && a->held.workload_id == b->held.workload_id;
}

static struct timeline_block *add_block(struct merging *merging, const struct timeline_block *block)
{
    merging->blocks =
        arena_grow(merging->arena, merging->blocks, &merging->capacity, merging->count + 1, sizeof(*merging->blocks));
    merging->blocks[merging->count] = *block;
    return &merging->blocks[merging->count++];
}

static void take_place(struct timeline_block *block, const struct timeline_place *place)
{
    block->count++;
    block->failed += place->held.end == HELD_FAILED;
    block->preempted += place->held.end == HELD_PREEMPTED;
    if (place->held.ended_ms > block->to_ms)
        block->to_ms = place->held.ended_ms;
    if (!is_of_same_project(block->whose, place))
        block->whose = NULL;
    if (!is_of_same_workload(block->only, place))
        block->only = NULL;
}

// Per device, what came last; a chain of short places is one block however long it gets.
static void merge_device(struct merging *merging, const struct timeline_place *place, unsigned device, size_t *last)
{
    int64_t from_ms = begin_of(merging, place), to_ms = place->held.ended_ms;
    struct timeline_block *before = *last ? &merging->blocks[*last - 1] : NULL;
    bool is_short = to_ms - from_ms < merging->part_ms;
    if (before && is_short && from_ms - before->to_ms < merging->part_ms &&
        (before->count > 1 || before->to_ms - before->from_ms < merging->part_ms)) {
        take_place(before, place);
        before->gpu_milli = 1000;
        return;
    }
    add_block(merging, &(struct timeline_block){.lane = place->lane,
                                                .from_ms = from_ms,
                                                .to_ms = to_ms,
                                                .devices = UINT64_C(1) << device,
                                                .gpu_milli = place->held.gpu_milli,
                                                .count = 1,
                                                .failed = place->held.end == HELD_FAILED,
                                                .preempted = place->held.end == HELD_PREEMPTED,
                                                .only = place,
                                                .whose = place});
    *last = merging->count;
}

static int compare_blocks(const void *a, const void *b)
{
    const struct timeline_block *left = a, *right = b;
    if (left->lane != right->lane)
        return left->lane < right->lane ? -1 : 1;
    if (left->from_ms != right->from_ms)
        return left->from_ms < right->from_ms ? -1 : 1;
    if (left->to_ms != right->to_ms)
        return left->to_ms < right->to_ms ? -1 : 1;
    if (left->count != right->count)
        return left->count < right->count ? -1 : 1;
    int64_t one = left->only ? left->only->held.id : 0, other = right->only ? right->only->held.id : 0;
    if (one != other)
        return one < other ? -1 : 1;
    return left->devices < right->devices ? -1 : left->devices > right->devices;
}

static bool is_alike(const struct timeline_block *a, const struct timeline_block *b)
{
    bool is_same_project = a->whose == b->whose || is_of_same_project(a->whose, b->whose);
    return a->lane == b->lane && a->from_ms == b->from_ms && a->to_ms == b->to_ms && a->count == b->count &&
           a->failed == b->failed && a->preempted == b->preempted && a->only == b->only && is_same_project;
}

// What is alike on several devices of a node is one block.
static void join_devices(struct merging *merging)
{
    size_t kept = 0;
    if (merging->count)
        qsort(merging->blocks, merging->count, sizeof(*merging->blocks), compare_blocks);
    for (size_t i = 0; i < merging->count; i++) {
        struct timeline_block *before = kept ? &merging->blocks[kept - 1] : NULL, *block = &merging->blocks[i];
        if (before && is_alike(before, block)) {
            before->devices |= block->devices;
            if (!block->only)
                before->gpu_milli += block->gpu_milli;
        } else {
            merging->blocks[kept++] = *block;
        }
    }
    merging->count = kept;
}

static void merge_devices(struct merging *merging)
{
    size_t *last = arena_array(merging->arena, merging->lane_count * DEVICES, sizeof(*last));
    merging->count = 0;
    for (size_t i = 0; i < merging->place_count; i++) {
        const struct timeline_place *place = &merging->places[i];
        for (uint64_t left = place->held.devices; left; left &= left - 1) {
            unsigned device = (unsigned)__builtin_ctzll(left);
            merge_device(merging, place, device, &last[place->lane * DEVICES + device]);
        }
    }
    join_devices(merging);
}

static int compare_row_keys(const void *a, const void *b)
{
    const struct row *left = a, *right = b;
    if (left->lane != right->lane)
        return left->lane < right->lane ? -1 : 1;
    return (left->project_id > right->project_id) - (left->project_id < right->project_id);
}

// By lane; who held most first, the others last.
static int compare_rows(const void *a, const void *b)
{
    const struct row *left = a, *right = b;
    if (left->lane != right->lane)
        return left->lane < right->lane ? -1 : 1;
    if (!left->project_id != !right->project_id)
        return left->project_id ? -1 : 1;
    if (left->milli_ms != right->milli_ms)
        return left->milli_ms > right->milli_ms ? -1 : 1;
    return compare_row_keys(a, b);
}

static struct row *find_row(const struct merging *merging, size_t lane, int64_t project_id)
{
    return bsearch(&(struct row){.lane = lane, .project_id = project_id}, merging->rows, merging->row_count,
                   sizeof(*merging->rows), compare_row_keys);
}

static int64_t length_ms(const struct merging *merging, const struct timeline_place *place)
{
    return place->held.ended_ms - begin_of(merging, place);
}

// Puts a row behind those that are kept; what is of the same lane and project as the last of them is added to that.
static void keep_row(struct row *rows, size_t *kept, struct row row)
{
    if (*kept && compare_row_keys(&rows[*kept - 1], &row) == 0)
        rows[*kept - 1].milli_ms += row.milli_ms;
    else
        rows[(*kept)++] = row;
}

// One row for each lane and project, by both.
static void collect_rows(struct merging *merging, bool has_lanes)
{
    size_t kept = 0;
    merging->rows = arena_array(merging->arena, merging->place_count + 1, sizeof(*merging->rows));
    for (size_t i = 0; i < merging->place_count; i++) {
        const struct timeline_place *place = &merging->places[i];
        merging->rows[i] = (struct row){has_lanes ? place->lane : 0, place->held.project_id,
                                        place->held.gpu_milli * length_ms(merging, place)};
    }
    if (merging->place_count)
        qsort(merging->rows, merging->place_count, sizeof(*merging->rows), compare_row_keys);
    for (size_t i = 0; i < merging->place_count; i++)
        keep_row(merging->rows, &kept, merging->rows[i]);
    merging->row_count = kept;
}

// Of a lane only so many projects are told apart; what others hold goes to the row without a project.
static void join_small_rows(struct merging *merging)
{
    size_t kept = 0, of_lane = 0;
    if (merging->row_count)
        qsort(merging->rows, merging->row_count, sizeof(*merging->rows), compare_rows);
    for (size_t i = 0; i < merging->row_count; i++) {
        struct row row = merging->rows[i], *before = kept ? &merging->rows[kept - 1] : NULL;
        of_lane = before && before->lane == row.lane ? of_lane + 1 : 0;
        if (of_lane >= TIMELINE_POOL_ROWS)
            row.project_id = 0;
        keep_row(merging->rows, &kept, row);
    }
    merging->row_count = kept;
}

static void number_rows(struct merging *merging)
{
    enum timeline_by by = merging->by;
    merging->row_of = arena_array(merging->arena, merging->place_count + 1, sizeof(*merging->row_of));
    if (by == TIMELINE_BY_NODES) {
        merging->rows = arena_array(merging->arena, merging->lane_count + 1, sizeof(*merging->rows));
        merging->row_count = merging->lane_count;
        for (size_t i = 0; i < merging->row_count; i++)
            merging->rows[i].lane = i;
        for (size_t i = 0; i < merging->place_count; i++)
            merging->row_of[i] = merging->places[i].lane;
        return;
    }
    collect_rows(merging, by == TIMELINE_BY_POOLS);
    if (by == TIMELINE_BY_POOLS)
        join_small_rows(merging);
    if (merging->row_count)
        qsort(merging->rows, merging->row_count, sizeof(*merging->rows), compare_row_keys);
    for (size_t i = 0; i < merging->place_count; i++) {
        size_t lane = by == TIMELINE_BY_POOLS ? merging->places[i].lane : 0;
        const struct row *row = find_row(merging, lane, merging->places[i].held.project_id);
        merging->row_of[i] = (size_t)((row ? row : find_row(merging, lane, 0)) - merging->rows);
    }
    if (by == TIMELINE_BY_PROJECTS) {
        for (size_t i = 0; i < merging->row_count; i++)
            merging->rows[i].lane = i;
        merging->lane_count = merging->row_count;
    }
}

// A part of the period of one row.
struct part {
    int64_t milli_ms;
    int64_t began, running; // places that began in it, and those that it began with
    int64_t failed, preempted;
    const struct timeline_place *only;
    const struct timeline_place *whose;
};

static void fill_parts(const struct merging *merging, struct part *parts, size_t part_count)
{
    for (size_t i = 0; i < merging->place_count; i++) {
        const struct timeline_place *place = &merging->places[i];
        int64_t from_ms = begin_of(merging, place) - merging->query->start_ms,
                to_ms = place->held.ended_ms - merging->query->start_ms;
        struct part *row = parts + merging->row_of[i] * part_count;
        size_t first = (size_t)(from_ms / merging->part_ms), last = (size_t)((to_ms - 1) / merging->part_ms);
        for (size_t p = first; p <= last && p < part_count; p++) {
            int64_t begin_ms = (int64_t)p * merging->part_ms, end_ms = begin_ms + merging->part_ms;
            struct part *part = &row[p];
            bool is_first = part->milli_ms == 0;
            part->milli_ms +=
                place->held.gpu_milli * ((to_ms < end_ms ? to_ms : end_ms) - (from_ms > begin_ms ? from_ms : begin_ms));
            bool is_shown = place->held.project_id != 0;
            part->whose = (is_first && is_shown) || is_of_same_project(part->whose, place) ? place : NULL;
            part->only = (is_first && is_shown) || is_of_same_workload(part->only, place) ? place : NULL;
            *(p == first ? &part->began : &part->running) += 1;
        }
        if (last < part_count) {
            row[last].failed += place->held.end == HELD_FAILED;
            row[last].preempted += place->held.end == HELD_PREEMPTED;
        }
    }
}

// Neighbours of the same project that hold about as much are one block. The last part ends with the period. before: the
// row's last block, if it has one.
static void add_part(struct merging *merging, size_t lane, struct timeline_block *before, size_t index,
                     const struct part *part)
{
    int64_t from_ms = merging->query->start_ms + (int64_t)index * merging->part_ms, to_ms = from_ms + merging->part_ms;
    if (to_ms > merging->query->end_ms)
        to_ms = merging->query->end_ms;
    int64_t step_milli = merging->step_milli,
            gpu_milli = (part->milli_ms / (to_ms - from_ms) + step_milli / 2) / step_milli * step_milli;
    if (before && before->to_ms == from_ms && before->gpu_milli == gpu_milli &&
        (is_of_same_project(before->whose, part->whose) || (!before->whose && !part->whose)) &&
        (is_of_same_workload(before->only, part->only) || (!before->only && !part->only))) {
        before->to_ms = to_ms;
        before->count += part->began;
        before->failed += part->failed;
        before->preempted += part->preempted;
        return;
    }
    add_block(merging, &(struct timeline_block){.lane = lane,
                                                .from_ms = from_ms,
                                                .to_ms = to_ms,
                                                .gpu_milli = gpu_milli,
                                                .count = part->began + part->running,
                                                .failed = part->failed,
                                                .preempted = part->preempted,
                                                .only = part->only,
                                                .whose = part->whose});
}

// A node's part tells whose it is where that is one alone; a project's row is its own.
static void forget_workloads(const struct merging *merging, struct part *part, const struct row *row)
{
    if (merging->by == TIMELINE_BY_NODES)
        return;
    part->only = NULL;
    if (row->project_id == 0)
        part->whose = NULL;
}

static void merge_shares(struct merging *merging)
{
    int64_t period_ms = merging->query->end_ms - merging->query->start_ms;
    size_t part_count = (size_t)((period_ms + merging->part_ms - 1) / merging->part_ms);
    struct part *parts = arena_array(merging->arena, merging->row_count * part_count, sizeof(*parts));
    merging->count = 0;
    fill_parts(merging, parts, part_count);
    for (size_t row = 0; row < merging->row_count; row++) {
        size_t first = merging->count; // the row's first block
        for (size_t p = 0; p < part_count; p++) {
            struct part *part = &parts[row * part_count + p];
            struct timeline_block *before = merging->count > first ? &merging->blocks[merging->count - 1] : NULL;
            forget_workloads(merging, part, &merging->rows[row]);
            if (part->milli_ms)
                add_part(merging, merging->rows[row].lane, before, p, part);
        }
    }
}

void timeline_merge(const struct timeline_query *query, enum timeline_by by, size_t lane_count,
                    const struct timeline_place *places, size_t place_count, int64_t parts, struct arena *arena,
                    struct timeline_blocks *out_blocks)
{
    struct merging merging = {.query = query,
                              .lane_count = lane_count,
                              .places = places,
                              .place_count = place_count,
                              .arena = arena,
                              .by = by,
                              .step_milli = by == TIMELINE_BY_NODES ? NODE_STEP_MILLI : ROW_STEP_MILLI};
    int64_t period_ms = query->end_ms - query->start_ms;
    bool has_devices = by == TIMELINE_BY_NODES && lane_count <= TIMELINE_DEVICE_LANES;
    size_t bound = has_devices ? BLOCKS_OF_DEVICES : BLOCKS_OF_SHARES;
    if (!has_devices)
        number_rows(&merging);
    if (!has_devices && merging.row_count * (size_t)parts > SHARES_AT_FIRST * bound)
        parts = (int64_t)(SHARES_AT_FIRST * bound / merging.row_count);
    int64_t least_ms = has_devices ? 1 : LEAST_PART_MS;
    merging.part_ms = period_ms / (parts < 1 ? 1 : parts);
    for (merging.part_ms = merging.part_ms < least_ms ? least_ms : merging.part_ms;;
         merging.part_ms += (merging.part_ms + 3) / 4) {
        if (has_devices)
            merge_devices(&merging);
        else
            merge_shares(&merging);
        if (merging.count <= bound || merging.part_ms > period_ms)
            break;
    }
    *out_blocks =
        (struct timeline_blocks){merging.blocks, merging.count, merging.lane_count, merging.part_ms, has_devices};
}
