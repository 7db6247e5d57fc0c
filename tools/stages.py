"""What the tests are: the stages of make check, test, test-sanitizers, test-threads, test-kubernetes and test-long.

make test is what a change must pass: nothing in it measures time, draws a seed or fetches anything after its first
stage. Black-box tests run there on the plain build; memory errors are looked for where bytes come in from outside, in
units and in whole walks. Everything runs under sanitizers in make test-long."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOGS = ROOT / "artifacts/stages"
TEST_LIMIT_S = 600  # as the stages' limits: ends what hangs, and measures nothing
LONG = {"limit_s": 4 * 3600, "PRORATA_LONG": "1"}
MACHINE = "machine"  # stages that fill this machine with pods, or look at all of its processes
FETCH = "fetch"
BUILD, ASAN, TSAN = "build", "build with AddressSanitizer and UndefinedBehaviorSanitizer", "build with ThreadSanitizer"
KUBERNETES, OLD_KUBERNETES = "programs of a Kubernetes cluster", "programs of a cluster of Kubernetes 1.26"
# What servers of tests are made of, beside the server itself.
SERVER = [
    "prorata",
    "prorata-supervisor",
    "prorata-mpi-agent",
    "fake_nvml",
    "shift_clock",
    "quick_passwords",
    "fakekube",
]


class Stage:
    """A command, and what it is given to run, with its own log. runner: pytest or node, whose command runs a single
    test too. places: how many processor cores it fills, about."""

    def __init__(
        self, name, *command, given=(), after=(), shares=None, places=1, limit_s=2400, runner=None, **environment
    ):
        self.name, self.command, self.given, self.after, self.environment = name, command, given, after, environment
        self.limit_s, self.places, self.runner, self.shares = limit_s, places, runner, shares
        self.state, self.seconds, self.cpu_s, self.counts, self.failures = "waits", 0, 0, (0, 0), []

    @property
    def log(self):
        return LOGS / (re.sub(r"\W+", "-", self.name.lower()) + ".log")

    @property
    def junit(self):
        return self.log.with_suffix(".xml")


def build(name, folder, *arguments):
    return Stage(name, "tools/build.sh", folder, *arguments, places=2)


def ctest(name, folder, *arguments, after, **more):
    command = ["ctest", "--test-dir", folder, "--output-on-failure", "-j", "2", *arguments]
    return Stage(name, *command, after=after, places=2, **more)


def pytest(name, folder, *tests, after, within=(), workers=1, places=1, limit_of_a_test_s=TEST_LIMIT_S, **more):
    together = ("-n", str(workers), "--dist", "loadfile") if workers > 1 else ()
    stage = Stage(
        name,
        *within,
        "/usr/bin/python3",
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--timeout",
        str(limit_of_a_test_s),
        "--durations=25",
        "-o",
        "junit_family=xunit1",
        given=(*together, *tests),
        after=(FETCH, *after),
        places=places,
        runner="pytest",
        PRORATA=str(ROOT / folder / "prorata"),
        **more,
    )
    stage.given += (f"--junitxml={stage.junit}",)
    return stage


def files(pattern, without=()):
    found = {path.relative_to(ROOT) for path in ROOT.glob(pattern)}
    return sorted(str(path) for path in found if path.name not in without)


def node(name, *tests, at_once=1, **more):
    """at_once: files; each of the dashboard's pages starts a browser."""
    command = ["node", "--test", "--test-reporter=tap", f"--test-concurrency={at_once}"]
    return Stage(name, *command, given=tests, after=(FETCH, BUILD), PRORATA=str(ROOT / "build/prorata"), **more)


def pages(name, **more):
    return node(name, *files("tests/web/pages/*.test.mjs"), runner="node", at_once=2, places=2, **more)


def fetch():
    return Stage(FETCH, "tools/fetch.sh")


