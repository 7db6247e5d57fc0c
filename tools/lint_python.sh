#!/usr/bin/env bash
# ruff over all Python, as ruff.toml says: tools/lint_python.sh checks, tools/lint_python.sh --fix formats and mends.
set -euo pipefail
cd "$(dirname "$0")/.."
ruff=$(tools/python_tool.sh ruff)/ruff
if [ "${1:-}" = --fix ]; then
    "$ruff" check --quiet --fix --exit-zero
    "$ruff" format --quiet
else
    "$ruff" format --check
    "$ruff" check
fi
