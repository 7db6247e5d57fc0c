#!/usr/bin/env bash
# A folder of files, each a workload, submitted by `workload submit -f`.
set -euo pipefail
runai config set --cp-url "$BASE"
runai login user -u "$EMAIL" -p "$PASSWORD"
runai project set team-a
for rate in 0.1 0.01; do
  cat >"sweep-$rate.yaml" <<END
type: Training
name: sweep-${rate/./-}
project: team-a
spec:
  image: runai.jfrog.io/demo/quickstart
  args: --learning-rate $rate
  compute: {gpuDevicesRequest: 1, gpuRequestType: portion, gpuPortionRequest: 0.5}
END
done
for file in sweep-*.yaml; do
  prorata workload submit -f "$file" --dry-run --json | jq -r '"\(.name) would be sent"'
  prorata workload submit -f "$file"
done
printf 'type: Training\nname: broken\nspec: {image: x, compute: {gpuDevicesRequest: two}}\n' >broken.yaml
prorata workload submit -f broken.yaml 2>&1 || echo "exit status $?"
printf 'type: Training\n  name: [\n' >nonsense.yaml
prorata workload submit -f nonsense.yaml 2>&1 || echo "exit status $?"
until [ "$(runai workload list --status Running --json | jq length)" = 2 ]; do sleep 0.1; done
runai workload list -A
runai workload delete sweep-0-1 sweep-0-01 -y