def forms():
    web = "npm --prefix web run --silent"
    types = f"{web} check && {web} lint && {web} lint:openapi && node --test tests/web/types/types.test.mjs"
    c_form = "git ls-files '*.c' '*.h' | xargs clang-format --dry-run --Werror"
    return [
        pytest("house rules", "build", "tests/house", after=(BUILD,)),
        node("dashboard units", *files("tests/web/unit/*.mjs")),
        Stage("dashboard types and form", "bash", "-c", types, after=(FETCH, BUILD)),
        Stage("form of Python", "tools/lint_python.sh", after=(FETCH,)),
        Stage("form of C", "bash", "-c", c_form),
    ]


def quick():
    return [
        fetch(),
        build(BUILD, "build"),
        ctest("unit tests", "build", "-LE", "long", after=(BUILD,)),
        *forms(),
        pytest(
            "simulate and the rules of scheduling",
            "build",
            "tests/cli/test_simulate.py",
            "tests/scheduler",
            "tests/replay",
            after=(BUILD,),
        ),
    ]


# What random clusters show: in full on the plain build, by samples under sanitizers.
RANDOM = ["scheduler/invariants", "scheduler/plain_search", "scheduler/what_if", "scheduler/good_until"]
RANDOM += ["scheduler/more_nodes", "reconciler/crash", "reconciler/random", "reconciler/shortcut", "reconciler/people"]
# What stands at the door: bytes of strangers, and one request to each operation.
DOORS = [
    "tests/api/test_contract.py",
    "tests/api/test_hostile.py",
    "tests/api/test_empty_post.py",
    "tests/api/test_static_files.py",
]
# What asks thousands of requests, or fills a machine with clients: make test-long.
CROWDS = [
    "tests/api/test_hostile_operations.py",
    "tests/api/test_schemathesis.py",
    "tests/api/test_heavy_readers.py",
    "tests/api/test_slow_clients.py",
    "tests/api/test_sign_in_crowd.py",
]
STAND_IN = ["tests/fakekube", "tests/kubernetes/test_cases.py"]


def on_the_api(*without):
    names = {pathlib.Path(path).name for path in without}
    return [*files("tests/api/test_*.py", names), *files("tests/db/test_*.py"), *files("tests/openid/test_*.py")]


def whole():
    return [
        fetch(),
        build(BUILD, "build", "", *SERVER, *(f"{name.replace('/', '_')}_test" for name in RANDOM)),
        # The longest come first, so that none is left alone at the end.
        pages("dashboard in a browser"),
        build(ASAN, "build-asan", "address"),
        pytest("API and migrations", "build", *on_the_api(*DOORS, *CROWDS), workers=3, after=(BUILD,)),
        pytest("scenarios on every backend", "build", "tests/whole/scenarios", after=(BUILD,), shares=MACHINE),
        pytest("the local backend", "build", "tests/local", workers=3, after=(BUILD,), shares=MACHINE),
        pytest("the Kubernetes backend", "build-asan", "tests/kubernetes/backend", workers=3, after=(ASAN,)),
        ctest("unit tests, conformance and fuzz corpora", "build-asan", "-LE", "long", after=(ASAN,)),
        ctest("random clusters", "build", "-R", f"^({'|'.join(RANDOM)})_test$", after=(BUILD,)),
        pytest(
            "command line and the rules of scheduling",
            "build",
            "tests/cli",
            "tests/scheduler",
            "tests/replay",
            after=(BUILD,),
        ),
        pytest(
            "walk-throughs and faults",
            "build-asan",
            "tests/whole/e2e",
            "tests/whole/scripts",
            after=(ASAN,),
            shares=MACHINE,
        ),
        pytest("rounds of faults", "build-asan", "tests/whole/faults", after=(ASAN,), shares=MACHINE),
        pytest("doors of the API", "build-asan", *DOORS, after=(ASAN,)),
        pytest("the stand-in for Kubernetes", "build-asan", *STAND_IN, after=(ASAN,)),
        pytest("API pages in a browser", "build", "tests/web/api_pages", after=(BUILD,)),
        *forms(),
    ]


