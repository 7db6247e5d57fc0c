#include "daemon/local_backend.h"

#include "apps/address.h"
#include "backends/local/devices/nvml.h"
#include "backends/local/local.h"
#include "backends/local/machine.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/program.h"
#include "base/quantity.h"
#include "base/timestamp.h"
#include "daemon/backend_site.h"
#include "daemon/data_folder.h"
#include "daemon/local_users.h"
#include "daemon/settings.h"
#include "db/db.h"
#include "db/nodes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

enum {
    PODS_MAX = 2000,
    LOG_POD_MIN = 1024 * 1024,
    LOG_PART_OF_DISK = 10,
    PART_OF_DISK = 4
};

static int register_node(struct db_conn *conn, void *context, struct error *err)
{
    const struct machine *machine = context;
    struct arena arena;
    struct node *nodes = NULL;
    struct utsname system;
    size_t count = 0;
    int64_t cluster_id, now_ms = timestamp_now_ms();
    if (db_read_number(conn, "SELECT min(id) FROM clusters", &cluster_id, err) < 0)
        return -1;
    arena_init(&arena);
    int rc = db_list_nodes(conn, cluster_id, &arena, &nodes, &count, err);
    for (size_t i = 0; i < count && rc == 0; i++)
        if (strcmp(nodes[i].name, machine->name) != 0)
            rc = db_remove_node(conn, cluster_id, nodes[i].name, now_ms, err);
    struct node node = {.labels_json = node_labels_json(&arena, NULL, machine->name), .taints_json = "[]"};
    for (size_t i = 0; i < count; i++)
        if (strcmp(nodes[i].name, machine->name) == 0)
            node = nodes[i]; // what people set on it stays
    node.cluster_id = cluster_id;
    node.name = machine->name;
    node.status = NODE_STATUS_READY;
    node.status_reason = "";
    node.is_cordoned = false; // a person's is kept beside it
    node.gpu_count = (int64_t)machine->gpu_count;
    node.gpu_memory_mib = machine->gpu_memory_mib;
    node.gpu_type = machine->gpu_type;
    if (machine->has_pretended_gpus)
        node.unhealthy_gpus_json = NULL; // nothing watches them: only what holds them now counts
    node.mig_strategy = machine->mig_count ? "mixed" : "none";
    node.mig_instances_json = machine->mig_json;
    node.cpu_milli = machine->cpu_milli;
    node.memory_bytes = machine->memory_bytes;
    node.max_pods = PODS_MAX;
    node.version = uname(&system) == 0 ? arena_strdup(&arena, system.release) : "";
    node.created_ms = node.created_ms ? node.created_ms : now_ms;
    node.updated_ms = now_ms;
    if (rc == 0)
        rc = db_upsert_node(conn, &node, err);
    arena_done(&arena);
    return rc;
}

const char *local_backend_find_supervisor(struct arena *arena, struct error *err)
{
    const char *path = program_path(arena, err);
    if (!path)
        return NULL;
    const char *folder = arena_strndup(arena, path, (size_t)(strrchr(path, '/') - path));
    const char *beside = arena_printf(arena, "%s/prorata-supervisor", folder);
    const char *installed = arena_printf(arena, "%s/../libexec/prorata/prorata-supervisor", folder);
    if (access(beside, X_OK) == 0)
        return beside;
    if (access(installed, X_OK) == 0)
        return installed;
    error_set(err, ERROR_INVALID, "prorata-supervisor is neither in %s nor in ../libexec/prorata", folder);
    return NULL;
}

static int read_wishes(const struct settings *settings, struct machine_wishes *out, struct error *err)
{
    *out = (struct machine_wishes){.pretended_gpus = settings->local_gpus, .nvml = settings->local_nvml};
    if (quantity_parse_cpu(settings->local_reserved_cpu, &out->reserved_cpu_milli, err) < 0)
        return error_prefix(err, "local-reserved-cpu: ");
    if (quantity_parse_memory(settings->local_reserved_memory, &out->reserved_memory_bytes, err) < 0)
        return error_prefix(err, "local-reserved-memory: ");
    return 0;
}

