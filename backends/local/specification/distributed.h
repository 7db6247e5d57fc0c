// What the pods of a distributed workload have to know to find each other on one machine, for the launchers of the
// frameworks that the API names. Names of variables: PyTorch's torchrun (PET_*) and its env:// initialization,
// Kubeflow's training operator (TF_CONFIG, JAX, XGBoost), Open MPI's and MPICH's mpirun.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct arena;
struct backend_pod;
struct variables;
struct json_t;

enum {
    DISTRIBUTED_VARIABLES_MAX = 40
};

struct distributed {
    const char *framework; // PyTorch, MPI, ...; NULL: the workload is not distributed
    const char *role;      // of the pod: master, worker
    const char *workload_name;
    const char *workload_uuid;
    int64_t pods, workers; // the master is one of the pods
    int64_t least_workers; // 0: all
    int64_t slots;         // of a worker: MPI
    int64_t index, rank;   // the master's rank is 0
    int64_t gpus;          // of the pod
    int64_t port;          // of the workload: the first of distributed_ports()
};

// What the specification says. Texts are the pod's and the document's. The port is the caller's to set.
struct distributed distributed_read(const struct backend_pod *pod, const struct json_t *workload_spec);
// How many ports the workload's pods need in a row: one of each pod, the master's or first worker's being first.
int64_t distributed_ports(const struct distributed *distributed);
void distributed_set(const struct distributed *distributed, struct variables *variables);
// Whether the pod's command starts processes with other pods' devices: an MPI launcher.
bool distributed_reaches_all(const struct distributed *distributed);
// The words to run a command with: an MPI launcher is started by the agent (supervisor/mpi_agent), which names the
// workers to mpirun, and a worker without a command is one that waits for mpirun. NULL at the end; or the words alone.
char **distributed_wrap(const struct distributed *distributed, const char *agent, char **words, struct arena *arena);
