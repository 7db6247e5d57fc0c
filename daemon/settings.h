// The server's settings, from flags, environment and file (base/settings.def has the rows). Values are read and checked
// here, once; later code sees typed fields.
#pragma once
#include "base/log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct error;

enum {
    SETTINGS_LIST_MAX = 16
};

struct settings {
    const char *data;
    const char *listen[SETTINGS_LIST_MAX];
    size_t listen_count;
    const char *backend;
    const char *cluster; // NULL: none given
    double speed;
    bool log_json;
    enum log_level log_level;
    bool metrics_open;
    int http_threads;
    int64_t body_max_bytes;
    int64_t workload_max_bytes; // 0: no bound, here and in the two below
    int64_t workloads_per_project;
    int64_t workloads_per_person;
    const char *trusted_proxies[SETTINGS_LIST_MAX];
    size_t trusted_proxy_count;
    int64_t token_lifetime_s;
    double read_limit_s; // 0: none
    double journal_days;
    int64_t journal_bytes;  // 0: no journal
    int64_t database_bytes; // 0: no bound
    double deleted_days, event_days, sample_days, allocation_days;
    double retry_delay_s;
    double staleness_grace_s; // negative: none
    bool quick_start;
    int64_t local_gpus;          // -1: ask the driver
    const char *local_user;      // NULL: none given
    const char *local_uid_range; // NULL: none given
    const char *local_gid_range; // NULL: none given
    const char *local_user_map;  // NULL: none
    const char *local_scratch;   // NULL: one in /var/tmp
    int local_images;            // enum image_policy
    const char *local_reserved_cpu;
    const char *local_reserved_memory;
    const char *local_memory_default;
    double local_unkillable_s;
    bool local_private_tmp;
    const char *local_disk_reserve;
    const char *local_image_total;
    const char *local_home_project;
    const char *local_log_pod;
    const char *local_log_project;
    const char *local_log_total;
    double local_log_days;
    bool local_avoids_foreign;
    bool local_kills_over_memory;
    int local_strays;       // enum local_stray
    const char *local_nvml; // NULL: the usual one
    const char *scenario;   // of `prorata demo`; NULL: the first
};

enum settings_outcome {
    SETTINGS_READ,
    SETTINGS_HELP_SHOWN
};

// Reads argv[1..]; texts live in arena. `command` names it in the help text. -1: err is one line that says what and
// where (flag, variable, or file and line).
int settings_read(int argc, char **argv, const char *command, struct arena *arena, struct settings *out_settings,
                  enum settings_outcome *out_outcome, struct error *err);
