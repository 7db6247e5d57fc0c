#!/usr/bin/env bash
# The exercise "Understanding Preemption", in the old words of the command line. Needs a node of 8 GPUs with the label
# exercise=preemption.
set -euo pipefail
runai config set --cp-url "$BASE"
runai login user -u "$EMAIL" -p "$PASSWORD"

# 1. A clean environment.
runai list --all-projects
runai cluster-info

# 2. and 3. The node pool and the projects, which the exercise makes in the platform's pages.
TOKEN=$(runai auth get-token -o plaintext)
api() { curl -sS --fail-with-body -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" "$@"; }
CLUSTER=$(api "$BASE/api/v1/clusters" | jq -r '.[0].uuid')
api "$BASE/api/v1/node-pools" -d '{"name": "single-node-pool", "clusterId": "'"$CLUSTER"'", "labelKey": "exercise", "labelValue": "preemption"}' >pool.json
runai department update default --gpu-quota 8 --node-pool single-node-pool
runai project create project-a --gpu-quota 4 --node-pool single-node-pool --description "First project for preemption demo"
runai project create project-b --gpu-quota 4 --node-pool single-node-pool --description "Second project for preemption demo"

# Step 1: more than the quota.
runai submit "large-training-job" \
  --project project-a \
  --image pytorch/pytorch:latest \
  --gpu 8 \
  --node-pools single-node-pool \
  --command "python -c 'import time; import torch; print(f\"Using {torch.cuda.device_count()} GPUs\"); time.sleep(3600)'"
wait_for() { # NAME PROJECT PHASE
  until runai describe "$1" --project "$2" -o json | jq -e --arg p "$3" '.workload.phase == $p' >/dev/null; do sleep 0.1; done
}
wait_for large-training-job project-a Running

# Step 2: what is allocated.
runai describe large-training-job --project project-a
runai cluster-info
runai get resources --project project-a

# Step 3: the owner wants its GPUs.
runai submit "jupyter-workspace" \
  --project project-b \
  --image jupyter/tensorflow-notebook \
  --gpu 4 \
  --interactive \
  --node-pools single-node-pool \
  --port 8888:8888
wait_for jupyter-workspace project-b Running
wait_for large-training-job project-a Pending

# Step 4: the events.
runai describe large-training-job --project project-a --show-events >preemption-events.log
grep -E "(Preempted|Scheduled|Started)" preemption-events.log
runai describe jupyter-workspace --project project-b --show-events
runai describe large-training-job --project project-a | grep Priority
runai describe project project-a
runai get node-pools

# Step 5: the GPUs come back.
runai delete jupyter-workspace --project project-b
wait_for large-training-job project-a Running
runai get resources --project project-a

runai delete large-training-job --project project-a
runai project delete project-a
runai project delete project-b
until api -X DELETE "$BASE/api/v1/node-pools/$(jq -r .id pool.json)" >answer.json; do sleep 0.1; done
