#include "replay/nodes.h"

#include "base/arena.h"
#include "base/error.h"
#include "replay/csv.h"

#include <stdlib.h>
#include <string.h>

enum column {
    COLUMN_NODE,
    COLUMN_POOL,
    COLUMN_MODEL,
    COLUMN_GPUS,
    COLUMN_CPU,
    COLUMN_MEMORY,
    COLUMN_COUNT
};

static const struct csv_column COLUMNS[COLUMN_COUNT] = {
    [COLUMN_NODE] = {"node", true}, [COLUMN_POOL] = {"pool", false},    [COLUMN_MODEL] = {"gpu_model", false},
    [COLUMN_GPUS] = {"gpus", true}, [COLUMN_CPU] = {"cpu_milli", true}, [COLUMN_MEMORY] = {"mem_mib", true},
};

enum {
    NODES_MAXIMUM = 100000,
    GPUS_MAXIMUM = 1024,
    PODS_MAXIMUM = 100000, // of a node: traces don't bound them
    PLAIN_CPU_MILLI = 1000 * 1000
};

static const int64_t MIB = INT64_C(1) << 20;
static const int64_t PLAIN_MEMORY_BYTES = INT64_C(16) << 40;

static int compare_nodes(const void *a, const void *b)
{
    return strcmp(((const struct snapshot_node *)a)->name, ((const struct snapshot_node *)b)->name);
}

static struct snapshot_node blank_node(const char *name, uint32_t gpus)
{
    return (struct snapshot_node){.name = name,
                                  .gpu_count = gpus,
                                  .gpu_memory_mib = gpus > 0 ? NODES_GPU_MEMORY_MIB : 0,
                                  .max_pods = PODS_MAXIMUM,
                                  .ready = true};
}

static int64_t sum_gpus(const struct snapshot_node *nodes, size_t count)
{
    int64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += nodes[i].gpu_count * GPU_MILLI_PER_DEVICE;
    return sum;
}

// COUNTxGPUS; false where the text is something else.
static bool read_plain(const char *text, int64_t *out_count, int64_t *out_gpus)
{
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    *out_count = strtoll(text, &end, 10);
    if (*end != 'x' || end[1] < '0' || end[1] > '9')
        return false;
    *out_gpus = strtoll(end + 1, &end, 10);
    return *end == '\0';
}

static int make_plain(const char *text, int64_t count, int64_t gpus, struct arena *arena, struct nodes *out_nodes,
                      struct error *err)
{
    if (count < 1 || count > NODES_MAXIMUM || gpus < 1 || gpus > GPUS_MAXIMUM)
        return error_set(err, ERROR_INVALID, "--nodes: COUNTxGPUS with up to %d nodes of up to %d GPUs, got \"%.40s\"",
                         NODES_MAXIMUM, GPUS_MAXIMUM, text);
    struct snapshot_node *nodes = arena_array(arena, (size_t)count, sizeof(*nodes));
    int width = 1;
    for (int64_t last = count; last >= 10; last /= 10)
        width++;
    for (int64_t i = 0; i < count; i++) {
        nodes[i] = blank_node(arena_printf(arena, "node-%0*d", width, (int)i + 1), (uint32_t)gpus);
        nodes[i].cpu_milli = PLAIN_CPU_MILLI;
        nodes[i].memory_bytes = PLAIN_MEMORY_BYTES;
    }
    *out_nodes = (struct nodes){nodes, (size_t)count, sum_gpus(nodes, (size_t)count)};
    return 0;
}

static int read_node(const struct csv *csv, struct arena *arena, struct snapshot_node *out_node, struct error *err)
{
    const char *name;
    int64_t gpus, cpu, memory;
    if (csv_name(csv, COLUMN_NODE, arena, &name, err) < 0 ||
        csv_count(csv, COLUMN_GPUS, GPUS_MAXIMUM, &gpus, err) < 0 ||
        csv_count(csv, COLUMN_CPU, 1000000000, &cpu, err) < 0 ||
        csv_count(csv, COLUMN_MEMORY, 1000000000, &memory, err) < 0)
        return -1;
    struct snapshot_node node = blank_node(name, (uint32_t)gpus);
    node.cpu_milli = cpu;
    node.memory_bytes = memory * MIB;
    struct snapshot_label *labels = arena_array(arena, 2, sizeof(*labels));
    if (*csv_text(csv, COLUMN_MODEL) != '\0') {
        labels[node.label_count].key = NODES_MODEL_LABEL;
        if (csv_name(csv, COLUMN_MODEL, arena, &labels[node.label_count++].value, err) < 0)
            return -1;
        node.gpu_type = labels[0].value;
    }
    if (*csv_text(csv, COLUMN_POOL) != '\0') {
        labels[node.label_count].key = NODES_POOL_LABEL;
        if (csv_name(csv, COLUMN_POOL, arena, &labels[node.label_count++].value, err) < 0)
            return -1;
    }
    node.labels = labels;
    *out_node = node;
    return 0;
}

struct named {
    const char *name;
    size_t line;
};

static int compare_named(const void *a, const void *b)
{
    const struct named *one = a, *other = b;
    int order = strcmp(one->name, other->name);
    return order != 0 ? order : (one->line > other->line) - (one->line < other->line);
}

// Sorts the names.
static int refuse_duplicates(const struct csv *csv, struct named *names, size_t count, struct error *err)
{
    qsort(names, count, sizeof(*names), compare_named);
    for (size_t i = 1; i < count; i++)
        if (strcmp(names[i - 1].name, names[i].name) == 0)
            return error_set(err, ERROR_INVALID, "%.120s:%zu:1: node: %.60s stands in line %zu already", csv->name,
                             names[i].line, names[i].name, names[i - 1].line);
    return 0;
}

static int read_nodes(struct csv *csv, struct arena *arena, struct nodes *out_nodes, struct error *err)
{
    struct snapshot_node *nodes = NULL;
    struct named *names = NULL;
    size_t count = 0, capacity = 0, name_capacity = 0;
    for (bool is_row = true;; count++) {
        if (csv_next(csv, &is_row, err) < 0)
            return -1;
        if (!is_row)
            break;
        if (count == NODES_MAXIMUM)
            return csv_error(csv, COLUMN_NODE, err, "more than %d nodes", NODES_MAXIMUM);
        nodes = arena_grow(arena, nodes, &capacity, count + 1, sizeof(*nodes));
        names = arena_grow(arena, names, &name_capacity, count + 1, sizeof(*names));
        if (read_node(csv, arena, &nodes[count], err) < 0)
            return -1;
        names[count] = (struct named){nodes[count].name, csv->row_line};
    }
    if (count == 0)
        return error_set(err, ERROR_INVALID, "%.120s:1:1: no nodes", csv->name);
    if (refuse_duplicates(csv, names, count, err) < 0)
        return -1;
    qsort(nodes, count, sizeof(*nodes), compare_nodes);
    *out_nodes = (struct nodes){nodes, count, sum_gpus(nodes, count)};
    if (out_nodes->gpu_milli == 0)
        return error_set(err, ERROR_INVALID, "%.120s:1:1: no node has a GPU", csv->name);
    return 0;
}

int nodes_read_file(const char *file, struct arena *arena, struct nodes *out_nodes, struct error *err)
{
    int64_t count, gpus;
    if (read_plain(file, &count, &gpus))
        return make_plain(file, count, gpus, arena, out_nodes, err);
    struct csv csv;
    if (csv_open(&csv, file, COLUMNS, COLUMN_COUNT, err) < 0)
        return -1;
    int rc = read_nodes(&csv, arena, out_nodes, err);
    csv_close(&csv);
    return rc;
}
