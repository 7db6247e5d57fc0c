"""What a specification asks for reaches the Pod, or is refused or said by name."""

import base64
import contextlib
import sqlite3

from servers import Client


def events_of(server, workload):
    return server.get(f"/api/v1/workloads/{workload}/events").json["events"]


def test_a_specification_reaches_the_pod(server, kube):
    workload = server.submit(
        "job",
        "team-a",
        1,
        spec={
            "command": "python train.py",
            "args": "--rank $(RANK)",
            "compute": {
                "gpuDevicesRequest": 1,
                "cpuCoreRequest": 0.5,
                "cpuMemoryLimit": "1Gi",
                "largeShmRequest": True,
            },
            "environmentVariables": [
                {"name": "RANK", "value": "0"},
                {"name": "KEY", "secret": {"name": "team-key", "key": "token"}},
            ],
            "exposedUrls": [{"container": 8888}],
            "security": {"runAsUid": 1000, "runAsGid": 1000},
            "storage": {
                "nfs": [{"name": "data", "server": "nfs.example.com", "path": "/export", "mountPath": "/data"}]
            },
            "tolerations": [{"name": "t", "key": "team", "operator": "Exists", "effect": "NoSchedule"}],
        },
    )
    server.wait_phase(workload, "Running")
    (pod,) = kube.pods().values()
    spec, (container,) = pod["spec"], pod["spec"]["containers"]
    assert (container["command"], container["args"]) == (["python", "train.py"], ["--rank", "$(RANK)"])
    assert container["resources"]["requests"] == {"cpu": "500m", "memory": "0", "nvidia.com/gpu": "1"}
    assert container["resources"]["limits"] == {"memory": "1Gi", "nvidia.com/gpu": "1"}
    variables = {item["name"]: item for item in container["env"]}
    assert variables["KEY"]["valueFrom"] == {"secretKeyRef": {"name": "team-key", "key": "token"}}
    assert variables["RUNAI_JOB_NAME"]["value"] == "job"
    assert variables["PRORATA_APP_PATH"]["value"] == "/"
    assert container["securityContext"] == {"runAsUser": 1000, "runAsGroup": 1000}
    assert {mount["mountPath"] for mount in container["volumeMounts"]} == {"/data", "/dev/shm"}
    assert {item["key"] for item in spec["tolerations"]} >= {"team", "nvidia.com/gpu"}
    assert not spec["automountServiceAccountToken"]
    assert not spec["enableServiceLinks"]


def test_pods_of_distributed_work_find_each_other(server, kube):
    workload = server.submit(
        "dist",
        "team-a",
        1,
        kind="distributed",
        spec={"numWorkers": 1},
        masterSpec={"compute": {"gpuDevicesRequest": 1}},
    )
    server.wait_phase(workload, "Running")
    pods = kube.pods()
    assert sorted(pods) == ["dist-master-0-a0", "dist-worker-0-a0"]
    for pod in pods.values():
        variables = {item["name"]: item.get("value") for item in pod["spec"]["containers"][0]["env"]}
        assert variables["MASTER_ADDR"] == "dist-master-0.dist"
        assert variables["WORLD_SIZE"] == "2"
    service = kube.ask("GET", "/api/v1/namespaces/runai-team-a/services/dist").json
    assert service["spec"]["clusterIP"] == "None"
    assert service["spec"]["publishNotReadyAddresses"]


def test_what_kubernetes_cannot_do_is_refused_by_name(server):
    def message_of(spec):
        body = {"name": "no", "projectId": server.project_id("team-a"), "clusterId": server.cluster_id(),
                "spec": {"image": "i", **spec}}  # fmt: skip
        answer = server.post("/api/v1/workloads/trainings", body)
        assert answer.status == 400, answer
        return answer.json["message"]

    half = {"gpuDevicesRequest": 1, "gpuRequestType": "portion", "gpuPortionRequest": 0.5}
    assert "whole GPUs" in message_of({"compute": half})
    assert "spec.storage.s3[0].bucket" in message_of({"storage": {"s3": [{"bucket": "b", "path": "/b"}]}})
    assert "spec.labels[0].name" in message_of({"labels": [{"name": "prorata.io/instance", "value": "x"}]})


