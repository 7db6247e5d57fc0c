"""prorata inference: submitted, changed, stopped and deleted by words."""

import json

TEAM = ("-p", "team-a")


def test_an_inference_by_words(client):
    said = client.run(
        *("inference", "submit", "llm", "-i", "x", *TEAM, "--serving-port", "container=8000,protocol=grpc"),
        *("--min-replicas", "1", "--max-replicas", "2", "--metric", "latency", "--metric-threshold", "9"),
        *("--scale-down-delay", "2m", "--", "--port", "$(PORT)"),
    )
    assert "inference llm" in said
    (row,) = client.server.get("/api/v1/workloads").json["workloads"]
    path = f"/api/v1/workloads/inferences/{row['id']}"
    spec = client.server.get(path).json["spec"]
    assert spec["servingPort"] == {"container": 8000, "protocol": "grpc", "authorizationType": "public"}
    assert spec["autoscaling"]["maxReplicas"] == 2 and spec["autoscaling"]["scaleDownDelaySeconds"] == 120
    client.server.wait_phase(row["id"], "Running")
    assert "llm" in client.run("inference", "list", *TEAM) and "llm-0-0" in client.run(
        "inference", "describe", "llm", *TEAM
    )
    assert "llm is being changed" in client.run("inference", "update", "llm", *TEAM, "-i", "y", "--max-replicas", "3")
    spec = client.server.get(path).json["spec"]
    assert (spec["image"], spec["autoscaling"]["maxReplicas"], spec["autoscaling"]["metric"]) == ("y", 3, "latency")
    client.run("inference", "suspend", "llm", *TEAM)
    client.server.wait_phase(row["id"], "Stopped")
    client.run("inference", "resume", "llm", *TEAM)
    client.server.wait_phase(row["id"], "Running")
    client.run("inference", "delete", "llm", *TEAM, "-y")
    client.server.wait_for("gone", lambda: not client.server.get("/api/v1/workloads").json["workloads"])


def test_what_the_words_refuse(client):
    for words in (("--serving-port", "container=web"), ("--min-replicas", "x"), ("--metric", "latency")):
        client.run("inference", "submit", "bad", "-i", "x", *TEAM, *words, status=1)
    client.run("inference", "update", "none", *TEAM, status=1)


def test_a_dry_run_sends_nothing(client):
    words = ("inference", "submit", "dry", "-i", "x", *TEAM, "--min-replicas", "2", "--serving-port", "80", "--dry-run")
    body = json.loads(client.run(*words))
    assert body["spec"] == {"image": "x", "autoscaling": {"minReplicas": 2}, "servingPort": {"container": 80}}


def test_the_line_that_the_dashboards_form_shows(client):
    """As web/pictures/submission.ts writes it (tests/web/unit/submission_fields.test.mjs)."""
    words = "inference submit a1 -p team-a -i x -g 1 --serving-port container=8000,protocol=http,cluster-local=true "
    words += "--min-replicas 0 --max-replicas 4 --metric vllm:num_requests_running --metric-threshold 20 "
    words += "--scale-to-zero-retention 300s --dry-run"
    spec = json.loads(client.run(*words.split()))["spec"]
    assert spec["servingPort"] == {"container": 8000, "protocol": "http", "clusterLocalAccessOnly": True}
    assert spec["autoscaling"] == {
        "minReplicas": 0,
        "maxReplicas": 4,
        "metric": "vllm:num_requests_running",
        "metricThreshold": 20,
        "scaleToZeroRetentionSeconds": 300,
    }


def test_who_changes_one_is_not_taken_for_who_submitted_it(client):
    workload = client.server.submit("llm", "team-a", kind="inferences", spec={"servingPort": {"container": 8000}})
    client.run("inference", "update", "llm", *TEAM, "-i", "y")
    shown = client.server.workload(workload)
    assert (shown["images"], shown["source"]) == (["y"], "Control-plane")
