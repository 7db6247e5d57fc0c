#include "replay/output.h"

#include "base/buffer.h"
#include "base/error.h"
#include "replay/decisions.h"
#include "replay/page.h"
#include "replay/report.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

static int path_of(const char *folder, const char *name, char out[PATH_MAX], struct error *err)
{
    if (snprintf(out, PATH_MAX, "%s/%s", folder, name) >= PATH_MAX)
        return error_set(err, ERROR_INVALID, "--out: the path is too long");
    return 0;
}

static int file_error(const char *path, struct error *err)
{
    return error_set(err, ERROR_INTERNAL, "%.180s: %s", path, strerror(errno));
}

int output_open(const char *folder, FILE **out_decisions, struct error *err)
{
    char path[PATH_MAX];
    if (mkdir(folder, 0777) < 0 && errno != EEXIST)
        return file_error(folder, err);
    if (path_of(folder, "decisions.csv", path, err) < 0)
        return -1;
    FILE *file = fopen(path, "wb");
    if (!file)
        return file_error(path, err);
    if (decisions_write_header(file, err) < 0) {
        fclose(file);
        return -1;
    }
    *out_decisions = file;
    return 0;
}

static int write_file(const char *folder, const char *name, const struct buffer *text, struct error *err)
{
    char path[PATH_MAX];
    if (path_of(folder, name, path, err) < 0)
        return -1;
    FILE *file = fopen(path, "wb");
    if (!file)
        return file_error(path, err);
    bool failed = fwrite(text->data, 1, text->length, file) != text->length;
    if ((fclose(file) != 0) || failed)
        return file_error(path, err);
    return 0;
}

int output_write(const char *folder, const struct report *report, struct error *err)
{
    static const struct {
        const char *name;
        void (*write)(const struct report *report, struct buffer *out);
    } FILES[] = {{"summary.csv", report_write_summary},
                 {"projects.csv", report_write_projects},
                 {"series.csv", report_write_series},
                 {"jobs.csv", report_write_jobs},
                 {"report.html", page_write}};
    struct buffer text;
    int rc = 0;
    buffer_init(&text, 0);
    for (size_t i = 0; i < sizeof(FILES) / sizeof(FILES[0]) && rc == 0; i++) {
        buffer_clear(&text);
        FILES[i].write(report, &text);
        rc = write_file(folder, FILES[i].name, &text, err);
    }
    buffer_done(&text);
    return rc;
}

int output_print(const struct report *report, struct error *err)
{
    struct buffer text;
    buffer_init(&text, 0);
    report_write_text(report, &text);
    bool failed = fwrite(text.data, 1, text.length, stdout) != text.length || fflush(stdout) != 0;
    buffer_done(&text);
    return failed ? error_set(err, ERROR_INTERNAL, "standard output: %s", strerror(errno)) : 0;
}
