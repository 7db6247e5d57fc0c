// Tenant settings: switches that people see on the general settings page. What is not listed here does not exist.
#pragma once
#include <stdbool.h>

struct db_conn;
struct error;

enum tenant_setting {
    TENANT_SETTING_DEPARTMENTS,         // pages show departments
    TENANT_SETTING_CPU_QUOTA,           // pages show CPU and memory quotas
    TENANT_SETTING_OVER_QUOTA_WEIGHT,   // off: the weight follows the GPU quota
    TENANT_SETTING_LIMIT_TO_DEPARTMENT, // project quotas together stay within the department's
    TENANT_SETTING_COUNT
};

int tenant_setting_is_on(struct db_conn *conn, enum tenant_setting setting, bool *out_is_on, struct error *err);
