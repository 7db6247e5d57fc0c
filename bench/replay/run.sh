#!/usr/bin/env bash
# Traces through the core: how long, how much memory, and what came of it. TRACES names the folder with the traces
# (docs/replay.md says where they come from); a row whose trace is not there says so. The slice that the tests use is
# always there.
set -euo pipefail
cd "$(dirname "$0")/../.."
traces=${TRACES:-traces}
program=${PRORATA:-build/prorata}
policies=bench/replay/policies
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

# row NAME POLICY TRACE ARGUMENTS...: processor seconds of one core, peak memory, cycles, allocated share (at the end
# for a draw).
row() {
    local name="$1, $2" policy=$policies/$2.yaml
    shift 2
    if [ ! -e "$1" ]; then
        printf '%-52s left out: %s is not there (set TRACES, see docs/replay.md)\n' "$name" "$1"
        return
    fi
    /usr/bin/time -f '%U %S %M' -o "$folder/time" "$program" replay "$@" --policy "$policy" --out "$folder/out" >/dev/null
    awk -F, -v name="$name" -v spent="$(cat "$folder/time")" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        NR == 2 {
            split(spent, t, " ")
            share = name ~ /demand/ ? $at["allocated_at_end"] : $at["allocated"]
            printf "%-52s %6.1f s  %5d MB  %7d cycles  %5.1f %% allocated  %6d evictions\n",
                name, t[1] + t[2], t[3] / 1000, $at["cycles"], 100 * share, $at["evictions"] }' "$folder/out/summary.csv"
}

echo "# prorata replay: jobs of a trace through the scheduler, with all files of --out; processor seconds of one core"
row "slice of Philly, 700 jobs, 10 x 8" fair-share tests/replay/philly_slice.csv --nodes 10x8
for policy in fair-share spread reservation time-based one-queue; do
    row "Philly, a week, 11,437 jobs, 80 x 8" "$policy" "$traces/philly_week_jobs.csv" --nodes 80x8
done
for policy in fair-share spread one-queue; do
    row "Philly whole, 82,247 jobs, 140 x 8" "$policy" "$traces/philly_jobs.csv" --nodes 140x8
done
row "Philly whole, 82,247 jobs, 110 x 8" fair-share "$traces/philly_jobs.csv" --nodes 110x8
for policy in draw-binpack draw-spread draw-fragmentation; do
    row "openb, 1,523 nodes, 130 % demand" "$policy" "$traces/openb_jobs.csv" --nodes "$traces/openb_nodes.csv" --demand 130
done