def test_what_is_not_kept_is_said(server):
    workload = server.submit(
        "space",
        "team-a",
        0,
        kind="workspaces",
        spec={"exposedUrls": [{"container": 8888, "url": "https://jupyter.example.com"}]},
    )
    server.wait_for(
        "the note",
        lambda: any("spec.exposedUrls[0].url is shown" in event["message"] for event in events_of(server, workload)),
    )


def keep(server, name, kind, spec):
    """A credential of team-a; its id."""
    meta = {"name": name, "scope": "project", "projectId": int(server.project_id("team-a"))}
    answer = server.post(f"/api/v1/asset/credentials/{kind}", {"meta": meta, "spec": spec})
    assert answer.status == 202, answer
    return answer.json["meta"]["id"]


def secrets_of(kube, project="team-a"):
    items = kube.ask("GET", f"/api/v1/namespaces/runai-{project}/secrets").json["items"]
    return {item["metadata"]["name"]: item for item in items}


def password_of(secret):
    return base64.b64decode(secret["data"]["password"]).decode()


def test_credentials_become_secrets_before_the_pod(server, kube):
    keep(server, "robot", "password", {"user": "robot", "password": "open sesame"})
    keep(server, "registry", "docker-registry", {"url": "https://r.example", "user": "robot", "password": "x"})
    workload = server.submit(
        "job",
        "team-a",
        1,
        spec={
            "environmentVariables": [{"name": "PASSWORD", "secret": {"name": "robot", "key": "password"}}],
            "imagePullSecrets": [{"name": "registry"}, {"name": "of-the-cluster"}],
        },
    )
    server.wait_phase(workload, "Running")
    secrets = secrets_of(kube)
    assert sorted(secrets) == ["registry", "robot"]
    assert password_of(secrets["robot"]) == "open sesame"
    assert secrets["registry"]["type"] == "kubernetes.io/dockerconfigjson"
    assert "https://r.example" in base64.b64decode(secrets["registry"]["data"][".dockerconfigjson"]).decode()
    (pod,) = kube.pods().values()
    assert pod["spec"]["imagePullSecrets"] == [{"name": "registry"}, {"name": "of-the-cluster"}]


def test_a_secret_follows_its_credential_and_others_stay(server, kube):
    def run(name, secret):
        variable = {"name": "PASSWORD", "secret": {"name": secret, "key": "password"}}
        workload = server.submit(name, "team-a", 0, spec={"environmentVariables": [variable]})
        server.wait_phase(workload, "Running")

    first = keep(server, "robot", "password", {"user": "robot", "password": "old"})
    run("first", "robot")
    assert server.request("DELETE", f"/api/v1/asset/credentials/password/{first}").status in (202, 204)
    keep(server, "robot", "password", {"user": "robot", "password": "new"})
    theirs = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "theirs"},
        "type": "Opaque",
        "data": {"password": base64.b64encode(b"of the cluster").decode()},
    }
    assert kube.ask("POST", "/api/v1/namespaces/runai-team-a/secrets", theirs).code == 201
    keep(server, "theirs", "password", {"user": "robot", "password": "of the server"})
    run("second", "robot")
    run("third", "theirs")
    secrets = secrets_of(kube)
    assert password_of(secrets["robot"]) == "new"
    assert password_of(secrets["theirs"]) == "of the cluster"


def noted(server):
    with contextlib.closing(sqlite3.connect(f"file:{server.data}/prorata.db?mode=ro", uri=True)) as database:
        return {name for (name,) in database.execute("SELECT name FROM cluster_secrets")}


