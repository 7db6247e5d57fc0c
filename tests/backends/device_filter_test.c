// The kernel's program that holds a pod to its devices, run here by hand; and the numbers of device nodes from files.
#include "backends/local/cgroups/device_filter.h"
#include "tests/support/check.h"

#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    CAPS_MAJOR = 240,
    STEPS_MAX = 2 * DEVICE_PROGRAM_MAX
};

// The few instructions that the program is made of, as the kernel's instruction set has them. -1: another, or no end.
static int run(const struct bpf_insn *program, size_t count, const struct bpf_cgroup_dev_ctx *device)
{
    uint64_t registers[16] = {0};
    size_t at = 0;
    for (int step = 0; step < STEPS_MAX && at < count; step++) {
        const struct bpf_insn *one = &program[at++];
        uint64_t *target = &registers[one->dst_reg];
        bool jumps = false;
        uint32_t word;
        switch (one->code) {
        case BPF_LDX | BPF_MEM | BPF_W:
            memcpy(&word, (const char *)device + one->off, sizeof(word));
            *target = word;
            break;
        case BPF_ALU | BPF_AND | BPF_K:
            *target = (uint32_t)*target & (uint32_t)one->imm;
            break;
        case BPF_ALU64 | BPF_MOV | BPF_K:
            *target = (uint64_t)one->imm;
            break;
        case BPF_JMP | BPF_JA:
            jumps = true;
            break;
        case BPF_JMP | BPF_JEQ | BPF_K:
            jumps = *target == (uint64_t)one->imm;
            break;
        case BPF_JMP | BPF_JNE | BPF_K:
            jumps = *target != (uint64_t)one->imm;
            break;
        case BPF_JMP | BPF_JGE | BPF_K:
            jumps = *target >= (uint64_t)one->imm;
            break;
        case BPF_JMP | BPF_EXIT:
            return (int)registers[BPF_REG_0];
        default:
            return -1;
        }
        at += jumps ? (size_t)one->off : 0; // forward only
    }
    return -1;
}

static const struct device_case {
    const char *name;
    bool is_block, makes_node;
    uint32_t major, minor;
    int wanted; // by rules with GPUs 2 and 253, and MIG's nodes 7 and 8
    int wanted_without_caps;
} CASES[] = {
    {"its first GPU", false, false, 195, 2, 1, 1},
    {"its last GPU", false, false, 195, 253, 1, 1},
    {"the first GPU", false, false, 195, 0, 0, 0},
    {"a GPU beside its own", false, false, 195, 3, 0, 0},
    {"no node is made of another", false, true, 195, 3, 0, 0},
    {"nvidia-modeset", false, false, 195, 254, 1, 1},
    {"nvidiactl", false, false, 195, 255, 1, 1},
    {"above all minors", false, false, 195, 1 << 20, 1, 1},
    {"its instance", false, false, CAPS_MAJOR, 7, 1, 1},
    {"its other instance", false, false, CAPS_MAJOR, 8, 1, 1},
    {"another instance", false, false, CAPS_MAJOR, 9, 0, 1},
    {"what configures instances", false, false, CAPS_MAJOR, 1, 0, 1},
    {"a block device with the GPUs' major", true, false, 195, 0, 1, 1},
    {"/dev/null", false, false, 1, 3, 1, 1},
    {"a terminal", false, false, 136, 0, 1, 1},
    {"the next major", false, false, 196, 0, 1, 1},
};

static __attribute__((noinline)) void check_cases(const struct device_rules *rules, bool has_caps)
{
    struct bpf_insn program[DEVICE_PROGRAM_MAX];
    size_t count = device_filter_write(rules, program);
    for (size_t i = 0; i < COUNT(CASES); i++) {
        const struct device_case *one = &CASES[i];
        uint32_t kind = one->is_block ? BPF_DEVCG_DEV_BLOCK : BPF_DEVCG_DEV_CHAR;
        uint32_t wish = one->makes_node ? BPF_DEVCG_ACC_MKNOD : BPF_DEVCG_ACC_READ | BPF_DEVCG_ACC_WRITE;
        struct bpf_cgroup_dev_ctx device = {kind | wish << 16, one->major, one->minor};
        check_int(run(program, count, &device), has_caps ? one->wanted : one->wanted_without_caps, "%s", one->name);
    }
}

static __attribute__((noinline)) void fits_with_all_rules(void)
{
    struct bpf_insn program[DEVICE_PROGRAM_MAX];
    struct device_rules rules = {.caps_major = CAPS_MAJOR, .cap_count = DEVICE_CAPS_MAX};
    memset(rules.opens_gpu, 1, sizeof(rules.opens_gpu));
    for (int i = 0; i < DEVICE_CAPS_MAX; i++)
        rules.caps[i] = i;
    size_t count = device_filter_write(&rules, program);
    check_true(count <= DEVICE_PROGRAM_MAX, "%zu instructions", count);
    struct bpf_cgroup_dev_ctx last = {BPF_DEVCG_DEV_CHAR, CAPS_MAJOR, DEVICE_CAPS_MAX - 1};
    check_int(run(program, count, &last), 1, "the last of all rules");
}

static void check_numbers(const char *path)
{
    FILE *file = fopen(path, "we");
    check_true(file &&
                   fputs("Character devices:\n  1 mem\n195 nvidia\n235 nvidia-caps\n236 nvidia-caps-imex-channels\n\n"
                         "Block devices:\n259 blkext\n253 nvidia-uvm\n",
                         file) >= 0 &&
                   fclose(file) == 0,
               "the file");
    check_int(nvidia_nodes_major(path, "nvidia-caps"), 235, "the name as a whole");
    check_int(nvidia_nodes_major(path, "nvidia-uvm"), -1, "block devices are others");
    check_int(nvidia_nodes_major("/does/not/exist", "nvidia-caps"), -1, "no such file");
    file = fopen(path, "we");
    check_true(file &&
                   fputs("config 1\ngpu0/gi1/access 12\ngpu0/gi1/ci0/access 13\ngpu0/gi11/access 102\n", file) >= 0 &&
                   fclose(file) == 0,
               "the file");
    check_int(nvidia_nodes_instance(path, 0, 1, -1), 12, "a GPU instance");
    check_int(nvidia_nodes_instance(path, 0, 1, 0), 13, "a compute instance");
    check_int(nvidia_nodes_instance(path, 0, 11, -1), 102, "two digits");
    check_int(nvidia_nodes_instance(path, 1, 1, -1), -1, "of another GPU");
    int minors[4];
    check_int((int64_t)nvidia_nodes_caps(path, minors, COUNT(minors)), 4, "all that are listed");
    check_int(minors[0] == 1 && minors[3] == 102, 1, "their numbers");
    check_int((int64_t)nvidia_nodes_caps(path, minors, 2), 2, "at most so many");
}

static void check_rules(void)
{
    struct device_rules rules = {.caps_major = CAPS_MAJOR, .caps = {7, 8}, .cap_count = 2};
    rules.opens_gpu[2] = rules.opens_gpu[253] = true;
    check_cases(&rules, true);
    rules.caps_major = -1;
    check_cases(&rules, false);
}

int main(void)
{
    char path[] = "/tmp/prorata-numbers-XXXXXX";
    check_rules();
    fits_with_all_rules();
    int fd = mkstemp(path);
    check_true(fd >= 0 && close(fd) == 0, "a file");
    check_numbers(path);
    unlink(path);
    return check_finish();
}
