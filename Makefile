# make run and make test are all a newcomer needs; make help lists the rest.
SHELL := /bin/bash
.DEFAULT_GOAL := help
PREFIX ?= /usr/local
RUN_ARGS ?=
FUZZ_SECONDS ?= 60

help: ## What there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-15s %s\n", $$1, $$2}'

deps: ## Say what is missing for build and tests, and install it (Debian packages; root or sudo)
	@tools/deps.sh build test

build: ## Install what the build lacks and leave build/prorata
	@tools/deps.sh build
	@tools/build.sh build "" prorata

run: build ## Build, and serve the dashboard with a simulated cluster on http://127.0.0.1:8080 (data in ./data)
	@exec build/prorata serve --data ./data --quick-start $(RUN_ARGS)

run-kubernetes: build ## The same with a Kubernetes cluster of pretended nodes; builds its API server the first time (./data-kubernetes)
	@tools/deps.sh test
	@exec tests/kubernetes/run.sh $(RUN_ARGS)

test: ## Install what tests need and run what every change must pass (units, API, CLI, pods, browser)
	@tools/deps.sh build test
	@tools/test.py all

check: ## The tests that take less than two minutes
	@tools/deps.sh build test
	@tools/test.py quick

test-long: ## The same, the three below, fuzzing, many random clusters, hundreds of rounds of kill -9
	@tools/deps.sh build test
	@tools/test.py long

test-sanitizers: ## API, command line, pods, scenarios and all random clusters with AddressSanitizer
	@tools/deps.sh build test
	@tools/test.py sanitizers

test-threads: ## Units with threads and the whole server with ThreadSanitizer: after changes to locks
	@tools/deps.sh build test
	@tools/test.py threads

test-kubernetes: ## The Kubernetes backend on real API servers of two versions, built the first time: after changes to it
	@tools/deps.sh build test
	@tools/test.py kubernetes

bench: ## Benchmarks, each printed with its set-up
	@tools/deps.sh build test
	@tools/build.sh build "" all benches
	@bench/run.sh

pictures: build ## Make docs/overview.png again: the Overview of a real server with a made-up laboratory
	@tools/deps.sh test
	@node tests/web/overview_picture.mjs

fuzz: ## Fuzz every parser of outside bytes for FUZZ_SECONDS each
	@tools/deps.sh build test
	@tools/fuzz.sh $(FUZZ_SECONDS)

coverage: ## How much of the scheduler its tests reach; fails below 95 % of the lines
	@tools/deps.sh build test
	@tools/coverage.sh

mutants: ## Put seeded bugs into the scheduler, one at a time; each must be noticed by a test
	@tools/deps.sh build test
	@tools/mutate.py

lint: ## clang-format, clang-tidy, OpenAPI linter, tsc, prettier, eslint, ruff
	@tools/deps.sh build test
	@tools/lint.sh

format: ## Format C and Python
	@git ls-files '*.c' '*.h' | xargs clang-format -i
	@tools/lint_python.sh --fix

install: build ## Install under PREFIX (default /usr/local)
	@cmake --install build --prefix $(PREFIX)

clean: ## Remove what was built (not ./data)
	@rm -rf build build-asan build-tsan build-fuzz build-coverage build-mutation artifacts

.PHONY: help deps build run run-kubernetes test check test-long test-sanitizers test-threads test-kubernetes bench pictures fuzz coverage mutants lint format install clean
