// Amounts. GPUs are thousandths of a device, CPU is millicores, memory is bytes: exact integers, no floats.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct error;

#define QUANTITY_UNLIMITED INT64_MAX

enum {
    QUANTITY_TEXT_SIZE = 32
};

// The most that is believed of one node, pod or device: sums over 100,000 nodes of 64 devices stay within 64 bits. The
// scheduler counts no more memory of a node either.
#define QUANTITY_AMOUNT_MAX (INT64_C(1) << 46)         // of anything: 64 TiB
#define QUANTITY_CPU_MILLI_MAX INT64_C(1000000000)     // a million cores
#define QUANTITY_GPU_MEMORY_MIB_MAX (INT64_C(1) << 20) // 1 TiB of one device
#define QUANTITY_PODS_MAX INT64_C(1000000)

// Cores as a decimal ("0.5", "2") or millicores ("500m"); finer than a millicore is rounded up.
int quantity_parse_cpu(const char *text, int64_t *out_cpu_milli, struct error *err);
// A Kubernetes quantity in bytes: 100M, 1Gi, 1.5G, 2e9, 1500000; a part of a byte is rounded up.
int quantity_parse_memory(const char *text, int64_t *out_bytes, struct error *err);
// From a JSON number; refuses what is not finite, negative, or beyond the bound; GPUs go in steps of 0.01, to
// 1,000,000.
int quantity_gpu_from_real(double value, int64_t *out_gpu_milli, struct error *err);
int quantity_cpu_from_cores(double cores, int64_t *out_cpu_milli, struct error *err);

// 500 -> "0.5", 2000 -> "2". Returns out.
char *quantity_format_milli(int64_t milli, char out[QUANTITY_TEXT_SIZE]);
// 104857600 -> "100Mi", else the plain number of bytes: what quantity_parse_memory reads back exactly.
char *quantity_format_memory(int64_t bytes, char out[QUANTITY_TEXT_SIZE]);
// a + b, staying at QUANTITY_UNLIMITED once there (also on overflow).
int64_t quantity_add(int64_t a, int64_t b);
// The amount, at least 0 and at most that much.
int64_t quantity_within(int64_t amount, int64_t most);
