#!/usr/bin/env bash
# The command line with real processes: submit, list, describe, logs, exec, bash, suspend, delete. Needs a server on this
# machine.
set -euo pipefail
runai config set --cp-url "$BASE"
runai login user -u "$EMAIL" -p "$PASSWORD"
runai project set team-a
runai training submit my-train -i none -g 1 --command -- sh -c 'echo started with $CUDA_VISIBLE_DEVICES; sleep 600'
until runai training list --json | jq -e '.[] | select(.name == "my-train" and .phase == "Running")' >/dev/null; do sleep 0.1; done
runai training list
runai training describe my-train
until runai training logs my-train | grep started; do sleep 0.1; done
runai training exec my-train -- echo "hello from a pod"
echo 'echo $((6 * 7)) is the answer' | runai training bash my-train
runai training suspend my-train
until runai training list --json | jq -e '.[] | select(.name == "my-train" and .phase == "Stopped")' >/dev/null; do sleep 0.1; done
runai training resume my-train
until runai training list --json | jq -e '.[] | select(.name == "my-train" and .phase == "Running")' >/dev/null; do sleep 0.1; done
prorata training logs my-train --previous
runai training delete my-train -y
