"""Nodes by the command line: their labels shown, set and removed."""


def test_node_label_and_show_labels(client):
    said = client.run("node", "label", "node-0", "run.ai/type=a100", "rack=r1")
    assert said == "node/node-0 labeled; it is in node pool default\n"
    table = client.run("node", "list", "--show-labels").splitlines()
    assert (
        table[0].split()[-1] == "Labels"
        and "rack=r1" in table[2]
        and "run.ai/type=a100" in table[2]
        and "rack" not in table[3]
    )
    assert "Labels" not in client.run("node", "list")
    client.run("node", "label", "node-0", "rack-", "run.ai/type=h100", "--overwrite")
    old = client.run("get", "nodes", "--show-labels", program=client.runai)
    assert "run.ai/type=h100" in old and "rack" not in old


def test_a_label_moves_the_node(client):
    server = client.server
    assert (
        server.post(
            "/api/v1/node-pools",
            {"name": "dgx", "labelKey": "node-model", "labelValue": "dgx-2", "clusterId": server.cluster_id()},
        ).status
        == 201
    )
    assert "none has the label node-model=dgx-2" in client.run("nodepool", "list")
    assert client.run("node", "label", "node-1", "node-model=dgx-2") == "node/node-1 labeled; it is in node pool dgx\n"
    assert "none has" not in client.run("nodepool", "list")


def test_node_label_refuses(client):
    assert "a label is missing" in client.run("node", "label", "node-0", status=1)
    assert "KEY=VALUE sets a label" in client.run("node", "label", "node-0", "rack", status=1)
    assert "not a label key" in client.run("node", "label", "node-0", "a b=c", status=1)
    assert "node nowhere: not found" in client.run("node", "label", "nowhere", "a=b", status=1)


def test_describe_node(client):
    client.run("node", "label", "node-0", "rack=r1")
    client.run("training", "submit", "a1", "-i", "x", "-g", "2", "-p", "team-a")
    server = client.server
    server.wait_for("a run", lambda: server.get("/api/v1/workloads").json["workloads"][0]["phase"] == "Running")
    (pod,) = server.get("/api/v1/workloads/pods").json["pods"]
    said = client.run("describe", "node", pod["nodeName"], program=client.runai)
    assert (
        "nvidia.com/gpu: 2.00 of 2" in said
        and [line.split()[-1] for line in said.splitlines()[-2:]] == ["team-a/a1"] * 2
    )
    assert "  rack=r1" in client.run("node", "describe", "node-0")
    assert "no node was found: node-9" in client.run("node", "describe", "node-9", status=1)


def test_node_cordon_and_uncordon(client):
    assert client.run("node", "cordon", "node-0", "--reason", "a loud fan") == (
        "node/node-0 cordoned: nothing new is placed there\n"
    )
    assert "a loud fan" in client.run("node", "list", "--json")
    assert "Cordoned: a loud fan (admin@prorata.local, 20" in client.run("node", "describe", "node-0")
    assert client.run("node", "uncordon", "node-0") == "node/node-0 uncordoned\n"
    assert "Cordoned" not in client.run("node", "describe", "node-0")
    assert "a loud fan" not in client.run("node", "list", "--json")


def test_node_drain(client):
    assert client.run("node", "drain", "node-0", "--reason", "a loud fan") == (
        "node/node-0 drains: what may be preempted leaves it\n"
    )
    assert client.run("node", "drain", "node-0", "--reason", "a loud fan", "--force") == (
        "node/node-0 drains: everything leaves it\n"
    )
    assert "--reason says why" in client.run("node", "drain", "node-0", status=1)
    client.run("node", "uncordon", "node-0")


def test_node_cordon_refuses(client):
    assert "--reason says why" in client.run("node", "cordon", "node-0", status=1)
    assert "node nowhere: not found" in client.run("node", "cordon", "nowhere", "--reason", "x", status=1)


def test_a_node_of_many_is_found(client):
    for number in range(60):  # more than a page
        assert client.server.post("/api/v1/simulation/nodes", {"name": f"a-{number}", "gpus": 1}).status < 300
    said = client.run("node", "cordon", "node-0", "--reason", "a loud fan")
    assert said == "node/node-0 cordoned: nothing new is placed there\n"
    assert client.run("node", "uncordon", "node-0") == "node/node-0 uncordoned\n"
