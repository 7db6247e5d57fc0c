"""Scripts as users write them after the published quick starts: each runs as it is and leaves nothing behind.

A script gets BASE, EMAIL and PASSWORD, an empty folder as its home, and the client as `runai` and `prorata`."""

import os
import pathlib
import re
import subprocess
import tempfile

import pytest
from servers import ADMIN, PASSWORD, PRORATA, Server

HERE = pathlib.Path(__file__).parent
LIMIT_S = 60  # ends what hangs, and measures nothing

LISTS = (
    "/api/v1/org-unit/projects",
    "/api/v1/org-unit/departments",
    "/api/v1/node-pools",
    "/api/v1/users",
    "/api/v1/access-keys",
    "/api/v1/workload-templates",
    "/api/v1/subscriptions",
    "/api/v1/notification-channels",
)

# What the output of each must show: regular expressions, in this order.
FACTS = {
    "01_first_training": [r"^first-training Training Running team-a 1$"],
    "02_first_workspace": [r"^Workspace Build 125 from admin@", r"^jupyter-notebook at 8888$", r"^pod Running$"],
    "03_distributed": [
        r"^Distributed PyTorch Running 3 GPUs$",
        r"^3 pods on 2 nodes$",
        r"^Pending with 0 running$",
    ],
    "04_inference": [r"^Inference 150 Deploy$", r"^max replicas 5$", r"^refused: spec.servingPort: "],
    "05_fractions": [r"^frac05-1 0.5 GPU$", r"^frac05-2 0.5 GPU$", r"^team-a holds 1 GPU$", r"^refused: .* got 1.5"],
    "06_gpu_memory": [r"^memory 4G$", r"^some of a GPU: true$", r"^ GPU Memory +3815Mi ", r"^ memory-by-words-0-0 "],
    "07_preemption_exercise": [
        r"^total +3 +3 +12 +0.00 +12.00$",
        r"^STATUS: Running$",
        r"^single-node-pool +1 +1 +8 +8.00 +0.00$",
        r"^single-node-pool +4.00 +unlimited +2 +8.00 ",
        r"\[Preempted\] .* Yields to jupyter-workspace of project project-b",
        r"^Priority: low$",
        r"^Job jupyter-workspace deleted successfully$",
        r"^single-node-pool +4.00 +unlimited +2 +8.00 ",
    ],
    "08_over_quota_curl": [
        r"^Over quota:\na1 Running team-a\na2 Running team-a\nb1 Running team-b$",
        r"^Reclaimed:\na1 Pending team-a\na2 Running team-a\nb1 Running team-b\nb2 Running team-b$",
        r"^a1-0-0: Yields to b2 of project team-b",
    ],
    "09_over_quota_cli": [
        r"^ team-a +2.00 +3.00 +150.00%$",
        r"^ a1 +Training +Pending +team-a +0/1 +1.00$",
        r"^ b2 +Training +Running +team-b +1/1 +1.00$",
        r"^a1 \(Pending\): Needs 1 GPU in default; 0 of its 4 GPUs are free.$",
    ],
    "10_project_and_department": [
        r"^grippers in robotics, namespace runai-grippers, 1 GPU$",
        r"^now 2 GPUs$",
        r"^409: .*grippers",
        r"^400: name: ",
        r"^0 departments left$",
    ],
    "11_node_pool": [
        r"^ dgx-2 +node-model=dgx-2 +Ready +1 +2 ",
        r"^runs in dgx-2 of dgx-2,default$",
        r"^pools: default$",
    ],
    "12_access_key": [
        r"^the robot sees 3 projects$",
        r"^the old secret: 400$",
        r"^the new secret: true$",
        r"^keys: nightly-robot; a secret is shown: false$",
        r"^after its key is gone: 401$",
    ],
    "13_user_and_rule": [
        r"^jane@lab.example is L1 researcher in team-a$",
        r"^she sees team-a$",
        r"^hers, by jane@lab.example$",
        r"^in team-b: 400 projectId: no project ",
        r"^the users: 403$",
        r"after she is gone: 401$",
    ],
    "14_template": [
        r"^runnable: true$",
        r"^runai.jfrog.io/demo/quickstart 1 GPU EPOCHS=3 SEED=2$",
        r"^ our-training +Training +project ",
    ],
    "15_data_source": [r"^nfs images for a project$", r"^nas.lab.example:/exports/images at /data/images$"],
    "16_policy": [
        r"^policy of the tenant$",
        r"^400: .*: at most 2 by the tenant's policy, got 3 \(rule max\)$",
        r"^HTTP_PROXY=http://proxy:3128$",
        r"^exit status 1$",
        r"^ compute.gpuDevicesRequest +- +max 2 +tenant$",
        r"^.*policies left: 0$",
    ],
    "17_suspend_resume": [
        r"^Stopped holds 0 GPUs$",
        r"^phases: .*Resuming Stopped Stopping Running",
        r"^deleted: two$",
    ],
    "18_lists": [
        r"^newest first: run-5 run-4 run-3 run-2 run-1$",
        r"^by name: run-2$",
        r"^not by name: run-1 run-3 run-4 run-5$",
        r"^begins: run-1 run-2$",
        r"^search: run-3$",
        r"^page at 0: run-1 run-2\npage at 2: run-3 run-4\npage at 4: run-5$",
        r"^count: 5$",
        r"^400: filterBy: .*colour==red",
        r"^400: sortBy: one of type, name, ",
        r"^400: limit: at least 1, got -1$",
    ],
    "19_telemetry_csv": [
        r"^Running: 1$",
        r"^timestamp,type,Nodepool,value$",
        r",TOTAL_GPUS,default,4$",
        r",GPU_ALLOCATION,1,1$",
        r",TOTAL_GPU,,,4$",
        r"^400: telemetryType: one of ",
    ],
    "20_notifications": [
        r"^channel email of type email$",
        r"^the password is shown: false$",
        r"^subscribed to Failed Completed by email$",
        r'^400: events\[0\]: no type "Rain"',
        r'"email":{"enabled":true}',
    ],
    "21_batch_by_file": [
        r"^sweep-0-01 would be sent$",
        r"^Error: spec.compute.gpuDevicesRequest: expected a whole number, got \"two\"\nexit status 1$",
        r"^Error: nonsense.yaml:2: .*\nexit status 1$",
        r"^ sweep-0-1 +Training +Running +team-a +1/1 +0.50$",
    ],
    "30_cli_quick_start": [
        r"^ my-train +Training +Running +team-a +1/1 +1.00$",
        r"^ GPU Compute +1.00 +1.00$",
        r"^started with 0$",
        r"^hello from a pod$",
        r"^42 is the answer$",
        r"^training my-train was resumed successfully$",
    ],
    "31_logs_by_curl": [
        r"^epoch 1\nepoch 2$",
        r"^the last line: epoch 2$",
        r"^no data$",
        r"^bad-0-0 ended with exit code 3: ",
    ],
}