static void tell(const struct settings *settings, const struct machine *machine, const struct local_options *options,
                 struct arena *arena)
{
    const char *danger = local_users_danger(settings, &options->users, arena);
    const char *no_groups = local_users_without_groups(settings, &options->users, arena);
    log_write(LOG_INFO, "backends",
              "this machine is the cluster node=%s gpus=%zu%s cpu_milli=%" PRId64 " memory_mib=%" PRId64, machine->name,
              machine->gpu_count, machine->has_pretended_gpus ? " (pretended)" : "", machine->cpu_milli,
              machine->memory_bytes >> 20);
    if (machine->mig_count && machine->gpu_count)
        log_write(LOG_WARN, "backends",
                  "MIG divides some GPUs: the others, %zu, are not used, for this machine takes MIG requests only",
                  machine->gpu_count);
    if (danger)
        log_write(LOG_WARN, "backends", "%s%s", geteuid() ? "the server is not root: " : "", danger);
    else
        log_write(LOG_INFO, "backends", "pods of each project run as a user of its own, of %" PRId64 "+%" PRId64,
                  options->users.range.first, options->users.range.count);
    if (no_groups)
        log_write(LOG_WARN, "backends", "pods have no group of their own, which would mark processes left behind: %s",
                  no_groups);
    if (options->users.map_file)
        log_write(LOG_INFO, "backends", "--local-user-map %s%s", options->users.map_file,
                  geteuid() ? " has no effect" : " names other users");
}

static const char *name_of_folder(const char *path, struct arena *arena)
{
    struct stat about;
    if (stat(path, &about) < 0)
        about = (struct stat){0};
    return arena_printf(arena, "prorata-%llx-%llx", (unsigned long long)about.st_dev, (unsigned long long)about.st_ino);
}

void local_backend_scratch(const struct settings *settings, const char *data, struct arena *arena,
                           const char **out_above, const char **out_path)
{
    *out_above = settings->local_scratch ? settings->local_scratch : "/var/tmp";
    *out_path = arena_printf(arena, "%s/%s-%u", *out_above, name_of_folder(data, arena), (unsigned)geteuid());
}

static int64_t smaller(int64_t bytes, int64_t other)
{
    return other && (!bytes || other < bytes) ? other : bytes;
}

int local_backend_log_bounds(const struct settings *settings, const char *data, struct log_bounds *out,
                             struct error *err)
{
    struct statvfs disk;
    *out = (struct log_bounds){.kept_ms = (int64_t)(settings->local_log_days * 24 * 60 * 60 * 1000)};
    if (quantity_parse_memory(settings->local_log_pod, &out->pod_bytes, err) < 0)
        return error_prefix(err, "local-log-pod: ");
    if (out->pod_bytes < LOG_POD_MIN)
        return error_set(err, ERROR_INVALID, "local-log-pod: at least 1Mi, got %s", settings->local_log_pod);
    if (quantity_parse_memory(settings->local_log_project, &out->project_bytes, err) < 0)
        return error_prefix(err, "local-log-project: ");
    if (quantity_parse_memory(settings->local_log_total, &out->total_bytes, err) < 0)
        return error_prefix(err, "local-log-total: ");
    if (out->total_bytes && statvfs(data, &disk) == 0) {
        uint64_t part = (uint64_t)disk.f_blocks * disk.f_frsize / LOG_PART_OF_DISK;
        int64_t rounded = (int64_t)(part >> 20) << 20;
        out->total_bytes = smaller(out->total_bytes, rounded ? rounded : LOG_POD_MIN);
    }
    out->pod_bytes = smaller(out->pod_bytes, smaller(out->project_bytes, out->total_bytes));
    return 0;
}

// An amount, or a quarter of the disk that `path` is on where that is less; 0: none.
static int read_part_of_disk(const char *name, const char *text, const char *path, int64_t *out_bytes,
                             struct error *err)
{
    struct statvfs disk;
    if (quantity_parse_memory(text, out_bytes, err) < 0)
        return error_prefix(err, "%s: ", name);
    if (*out_bytes && statvfs(path, &disk) == 0) // else it is not there yet
        *out_bytes = smaller(*out_bytes, (int64_t)((uint64_t)disk.f_blocks / PART_OF_DISK * disk.f_frsize) >> 20 << 20);
    return 0;
}

