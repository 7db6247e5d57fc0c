#!/usr/bin/env bash
# Every benchmark, each with its set-up. BENCH_SECONDS sets how long an HTTP row takes.
set -euo pipefail
cd "$(dirname "$0")/.."
echo "# $(date -u +%F), $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2 | xargs), $(nproc) cores, $(uname -r)"
/usr/bin/python3 bench/http/bench_http.py
/usr/bin/python3 bench/http/bench_what_if.py
/usr/bin/python3 bench/http/bench_what_if_quota.py
/usr/bin/python3 bench/http/bench_site.py 400 100 4000 15
/usr/bin/python3 bench/http/bench_scopes.py
/usr/bin/python3 bench/http/bench_lists.py
/usr/bin/python3 bench/http/bench_events.py
/usr/bin/python3 bench/http/bench_timeline.py
/usr/bin/python3 bench/attacks/bench_attacks.py
for program in build/bench_scheduler*; do
    [ -x "$program" ] && { echo "# $program"; "$program"; }
done
build/bench_reconciler
/usr/bin/python3 bench/kubernetes/bench_pods.py
/usr/bin/python3 bench/kubernetes/bench_restart.py
/usr/bin/python3 bench/kubernetes/bench_reclaim.py
/usr/bin/python3 bench/kubernetes/bench_usage.py
bench/replay/run.sh
node bench/web/bench_map.mjs
node bench/web/bench_web.mjs
/usr/bin/python3 bench/start/bench_start.py
/usr/bin/python3 bench/local/bench_local.py
