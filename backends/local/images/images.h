// Whether a pod's image is used: a container runtime must answer, and the image be there or come. Asking and pulling
// take their time, so that is done on threads, one for each image that is asked for at the moment.
#pragma once
#include "backends/local/images/runtimes.h"
#include "base/uuid.h"
#include <stdint.h>

struct error;
struct images;

enum image_policy {
    IMAGES_AUTO,     // where it can be used, it is; else the command runs on the machine itself
    IMAGES_REQUIRED, // where it cannot be used, the pod fails
    IMAGES_IGNORE
};

enum image_pull {
    IMAGE_PULL_ALWAYS,
    IMAGE_PULL_IF_NOT_PRESENT,
    IMAGE_PULL_NEVER
};

struct image_answer {
    bool is_usable;
    enum runtime_kind runtime;
    char runtime_path[256];
    char image[512]; // what the runtime takes: the image's name, or the file that was made of it
    char why[128];   // it is not used: a few words
};

// Called from a thread of its own.
typedef void (*image_answer_fn)(void *context, const char *pod_uuid, const struct image_answer *answer);

// folder: where images are kept as files, for apptainer; made where it is missing. They take bytes_max together; 0: any
// amount.
struct images *images_create(enum image_policy policy, const char *folder, int64_t bytes_max, image_answer_fn fn,
                             void *context);
// Ends what is under way without an answer. NULL is fine.
void images_destroy(struct images *images);
// True: nothing has to be asked, and *out_answer is there. False: it comes by the function given.
bool images_ask(struct images *images, const char *pod_uuid, const char *image, enum image_pull pull,
                struct image_answer *out_answer);