// What local_options.app_path says.
static int read_app_path(const struct settings *settings, const char **out_path, struct error *err)
{
    struct app_domain domain;
    if (!settings->apps_listen)
        return 0;
    if (app_domain_parse(settings->apps_domain, settings->apps_listen, &domain, err) < 0)
        return -1;
    if (!domain.is_host_each)
        *out_path = APP_PATH_BEGIN;
    return 0;
}

int local_backend_create(const struct backend_site *site, struct backend *out_backend, struct error *err)
{
    const struct settings *settings = site->settings;
    struct arena *arena = site->arena;
    struct machine machine;
    struct machine_wishes wishes;
    struct local_options options = {0};
    char *path = realpath(site->folder->path, NULL);
    if (!path)
        return error_set(err, ERROR_INVALID, "%s: %s", site->folder->path, strerror(errno));
    options.home = arena_printf(arena, "%s/pods", path);
    // Two servers on a machine have pods of their own.
    options.cgroup_name = name_of_folder(path, arena);
    options.data = arena_strdup(arena, path);
    options.vault = site->vault;
    options.images_folder = arena_printf(arena, "%s/images", path);
    local_backend_scratch(settings, path, arena, &options.scratch_above, &options.scratch);
    options.homes = arena_printf(arena, "%s-homes", options.scratch);
    options.images = (enum image_policy)settings->local_images;
    free(path);
    options.supervisor = local_backend_find_supervisor(arena, err);
    if (options.supervisor)
        options.mpi_agent =
            arena_printf(arena, "%.*s/prorata-mpi-agent", (int)(strrchr(options.supervisor, '/') - options.supervisor),
                         options.supervisor);
    options.places = site->places;
    options.inference_address = settings->local_inference_address;
    if (read_app_path(settings, &options.app_path, err) < 0)
        return -1;
    options.unkillable_ms = (int64_t)(settings->local_unkillable_s * 1000);
    if (local_users_choose(settings, site->db, site->is_first, arena, &options.users, err) < 0)
        return -1;
    if (quantity_parse_memory(settings->local_disk_reserve, &options.disk_reserve, err) < 0)
        return error_prefix(err, "local-disk-reserve: ");
    if (read_part_of_disk("local-home-project", settings->local_home_project, options.scratch_above,
                          &options.home_project, err) < 0 ||
        read_part_of_disk("local-image-total", settings->local_image_total, options.data, &options.image_bytes, err) <
            0)
        return -1;
    if (local_backend_log_bounds(settings, options.data, &options.logs, err) < 0)
        return -1;
    if (memory_default_parse(settings->local_memory_default, &options.memory_default, err) < 0)
        return error_prefix(err, "local-memory-default: ");
    if (users_check(&options.users, arena, err) < 0)
        return error_prefix(err, "local-user: ");
    if (!options.supervisor || read_wishes(settings, &wishes, err) < 0 ||
        machine_look(&wishes, arena, &machine, err) < 0)
        return -1;
    options.node_name = machine.name;
    options.has_private_tmp = !settings->local_shares_tmp;
    options.memory_bytes = machine.memory_bytes;
    options.gpus = machine.gpus;
    options.gpu_count = machine.gpu_count;
    options.mig = machine.mig;
    options.mig_count = machine.mig_count;
    options.gpu_memory_mib = machine.gpu_memory_mib;
    options.nvml = machine.nvml;
    options.avoids_foreign = !settings->local_ignores_foreign;
    options.strays = (enum local_stray)settings->local_strays;
    options.kills_over_memory = settings->local_kills_over_memory;
    if (db_write(site->db, register_node, &machine, err) < 0) {
        nvml_close(machine.nvml);
        return -1;
    }
    tell(settings, &machine, &options, arena);
    return local_create(&options, out_backend, err);
}
