// Quantities of Kubernetes: every suffix, exact to the last digit.
#include "backends/kubernetes/objects/kube_quantity.h"
#include "base/error.h"
#include "tests/support/check.h"

#include <string.h>

enum {
    REFUSED = -77
};

struct quantity_case {
    const char *text;
    int64_t units, milli;
};

static const struct quantity_case CASES[] = {
    {"0", 0, 0},
    {"1", 1, 1000},
    {"+3", 3, 3000},
    {"-2", -2, -2000},
    {"0.5", 1, 500},
    {".5", 1, 500},
    {"5.", 5, 5000},
    {"-0.5", -1, -500},
    {"500m", 1, 500},
    {"1500m", 2, 1500},
    {"100u", 1, 1},
    {"1n", 1, 1},
    {"1000000n", 1, 1},
    {"1000001n", 1, 2},
    {"2k", 2000, 2000000},
    {"3M", 3000000, 3000000000},
    {"4G", 4000000000, 4000000000000},
    {"5T", 5000000000000, 5000000000000000},
    {"6P", 6000000000000000, 6000000000000000000},
    {"7E", 7000000000000000000, INT64_MAX},
    {"1Ki", 1024, 1024000},
    {"1.5Mi", 1572864, 1572864000},
    {"32Gi", INT64_C(32) << 30, (INT64_C(32) << 30) * 1000},
    {"2Ti", INT64_C(2) << 40, (INT64_C(2) << 40) * 1000},
    {"1Pi", INT64_C(1) << 50, (INT64_C(1) << 50) * 1000},
    {"7Ei", INT64_C(7) << 60, INT64_MAX},
    {"8Ei", INT64_MAX, INT64_MAX},
    {"-8Ei", -INT64_MAX, -INT64_MAX},
    {"12e6", 12000000, 12000000000},
    {"12E6", 12000000, 12000000000},
    {"12E", INT64_MAX, INT64_MAX},
    {"1.25e2", 125, 125000},
    {"125e-2", 2, 1250},
    {"1e+3", 1000, 1000000},
    {"1e-30", 1, 1},
    {"1e999999999", INT64_MAX, INT64_MAX},
    {"0e999999999", 0, 0},
    {"0.1Ki", 103, 102400},
    {"9223372036854775807", INT64_MAX, INT64_MAX},
    {"9223372036854775806", INT64_MAX - 1, INT64_MAX},
    {"100000000000000000000000000000n", INT64_MAX, INT64_MAX},
    {"1000000000000000000000000000n", INT64_C(1000000000000000000), INT64_MAX},
    {"1000000000000000000000000001n", INT64_C(1000000000000000001), INT64_MAX},
    {"0.00000000000000000000000000000000000001", 1, 1},
    {"000000000000000000000000000000000000042", 42, 42000},
    {"16777216.00", 16777216, 16777216000},
    {"", REFUSED, REFUSED},
    {"-", REFUSED, REFUSED},
    {".", REFUSED, REFUSED},
    {"m", REFUSED, REFUSED},
    {"1 ", REFUSED, REFUSED},
    {" 1", REFUSED, REFUSED},
    {"1.2.3", REFUSED, REFUSED},
    {"1K", REFUSED, REFUSED},
    {"1ki", REFUSED, REFUSED},
    {"1KiB", REFUSED, REFUSED},
    {"1e", REFUSED, REFUSED},
    {"1e+", REFUSED, REFUSED},
    {"1e5m", REFUSED, REFUSED},
    {"1Zi", REFUSED, REFUSED},
    {"0x10", REFUSED, REFUSED},
    {"--1", REFUSED, REFUSED},
};

int main(void)
{
    for (size_t i = 0; i < COUNT(CASES); i++) {
        int64_t units = REFUSED, milli = REFUSED;
        struct error err = {0};
        int rc = kube_quantity_read(CASES[i].text, strlen(CASES[i].text), KUBE_WHOLE, &units, &err);
        kube_quantity_read(CASES[i].text, strlen(CASES[i].text), KUBE_MILLI, &milli, NULL);
        check_int(units, CASES[i].units, "units of \"%s\"", CASES[i].text);
        check_int(milli, CASES[i].milli, "thousandths of \"%s\"", CASES[i].text);
        check_int(rc < 0, CASES[i].units == REFUSED, "\"%s\" is taken or not", CASES[i].text);
        check_true((rc < 0) == (err.code == ERROR_INVALID), "\"%s\" has an error or not", CASES[i].text);
    }
    json_t *values = json_pack("[s, i, f, b, s]", "2", 3, 0.25, 1, "junk");
    static const int64_t UNITS[] = {2, 3, 1, 0, 0}, MILLI[] = {2000, 3000, 250, 0, 0};
    for (size_t i = 0; i < COUNT(UNITS); i++) {
        check_int(kube_quantity_units_of(json_array_get(values, i)), UNITS[i], "units of value %zu", i);
        check_int(kube_quantity_milli_of(json_array_get(values, i)), MILLI[i], "thousandths of value %zu", i);
    }
    json_decref(values);
    return check_finish();
}
