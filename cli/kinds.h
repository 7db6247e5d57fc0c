// The kinds of workloads that commands name.
#pragma once
#include "cli/command.h"

static const struct kind TRAINING = {"training", "Training", "trainings", NULL};
static const struct kind WORKSPACE = {"workspace", "Workspace", "workspaces", NULL};
static const struct kind ANY = {"workload", NULL, NULL, NULL};
static const struct kind DISTRIBUTED = {"distributed", "Distributed", "distributed", NULL};
static const struct kind PYTORCH = {"training pytorch", "Distributed", "distributed", "PyTorch"};
static const struct kind MPI = {"training mpi", "Distributed", "distributed", "MPI"};
static const struct kind TENSORFLOW = {"training tensorflow", "Distributed", "distributed", "TF"};
static const struct kind XGBOOST = {"training xgboost", "Distributed", "distributed", "XGBoost"};
static const struct kind JAX = {"training jax", "Distributed", "distributed", "JAX"};
static const struct kind INFERENCE = {"inference", "Inference", "inferences", NULL};
