#!/usr/bin/env bash
# Traces through the core: how long, how much memory, and what came of it. TRACES names the folder with the traces
# (docs/replay.md says where they come from); a row whose trace is not there says so. The slice that the tests use is
# always there.
set -euo pipefail
cd "$(dirname "$0")/../.."
traces=${TRACES:-traces}
program=${PRORATA:-build/prorata}
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

# policy NAME LINE...: a policy file.
policy() { printf '%s\n' "${@:2}" >"$folder/$1.yaml"; }
for strategy in binpack spread fragmentation; do
    policy "$strategy" "nodePool: {placementStrategy: {gpu: $strategy}}"
    # As Weng et al., USENIX ATC 2023, measure: one queue in the order drawn, nothing ends, nobody gives way.
    policy "draw-$strategy" 'actions: [allocate]' 'projects: one' 'quota: unlimited' 'priority: same' 'periodSeconds: 100' \
        "nodePool: {placementStrategy: {gpu: $strategy}}"
done
policy queue 'projects: one' 'quota: unlimited'

# row NAME TRACE ARGUMENTS...: processor seconds of one core, peak memory, cycles, allocated share (at the end for a draw).
row() {
    local name=$1
    shift
    if [ ! -e "$1" ]; then
        printf '%-46s left out: %s is not there (set TRACES, see docs/replay.md)\n' "$name" "$1"
        return
    fi
    /usr/bin/time -f '%U %S %M' -o "$folder/time" "$program" replay "$@" --out "$folder/out" >/dev/null
    awk -F, -v name="$name" -v spent="$(cat "$folder/time")" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        NR == 2 {
            split(spent, t, " ")
            share = name ~ /demand/ ? $at["allocated_at_end"] : $at["allocated"]
            printf "%-46s %6.1f s  %5d MB  %7d cycles  %5.1f %% allocated  %6d evictions\n",
                name, t[1] + t[2], t[3] / 1000, $at["cycles"], 100 * share, $at["evictions"] }' "$folder/out/summary.csv"
}

echo "# prorata replay: jobs of a trace through the scheduler, with all files of --out; processor seconds of one core"
row "slice of Philly, 700 jobs, 10 x 8" tests/replay/philly_slice.csv --nodes 10x8
for strategy in binpack spread; do
    row "Philly, a week, 11,437 jobs, 80 x 8, $strategy" "$traces/philly_week_jobs.csv" --nodes 80x8 --policy "$folder/$strategy.yaml"
done
for strategy in binpack spread queue; do
    row "Philly whole, 82,247 jobs, 140 x 8, $strategy" "$traces/philly_jobs.csv" --nodes 140x8 --policy "$folder/$strategy.yaml"
done
for strategy in binpack spread fragmentation; do
    row "openb, 130 % demand, $strategy" "$traces/openb_jobs.csv" --nodes "$traces/openb_nodes.csv" --demand 130 --policy "$folder/draw-$strategy.yaml"
done
