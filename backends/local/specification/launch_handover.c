// What a specification says, as its supervisor takes it over.
#include "backends/local/specification/isolation.h"
#include "backends/local/specification/launch.h"
#include "base/buffer.h"
#include "base/error.h"
#include "supervisor/handover.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    REPOSITORIES_MAX = 8 // of this machine
};

struct handing {
    struct buffer text;
    size_t count;
};

static void put(struct handing *handing, enum handover_kind kind, const char *text)
{
    buffer_char(&handing->text, (char)kind);
    buffer_append(&handing->text, text, strlen(text) + 1);
    handing->count++;
}

static void put_all(struct handing *handing, enum handover_kind kind, char *const *texts)
{
    for (; texts && *texts; texts++)
        put(handing, kind, *texts);
}

// Folders of /tmp and /var/tmp that the pod finds there though it has its own.
static void put_kept(struct handing *handing, const struct isolation *isolation, const struct volumes *volumes)
{
    static const char FILE_URL[] = "file://";
    for (size_t i = 0; i < sizeof(isolation->kept) / sizeof(isolation->kept[0]); i++)
        if (isolation->kept[i])
            put(handing, HANDOVER_KEPT, isolation->kept[i]);
    for (size_t i = 0, count = 0; isolation->place && i < volumes->count && count < REPOSITORIES_MAX; i++) {
        const char *url = volumes->items[i].url;
        if (url && strncmp(url, FILE_URL, strlen(FILE_URL)) == 0)
            url += strlen(FILE_URL);
        if (url && url[0] == '/') {
            put(handing, HANDOVER_KEPT, url);
            count++;
        }
    }
}

static int seal(const struct buffer *text, int *out_fd, struct error *err)
{
    int fd = memfd_create("handover", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    bool is_good = fd >= 0;
    for (size_t at = 0; is_good && at < text->length;) {
        ssize_t length = write(fd, text->data + at, text->length - at);
        is_good = length > 0;
        at += is_good ? (size_t)length : 0;
    }
    is_good = is_good && fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
    if (is_good) {
        *out_fd = fd;
        return 0;
    }
    error_set(err, ERROR_UNAVAILABLE, "what its supervisor needs cannot be written: %s", strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

int launch_hand_over(const struct launch *launch, const struct isolation *isolation, int *out_fd, struct error *err)
{
    struct handing handing = {.count = 0};
    buffer_init(&handing.text, HANDOVER_BYTES_MAX);
    buffer_append(&handing.text, HANDOVER_BEGIN, sizeof(HANDOVER_BEGIN));
    put_all(&handing, HANDOVER_VARIABLE, launch->environment);
    put_all(&handing, HANDOVER_RIGHTS_VARIABLE, launch->rights_environment);
    put_all(&handing, HANDOVER_COMMAND, launch->argv);
    put_all(&handing, HANDOVER_BEFORE, launch->before);
    put_all(&handing, HANDOVER_PRE_STOP, launch->pre_stop);
    put_all(&handing, HANDOVER_AFTER, launch->after);
    put(&handing, HANDOVER_FOLDER, launch->folder);
    for (size_t i = 0; i < launch->volumes.count; i++)
        if (launch->volumes.items[i].kind == VOLUME_HOST_PATH)
            put(&handing, HANDOVER_NEED, launch->volumes.items[i].place);
    put_kept(&handing, isolation, &launch->volumes);
    buffer_append(&handing.text, HANDOVER_END, sizeof(HANDOVER_END));
    int rc = handing.text.overflow || handing.count > HANDOVER_TEXTS_MAX
                 ? error_set(err, ERROR_INVALID, "its command, variables and paths are too long together")
                 : seal(&handing.text, out_fd, err);
    buffer_done(&handing.text);
    return rc;
}
