#!/usr/bin/env bash
# Runs a command beside a cluster of its own, which ends with it: [KUBE_VERSION=1.26] tests/kubernetes/with_cluster.sh
# COMMAND...
# $KUBE_CLUSTER is its folder. Of the two files there, kubeconfig is the administrator's; server.kubeconfig is that of
# the service account in packaging/kubernetes, with the rights that it has there and no others.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap '"$here/cluster" down --folder "$folder/cluster"; rm -rf "$folder"' EXIT
"$here/cluster" up --folder "$folder/cluster" --nodes 2 --gpus 4 --version "${KUBE_VERSION:-1.37}" >/dev/null
export KUBE_CLUSTER=$folder/cluster CASES_KUBECONFIG=$folder/cluster/kubeconfig
kubectl() { "$KUBE_CLUSTER/bin/kubectl" --kubeconfig "$KUBE_CLUSTER/kubeconfig" "$@"; }
cp -r "$here/../../packaging/kubernetes" "$folder/base"
components=$([ "${KUBE_VERSION:-1.37}" = 1.37 ] || echo base/components/before-1.29)
echo "{apiVersion: kustomize.config.k8s.io/v1beta1, kind: Kustomization, resources: [base], components: [$components]}" \
    >"$folder/kustomization.yaml"
kubectl apply -k "$folder" >/dev/null
token=$(kubectl -n prorata create token prorata --duration 24h)
sed "s/\"token\": \"[^\"]*\"/\"token\": \"$token\"/; s/\"user\": \"prorata-test\"/&, \"namespace\": \"prorata\"/" \
    "$KUBE_CLUSTER/kubeconfig" >"$KUBE_CLUSTER/server.kubeconfig"
"$@"
