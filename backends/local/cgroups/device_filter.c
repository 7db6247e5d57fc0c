#include "backends/local/cgroups/device_filter.h"

#include "base/arena.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    ATTACHED_MAX = 64, // the kernel's own bound
    KIND_MASK = 0xffff // of access_type: the upper half says what the device is asked for
};

struct writer {
    struct bpf_insn *program;
    size_t count;
};

// Where a jump goes to is known when all is written.
enum place {
    ALLOW,
    DENY,
    CAPS,
    PLACE_COUNT
};

static void write_one(struct writer *writer, int code, int target, int source, int offset, int value)
{
    writer->program[writer->count++] = (struct bpf_insn){.code = (uint8_t)code,
                                                         .dst_reg = (uint8_t)(target & 0xf),
                                                         .src_reg = (uint8_t)(source & 0xf),
                                                         .off = (int16_t)offset,
                                                         .imm = value};
}

static void load(struct writer *writer, int target, size_t offset)
{
    write_one(writer, BPF_LDX | BPF_MEM | BPF_W, target, BPF_REG_1, (int)offset, 0);
}

static void jump_if(struct writer *writer, int how, int what, int value, enum place to)
{
    write_one(writer, BPF_JMP | how | BPF_K, what, 0, (int)to, value);
}

static void jump(struct writer *writer, enum place to)
{
    write_one(writer, BPF_JMP | BPF_JA, 0, 0, (int)to, 0);
}

static void answer(struct writer *writer, int value)
{
    write_one(writer, BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, value);
    write_one(writer, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

static void set_jumps(const struct writer *writer, const size_t places[])
{
    for (size_t i = 0; i < writer->count; i++) {
        struct bpf_insn *one = &writer->program[i];
        bool is_jump = (one->code & 0x07) == BPF_JMP && one->code != (BPF_JMP | BPF_EXIT);
        if (is_jump)
            one->off = (int16_t)(places[one->off] - i - 1);
    }
}

size_t device_filter_write(const struct device_rules *rules, struct bpf_insn *out_program)
{
    enum {
        MAJOR = BPF_REG_3,
        MINOR = BPF_REG_4
    };
    struct writer writer = {.program = out_program};
    size_t places[PLACE_COUNT] = {0};
    load(&writer, BPF_REG_2, offsetof(struct bpf_cgroup_dev_ctx, access_type));
    load(&writer, MAJOR, offsetof(struct bpf_cgroup_dev_ctx, major));
    load(&writer, MINOR, offsetof(struct bpf_cgroup_dev_ctx, minor));
    write_one(&writer, BPF_ALU | BPF_AND | BPF_K, BPF_REG_2, 0, 0, KIND_MASK);
    jump_if(&writer, BPF_JNE, BPF_REG_2, BPF_DEVCG_DEV_CHAR, ALLOW);
    jump_if(&writer, BPF_JNE, MAJOR, NVIDIA_MAJOR, CAPS);
    jump_if(&writer, BPF_JGE, MINOR, NVIDIA_GPU_MINORS, ALLOW);
    for (int i = 0; i < NVIDIA_GPU_MINORS; i++)
        if (rules->opens_gpu[i])
            jump_if(&writer, BPF_JEQ, MINOR, i, ALLOW);
    jump(&writer, DENY);
    places[CAPS] = writer.count;
    if (rules->caps_major >= 0) {
        jump_if(&writer, BPF_JNE, MAJOR, rules->caps_major, ALLOW);
        for (size_t i = 0; i < rules->cap_count; i++)
            jump_if(&writer, BPF_JEQ, MINOR, rules->caps[i], ALLOW);
        jump(&writer, DENY);
    }
    places[ALLOW] = writer.count;
    answer(&writer, 1);
    places[DENY] = writer.count;
    answer(&writer, 0);
    set_jumps(&writer, places);
    return writer.count;
}

static int call(int command, union bpf_attr *attributes)
{
    return (int)syscall(SYS_bpf, command, attributes, sizeof(*attributes));
}

// A descriptor of the program; -1: errno.
static int load_program(const struct device_rules *rules)
{
    static const char NAME[] = "prorata_devices", LICENSE[] = "Apache-2.0";
    struct bpf_insn *program = memory_array(DEVICE_PROGRAM_MAX, sizeof(*program)); // large for a stack
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof(attributes));
    attributes.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
    attributes.insn_cnt = (uint32_t)device_filter_write(rules, program);
    attributes.insns = (uintptr_t)program;
    attributes.license = (uintptr_t)LICENSE;
    memcpy(attributes.prog_name, NAME, sizeof(NAME));
    int fd = call(BPF_PROG_LOAD, &attributes), code = errno;
    free(program);
    errno = code;
    return fd;
}

static int attach(int cgroup_fd, int program_fd)
{
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof(attributes));
    attributes.target_fd = (uint32_t)cgroup_fd;
    attributes.attach_bpf_fd = (uint32_t)program_fd;
    attributes.attach_type = BPF_CGROUP_DEVICE;
    attributes.attach_flags = BPF_F_ALLOW_MULTI; // what others hold the cgroups above to stays
    return call(BPF_PROG_ATTACH, &attributes);
}

// The programs that are attached to this very cgroup, all of them this server's.
static int find_attached(int cgroup_fd, uint32_t ids[ATTACHED_MAX], uint32_t *out_count)
{
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof(attributes));
    attributes.query.target_fd = (uint32_t)cgroup_fd;
    attributes.query.attach_type = BPF_CGROUP_DEVICE;
    attributes.query.prog_ids = (uintptr_t)ids;
    attributes.query.prog_cnt = ATTACHED_MAX;
    int rc = call(BPF_PROG_QUERY, &attributes);
    *out_count = rc < 0 ? 0 : attributes.query.prog_cnt;
    return rc;
}

static int detach(int cgroup_fd, uint32_t id)
{
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof(attributes));
    attributes.prog_id = id;
    int fd = call(BPF_PROG_GET_FD_BY_ID, &attributes);
    if (fd < 0)
        return -1;
    memset(&attributes, 0, sizeof(attributes));
    attributes.target_fd = (uint32_t)cgroup_fd;
    attributes.attach_bpf_fd = (uint32_t)fd;
    attributes.attach_type = BPF_CGROUP_DEVICE;
    int rc = call(BPF_PROG_DETACH, &attributes), code = errno;
    close(fd);
    errno = code;
    return rc;
}

int device_filter_check(struct error *err)
{
    int fd = load_program(&(struct device_rules){.caps_major = -1});
    if (fd < 0)
        return error_set(err, ERROR_UNAVAILABLE, "the kernel takes no device filter: bpf: %s", strerror(errno));
    close(fd);
    return 0;
}

// Attached first: those from before go when these count.
int device_filter_attach(const char *cgroup, const struct device_rules *rules, struct error *err)
{
    uint32_t before[ATTACHED_MAX], count = 0;
    int cgroup_fd = open(cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int program_fd = cgroup_fd >= 0 ? load_program(rules) : -1;
    bool is_done =
        program_fd >= 0 && find_attached(cgroup_fd, before, &count) == 0 && attach(cgroup_fd, program_fd) == 0;
    for (uint32_t i = 0; is_done && i < count; i++)
        is_done = detach(cgroup_fd, before[i]) == 0;
    int code = errno;
    if (program_fd >= 0)
        close(program_fd);
    if (cgroup_fd >= 0)
        close(cgroup_fd);
    return is_done ? 0 : error_set(err, ERROR_UNAVAILABLE, "the device filter of %.160s: %s", cgroup, strerror(code));
}
