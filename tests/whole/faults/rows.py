"""What stands in the database's file."""

import sqlite3

HOLDING = ("Binding", "Bound", "Running", "Releasing")


def rows_of(world, sql):
    connection = sqlite3.connect(f"file:{world.server.data}/prorata.db?mode=ro", uri=True)
    try:
        connection.row_factory = sqlite3.Row
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def pods_of(world):
    """Those that hold a place."""
    return rows_of(
        world,
        "SELECT p.*, w.name AS workload, w.uuid AS workload_uuid, w.min_pods, w.pods_wanted, w.type, w.phase FROM "
        "pods p "
        f"JOIN workloads w ON w.id = p.workload_id WHERE p.deleted_ms = 0 AND p.status IN {HOLDING}",
    )


def gangs_in_halves(world, pods):
    running = {}
    for pod in pods:
        running.setdefault(pod["workload_uuid"], []).append(pod)
    wrong = []
    for mates in running.values():
        if mates[0]["type"] == "Distributed" and len(mates) < mates[0]["min_pods"]:
            done = rows_of(
                world,
                f"SELECT count(*) FROM pods WHERE status = 'Succeeded' AND workload_id = "
                f"{mates[0]['workload_id']} AND deleted_ms = 0",
            )[0][0]
            if len(mates) + done < mates[0]["min_pods"]:
                wrong.append(f"{mates[0]['workload']} is a gang of {len(mates)} of {mates[0]['min_pods']}")
    return wrong


def workloads_on_their_way(world):
    moving = ("Stopping", "Deleting", "Creating", "Initializing", "Resuming", "Terminating")
    return [
        f"{row['name']} is still {row['phase']}, wanted {row['desired_phase']}"
        for row in rows_of(world, "SELECT name, desired_phase, phase FROM workloads WHERE deleted_ms = 0")
        if row["desired_phase"] == "Deleted" or row["phase"] in moving
    ]


def failed_and_not_tried_again(world):
    return [
        f"{row['pod']} has failed and is not tried again"
        for row in rows_of(
            world,
            "SELECT p.name AS pod FROM pods p JOIN workloads w ON w.id = p.workload_id WHERE p.deleted_ms = 0 AND "
            "p.status = 'Failed' AND p.attempt < 3 "  # later ones wait for long
            "AND w.deleted_ms = 0 AND w.desired_phase = 'Running' AND w.phase NOT IN ('Completed', 'Failed') AND "
            "NOT EXISTS (SELECT 1 FROM pods n "
            "WHERE n.workload_id = p.workload_id AND n.role = p.role AND n.pod_index = p.pod_index AND n.attempt "
            "> p.attempt)",
        )
    ]
