#!/usr/bin/env bash
# clang-format, clang-tidy, ruff, the OpenAPI linter, and for the dashboard tsc, prettier and eslint. Prints what each found;
# fails if any found something.
set -uo pipefail
cd "$(dirname "$0")/.."
failed=0
step() {
    echo "== $1"
    shift
    "$@" || failed=1
}
tools/build.sh build || exit 1
step clang-format bash -c "git ls-files '*.c' '*.h' | xargs clang-format --dry-run --Werror"
step clang-tidy bash -c "git ls-files 'base/*.c' 'model/*.c' 'db/*.c' 'scheduler/*.c' 'form/*.c' 'simulation/*.c' 'reconciler/*.c' 'backends/*.c' 'api/*.c' 'cli/*.c' 'daemon/*.c' main.c | xargs -P 2 -n 4 clang-tidy --quiet -p build 2>/dev/null"
step ruff tools/lint_python.sh
step tsc npm --prefix web run --silent check
step "prettier and eslint" npm --prefix web run --silent lint
step openapi npm --prefix web run --silent lint:openapi
exit $failed
