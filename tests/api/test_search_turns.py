"""Searches for pods that give way that take longer than a cycle has time for: the next cycles go on with them."""

PODS = 40  # of a tenth of a GPU each: they hold all 4


def metric(server, name):
    lines = server.request("GET", "/metrics").body.decode().splitlines()
    return int(next(line.split()[-1] for line in lines if line.startswith(f"{name} ")))


def test_room_that_takes_many_cycles_to_find_is_found(make_server):
    server = make_server("--quick-start", "--search-budget", "1")
    small = {"compute": {"gpuDevicesRequest": 1, "gpuRequestType": "portion", "gpuPortionRequest": 0.1}}
    holders = [server.submit(f"small-{i}", "team-a", spec=small) for i in range(PODS)]
    for holder in holders:
        server.wait_phase(holder, "Running")
    gang = {"distributedFramework": "PyTorch", "numWorkers": 2}  # beside a master without GPUs
    late = server.submit("late", "team-b", kind="distributed", spec=gang)
    server.wait_phase(late, "Running")
    assert metric(server, 'prorata_scheduler_searches_cut_total{action="reclaim"}') > 0
    server.wait_for("all searches are over", lambda: metric(server, "prorata_scheduler_search_turns") == 0)