def test_the_secret_of_a_deleted_credential_goes_when_no_pod_reads_it(server, kube):
    """Also where the server is killed between the deletion and the Secret's; one that is not ours stays."""
    ids = {
        name: keep(server, name, "password", {"user": "u", "password": "p"}) for name in ("robot", "other", "theirs")
    }
    variables = [{"name": name, "secret": {"name": name, "key": "password"}} for name in ids]
    workload = server.submit("job", "team-a", 0, spec={"environmentVariables": variables})
    server.wait_phase(workload, "Running")
    path = "/api/v1/namespaces/runai-team-a/secrets/theirs"
    kube.patch(path, {"metadata": {"labels": {"prorata.io/instance": "another"}}})
    for name in ("robot", "theirs"):
        assert server.request("DELETE", f"/api/v1/asset/credentials/password/{ids[name]}").status in (202, 204)
    server.kill()
    server.start()
    server.wait_phase(workload, "Running")
    next_one = server.submit("next", "team-a", 0)
    server.wait_phase(next_one, "Running")
    assert sorted(secrets_of(kube)) == ["other", "robot", "theirs"], "a pod reads it"
    server.delete(f"/api/v1/workloads/trainings/{workload}")
    server.wait_for("the Secret goes", lambda: "robot" not in secrets_of(kube), seconds=60)
    assert sorted(secrets_of(kube)) == ["other", "theirs"]
    server.wait_for("it is forgotten, too", lambda: noted(server) <= {"other", "theirs"})
    server.kill()
    with contextlib.closing(sqlite3.connect(f"{server.data}/prorata.db")) as database:
        database.execute("DELETE FROM assets WHERE uuid = ?", (ids["other"],))
        database.execute("DELETE FROM credential_secrets WHERE asset_uuid = ?", (ids["other"],))
        database.commit()
    server.start()
    server.wait_for("the next start removes it", lambda: sorted(secrets_of(kube)) == ["theirs"], seconds=60)


def test_secrets_of_a_deleted_project_go(server, kube, folder):
    """Of its own credentials and of everybody's; other projects keep theirs."""
    keep(server, "robot", "password", {"user": "u", "password": "p"})
    meta = {"name": "shared", "scope": "tenant"}
    answer = server.post("/api/v1/asset/credentials/password", {"meta": meta, "spec": {"user": "u", "password": "p"}})
    assert answer.status == 202, answer
    for project, names in (("team-a", ("robot", "shared")), ("team-b", ("shared",))):
        variables = [{"name": name, "secret": {"name": name, "key": "password"}} for name in names]
        server.wait_phase(server.submit("job", project, 0, spec={"environmentVariables": variables}), "Running")
    assert sorted(secrets_of(kube)) == ["robot", "shared"]
    said = Client(server, folder / "home").sign_in().run("project", "delete", "team-a")
    assert "its namespace runai-team-a stays" in said
    assert "kubectl delete namespace -l prorata.io/project=team-a" in said
    server.wait_for("the Secrets go", lambda: not secrets_of(kube))
    assert sorted(secrets_of(kube, "team-b")) == ["shared"]
    assert kube.ask("GET", "/api/v1/namespaces/runai-team-a").code == 200, "the namespace stays"


def test_namespaces_of_a_deleted_department_are_named(server, kube, folder):
    for project in ("team-a", "team-b"):
        server.wait_phase(server.submit("job", project, 1), "Running")
    said = Client(server, folder / "home").sign_in().run("department", "delete", "research", "--with-projects")
    assert "namespaces stay in the cluster, where pods ran in them: runai-team-a, runai-team-b: " in said
    assert "kubectl delete namespace -l 'prorata.io/project in (team-a, team-b)'" in said
    for project in ("team-a", "team-b"):
        assert kube.ask("GET", f"/api/v1/namespaces/runai-{project}").code == 200, "the namespace stays"
