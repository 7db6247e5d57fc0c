#!/usr/bin/env bash
# The local backend on this machine's real GPUs: tests/gpu/run.sh, with NVIDIA's driver installed and the devices idle.
# Builds, runs tests/gpu/test_gpu.py and prints what it ran on.
set -euo pipefail
cd "$(dirname "$0")/../.."
command -v nvidia-smi >/dev/null || { echo "tests/gpu: no nvidia-smi: this needs a machine with NVIDIA's driver" >&2; exit 2; }
nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
tools/deps.sh build test
tools/build.sh build
PRORATA=$PWD/build/prorata /usr/bin/python3 -m pytest -q -p no:cacheprovider tests/gpu/test_gpu.py