def sanitizers():
    return [
        fetch(),
        build(ASAN, "build-asan", "address"),
        ctest("all random clusters under sanitizers", "build-asan", "-LE", "long", after=(ASAN,), **LONG),
        pytest("API under sanitizers", "build-asan", *on_the_api(), after=(ASAN,), **LONG),
        pytest("local backend under sanitizers", "build-asan", "tests/local", after=(ASAN,), shares=MACHINE, **LONG),
        pytest("command line under sanitizers", "build-asan", "tests/cli", "tests/scheduler", after=(ASAN,), **LONG),
        pytest("scenarios under sanitizers", "build-asan", "tests/whole/scenarios", after=(ASAN,), shares=MACHINE),
    ]


def threads():
    rooms = "db|reconciler|backends|api"
    return [
        fetch(),
        build(TSAN, "build-tsan", "thread"),
        ctest("threads", "build-tsan", "-L", rooms, "-LE", "long", after=(TSAN,)),
        pytest("threads of the whole server", "build-tsan", "tests/whole/threads", after=(TSAN,)),
    ]


def beside_api_server(name, programs, **more):
    return pytest(
        name,
        "build-asan",
        "tests/kubernetes/backend",
        "tests/kubernetes/test_cases.py",
        within=("tests/kubernetes/with_cluster.sh",),
        after=(ASAN, programs),
        **more,
    )


def kubernetes():
    """The newest and the oldest that are proven on a real API server."""
    hours = {"limit_s": LONG["limit_s"]}
    return [
        fetch(),
        build(ASAN, "build-asan", "address"),
        Stage(KUBERNETES, "tests/kubernetes/build.sh", **hours),
        beside_api_server("a real Kubernetes API server", KUBERNETES, **hours),
        Stage(OLD_KUBERNETES, "tests/kubernetes/v1.26/build.sh", after=(KUBERNETES,), **hours),
        beside_api_server("a real API server of 1.26", OLD_KUBERNETES, KUBE_VERSION="1.26", **hours),
    ]


def long():
    stages = [
        *whole(),
        *sanitizers(),
        *threads(),
        *kubernetes(),
        ctest("long unit tests", "build-asan", "-L", "long", after=(ASAN,), **LONG),
        pages("all looks at pages, and what they measure", **LONG),
        pages("dashboard of a slow server", PRORATA_SLOW_API="500", limit_s=LONG["limit_s"]),
        node("heap of a dashboard that is open for an hour", *files("tests/web/long/*.mjs"), **LONG),
        pytest("crowds at the API", "build", *CROWDS, after=(BUILD,), **LONG),
        pytest("long walk-throughs", "build-asan", "tests/whole/e2e", after=(ASAN,), shares=MACHINE, **LONG),
        pytest(
            "many rounds of faults", "build-asan", "-s", "tests/whole/faults", after=(ASAN,), shares=MACHINE, **LONG
        ),
        pytest(
            "random clusters decided twice",
            "build",
            "tests/scheduler/test_plain_scheduler.py",
            after=(BUILD,),
            PLAIN_CLUSTERS="5000",
            **LONG,
        ),
        pytest(
            "many requests by schemathesis",
            "build-asan",
            "tests/api/test_schemathesis.py",
            limit_of_a_test_s=7200,
            after=(ASAN,),
            PRORATA_EXAMPLES="100",
            **LONG,
        ),
        Stage("coverage of the scheduler", "tools/coverage.sh", places=2, **LONG),
        Stage("seeded bugs", "tools/mutate.py", after=(BUILD,), places=2, **LONG),
        Stage("fuzzing", "tools/fuzz.sh", "120", places=2, **LONG),
    ]
    by_name = {}
    for stage in stages:
        by_name.setdefault(stage.name, stage)
    return list(by_name.values())


KINDS = {
    "quick": quick,
    "all": whole,
    "sanitizers": sanitizers,
    "threads": threads,
    "kubernetes": kubernetes,
    "long": long,
}
