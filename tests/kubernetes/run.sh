#!/usr/bin/env bash
# The server and its dashboard on a cluster whose nodes are pretended: tests/kubernetes/run.sh [SERVE FLAGS]. Ctrl-C ends
# all; data and cluster stay in ./data-kubernetes. NODES and GPUS say how large the cluster is, the first time.
set -euo pipefail
cd "$(dirname "$0")/../.."
cluster() { tests/kubernetes/cluster "$@" --folder ./data-kubernetes/cluster; }
mkdir -p data-kubernetes
config=$(cluster up --nodes "${NODES:-2}" --gpus "${GPUS:-2}" | tail -n 1)
trap 'cluster down --keep' EXIT
echo "The cluster: kubectl --kubeconfig $config get nodes,pods -A"
build/prorata serve --data ./data-kubernetes/server --quick-start --backend kubernetes --kubeconfig "$config" "$@"