def add_large_node(server):
    """The exercise of preemption needs a node of 8 GPUs; returns what takes it away again."""
    node = {"name": "large", "gpus": 8, "labels": {"exercise": "preemption"}}
    assert server.post("/api/v1/simulation/nodes", node).status in (200, 201)
    return lambda: server.delete("/api/v1/simulation/nodes/large")


PREPARE = {"07_preemption_exercise": add_large_node}


def serving(*arguments):
    with tempfile.TemporaryDirectory(prefix="prorata-test-") as path:
        server = Server(path, *arguments).start()
        yield server
        for row in server.get("/api/v1/workloads").json["workloads"]:  # of a script that failed
            server.post("/api/v1/workloads/batch", {"action": "delete", "ids": [row["id"]]})
        server.wait_for("no workload is left", lambda: not server.get("/api/v1/workloads").json["workloads"])
        status = server.stop()
        log = server.log.read_text(errors="replace")
        assert status == 0, f"server ended with {status}:\n{server.tail()}"
        assert "Sanitizer" not in log and "runtime error" not in log, server.tail()


@pytest.fixture(scope="module")
def simulated():
    yield from serving("--quick-start")


@pytest.fixture(scope="module")
def local():
    yield from serving("--quick-start", "--backend", "local", "--local-gpus", "4")


def play(server, home, name):
    home.mkdir()
    for word in ("runai", "prorata"):
        (home / word).symlink_to(os.path.realpath(PRORATA))
    done = subprocess.run(
        [HERE / f"{name}.sh"],
        cwd=home,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT_S,
        env={
            "PATH": f"{home}:{os.environ['PATH']}",
            "HOME": str(home),
            "BASE": server.url,
            "EMAIL": ADMIN,
            "PASSWORD": PASSWORD,
        },
    )
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout}\n{server.tail()}"
    return done.stdout


def rest(server):
    """What a script may leave behind by mistake."""
    server.wait_for("no workload is left", lambda: not server.get("/api/v1/workloads").json["workloads"])
    return {path: sorted(str(row.get("id", row.get("name"))) for row in rows(server.get(path).json)) for path in LISTS}


def rows(found):
    return found if isinstance(found, list) else next(value for value in found.values() if isinstance(value, list))


def check(server, home, name):
    before = rest(server)
    undo = PREPARE.get(name, lambda server: lambda: None)(server)
    try:
        output = play(server, home, name)
    finally:
        undo()
    at = 0
    for fact in FACTS[name]:
        found = re.compile(fact, re.M).search(output, at)
        assert found, f"not shown: {fact}\n{output}"
        at = found.end()
    assert rest(server) == before


NAMES = sorted(path.stem for path in HERE.glob("*.sh"))


@pytest.mark.parametrize("name", [name for name in NAMES if name < "30"])
def test_simulated(simulated, folder, name):
    check(simulated, folder / "home", name)


@pytest.mark.parametrize("name", [name for name in NAMES if name >= "30"])
def test_on_this_machine(local, folder, name):
    check(local, folder / "home", name)
