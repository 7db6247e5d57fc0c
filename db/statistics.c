#include "db/statistics.h"

#include "db/connection.h"

int db_count_workloads_ever(struct db_conn *conn, int64_t *out_count, struct error *err)
{
    return db_read_number(conn, "SELECT coalesce(max(id), 0) FROM workloads", out_count, err);
}

// Other connections read the figures with the schema: tables that are made again change its number.
int db_renew_statistics_in(struct db_conn *conn, struct error *err)
{
    return connection_exec(conn,
                           "DROP TABLE IF EXISTS sqlite_stat1; DROP TABLE IF EXISTS sqlite_stat4;"
                           "PRAGMA analysis_limit=400; ANALYZE;",
                           err);
}
