// Numbers of NVIDIA's device nodes. Majors beyond the GPUs' own are given when its modules are loaded (/proc/devices);
// so are the minors by which an instance of a GPU that MIG divides is reached (/proc/driver/nvidia-caps/mig-minors).
#pragma once
#include <stddef.h>

enum {
    NVIDIA_MAJOR = 195,      // /dev/nvidiaN
    NVIDIA_GPU_MINORS = 254, // N; above them nvidia-modeset and nvidiactl
};

// The major of character devices with the name in a file like /proc/devices; -1: there is none.
int nvidia_nodes_major(const char *path, const char *name);
// The minor by which the instance is reached, in a file like mig-minors: of the GPU instance where compute is -1, else
// of the compute instance in it. -1: it is not listed.
int nvidia_nodes_instance(const char *path, int gpu_minor, int gpu_instance, int compute_instance);
// All minors that it lists, at most `most`; returns how many.
size_t nvidia_nodes_caps(const char *path, int *out_minors, size_t most);
