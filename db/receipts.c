#include "db/receipts.h"

#include "db/db.h"

static const char SQL_ADD_RECEIPT[] =
    "INSERT INTO receipts (workload_id, project_id, department_id, pod_name, time_ms, action, rule, node_pool_name,"
    " node_name, gpu_milli, gpu_indices_json, beneficiary_id, beneficiary_uuid, beneficiary_name,"
    " beneficiary_project_id, beneficiary_project_name, is_moved, lost_ms, sentence, victim_queue_json,"
    " beneficiary_queue_json) SELECT w.id, w.project_id, w.department_id, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, b.id, b.uuid,"
    " b.name, b.project_id, b.project_name, ?11, ?12, ?13, ?14, ?15 FROM workloads w LEFT JOIN workloads b ON b.id ="
    " ?10 WHERE w.id = ?1";

int db_add_receipt(struct db_conn *conn, const struct receipt_row *row, struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare(conn, SQL_ADD_RECEIPT, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, row->workload_id);
    db_bind_text(stmt, 2, row->pod_name);
    db_bind_int(stmt, 3, row->time_ms);
    db_bind_text(stmt, 4, row->action);
    db_bind_text(stmt, 5, row->rule);
    db_bind_text(stmt, 6, row->node_pool_name);
    db_bind_text(stmt, 7, row->node_name);
    db_bind_int(stmt, 8, row->gpu_milli);
    db_bind_text(stmt, 9, row->gpu_indices_json);
    db_bind_int(stmt, 10, row->beneficiary_id);
    db_bind_int(stmt, 11, row->is_moved);
    db_bind_int(stmt, 12, row->lost_ms);
    db_bind_text(stmt, 13, row->sentence);
    db_bind_text(stmt, 14, row->victim_queue_json);
    db_bind_text(stmt, 15, row->beneficiary_queue_json);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}
