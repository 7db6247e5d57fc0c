// What an audit record costs: CPU time of the statements and of the MAC, in one transaction, so that the disk's time is
// not in it. Prints microseconds a record, with as many records before it as the row says.
#include "base/error.h"
#include "db/audit/records.h"
#include "db/db.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    RECORDS = 5000,
    ROUNDS = 12
};

static double cpu_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int add_many(struct db_conn *conn, void *context, struct error *err)
{
    static const struct audit_key KEY = {.secret = "a key", .id = "key"};
    static const char CHANGES[] =
        "[{\"field\":\"name\",\"after\":\"train-4711\"},{\"field\":\"projectId\",\"after\":\"4500001\"},"
        "{\"field\":\"spec.image\",\"after\":\"runai.jfrog.io/demo/quickstart\"},"
        "{\"field\":\"spec.compute.gpuDevicesRequest\",\"after\":1}]";
    struct audit_record record = {.time_ms = 1700000000000,
                                  .subject_type = "User",
                                  .subject = "admin@prorata.local",
                                  .address = "127.0.0.1",
                                  .operation = "create_training1",
                                  .action = "create",
                                  .method = "POST",
                                  .url = "/api/v1/workloads/trainings",
                                  .entity_type = "workload",
                                  .entity_id = "087ef964-64f8-496c-9820-7fe53a243c5a",
                                  .entity_name = "train-4711",
                                  .where = {1, 2, 3},
                                  .status = 202,
                                  .count = 1,
                                  .request = "8a0045ed-a",
                                  .details_json = "{}",
                                  .changes_json = CHANGES};
    double begin = cpu_us();
    int rc = 0;
    for (int i = 0; i < RECORDS && rc == 0; i++) {
        record.last_ms = ++record.time_ms;
        rc = db_add_audit_record(conn, &KEY, &record, NULL, err);
    }
    *(double *)context = (cpu_us() - begin) / RECORDS;
    return rc;
}

int main(void)
{
    char folder[] = "/tmp/prorata-bench-XXXXXX", path[64], command[64];
    struct error err = {0};
    struct db *db;
    if (sodium_init() < 0 || !mkdtemp(folder))
        return 1;
    snprintf(path, sizeof(path), "%s/prorata.db", folder);
    int rc = db_open(&(struct db_options){.path = path}, &db, &err);
    for (int round = 0; round < ROUNDS && rc == 0; round++) {
        double each = 0;
        rc = db_write(db, add_many, &each, &err);
        printf("%6d records before: %.1f us a record\n", round * RECORDS, each);
    }
    if (rc < 0)
        fprintf(stderr, "%s\n", err.message);
    else
        db_close(db);
    snprintf(command, sizeof(command), "rm -r %s", folder);
    return system(command) != 0 || rc < 0;
}
