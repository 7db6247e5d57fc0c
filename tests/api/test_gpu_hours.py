"""Budgets of GPU hours: used up, they keep work within its quota, or new work out; who looks reads what is used."""

import datetime
import pathlib

import pytest
from servers import Server, moved_clock
from test_access import make_caller
from test_person_bounds import Person, set_rules, wait_sentence

HOUR = 3600


class Clocked(Server):
    """A server whose clock the test moves."""

    def __init__(self, folder, *arguments):
        self.clock = pathlib.Path(folder) / "shift"
        self.seconds = 0
        self.write()
        super().__init__(folder, *arguments, environment=moved_clock(self.clock))

    def write(self):
        part = self.clock.with_suffix(".part")
        part.write_text(f"{self.seconds}\n")
        part.replace(self.clock)

    def go_on(self, seconds):
        self.seconds += int(seconds)
        self.write()
        self.sign_in()

    def now(self):
        return datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=self.seconds)


@pytest.fixture
def clocked(folder):
    server = Clocked(folder, "--quick-start").start()
    server.sign_in()
    now = server.now()
    server.go_on(((8 - now.day) % 28) * 24 * HOUR)  # no month and no week ends while the test runs
    yield server
    server.kill()


def budget(server, name="team-a", **more):
    return server.get(f"/api/v1/org-unit/projects/{server.project_id(name)}/budget", **more).json


def used(server, name="team-a"):
    return budget(server, name).get("usedGpuHours")


def submit(server, name, gpus=1, project="team-a", **spec):
    return server.submit(name, project, gpus, spec=spec)


def wait_known(server, **wanted):
    return server.wait_for(
        f"a budget of {wanted}", lambda: {key: budget(server).get(key) for key in wanted} == wanted or None
    )


def events_of(server, name="team-a"):
    rows = server.get("/api/v1/events", limit=500).json["events"]
    return [row["message"] for row in rows if row["reason"] in ("BudgetWarning", "BudgetUsedUp")]


def test_used_up_what_goes_beyond_the_quota_waits_until_it_is_raised(server):
    set_rules(server, "projects", "team-a", {"gpuHourBudget": 0})
    wait_known(server, gpuHours=0, isUsedUp=True)
    server.wait_phase(submit(server, "within", 1), "Running")
    second = submit(server, "beyond", 2)
    sentence = wait_sentence(server, second, "OverBudget")
    assert sentence.startswith("Project team-a has used up its budget of 0 GPU hours for ")
    assert "; what goes beyond the quota of 2 GPUs of project team-a in node pool default waits until 20" in sentence
    set_rules(server, "projects", "team-a", {"gpuHourBudget": 1000})
    server.wait_phase(second, "Running")


def test_hours_are_counted_to_the_second_over_restarts(clocked):
    set_rules(clocked, "projects", "team-a", {"gpuHourBudget": 1000, "gpuHourBudgetPerPerson": 900})
    wait_known(clocked, gpuHours=1000, gpuHoursPerPerson=900, isUsedUp=False)
    first = submit(clocked, "two", 2)
    clocked.wait_phase(first, "Running")
    clocked.go_on(3 * HOUR)
    clocked.wait_for("six GPU hours", lambda: 6 <= used(clocked) < 7)
    clocked.kill()
    clocked.start()
    clocked.go_on(HOUR)
    clocked.wait_for("eight", lambda: 8 <= used(clocked) < 10)
    clocked.post(f"/api/v1/workloads/trainings/{first}/suspend")
    clocked.wait_phase(first, "Stopped")
    clocked.wait_for("nothing held", lambda: budget(clocked)["allocatedGpus"] == 0)
    exact = used(clocked)
    clocked.go_on(5 * HOUR)
    assert used(clocked) == exact
    project = clocked.project_id("team-a")
    (person,) = clocked.get(f"/api/v1/org-unit/projects/{project}/people", days=5).json["people"]
    assert person["gpuHours"] == int(exact * 1000) / 1000, "as the allocations have it, in thousandths"
    (row,) = budget(clocked)["people"]
    assert (row["name"], row["usedGpuHours"], row["isUsedUp"]) == (person["name"], exact, False)


def test_a_notice_at_four_fifths_and_when_it_is_used_up(clocked):
    set_rules(clocked, "projects", "team-a", {"gpuHourBudget": 6, "budgetPeriod": "quarter"})
    wait_known(clocked, gpuHours=6, period="quarter")
    clocked.wait_phase(submit(clocked, "two", 2), "Running")
    beyond = submit(clocked, "beyond", 1)
    clocked.wait_phase(beyond, "Running")
    clocked.wait_for("three held", lambda: budget(clocked)["allocatedGpus"] == 3)
    at = clocked.wait_for("when", lambda: budget(clocked)["usedUpAt"])
    assert abs(datetime.datetime.fromisoformat(at) - clocked.now() - datetime.timedelta(hours=2)) < datetime.timedelta(
        minutes=30
    )
    set_rules(clocked, "projects", "team-b", {"gpuHourBudget": 100000, "budgetPeriod": "week"})
    clocked.wait_phase(submit(clocked, "long", 1, "team-b"), "Running")
    clocked.wait_for("one held", lambda: budget(clocked, "team-b").get("allocatedGpus") == 1)
    assert budget(clocked, "team-b")["usedUpAt"] is None, "the next week begins before"
    clocked.go_on(1.7 * HOUR)
    clocked.wait_for("the first notice", lambda: events_of(clocked))
    assert len(events_of(clocked)) == 1 and events_of(clocked)[0].startswith(
        "Project team-a has used 80 % of its budget of 6 GPU hours for the quarter from "
    )
    clocked.go_on(HOUR)
    clocked.wait_for("the second", lambda: len(events_of(clocked)) == 2)
    assert any(event.startswith("Project team-a has used up its budget of 6 ") for event in events_of(clocked))
    third = submit(clocked, "third", 1)
    wait_sentence(clocked, third, "OverBudget")
    assert clocked.workload(beyond)["phase"] == "Running", "what runs goes on"
    clocked.kill()
    clocked.start()
    wait_sentence(clocked, third, "OverBudget")
    clocked.go_on(1)
    assert len(events_of(clocked)) == 2, "told once"


def test_the_next_period_begins_with_nothing_used(clocked):
    set_rules(clocked, "projects", "team-a", {"gpuHourBudget": 1, "budgetPeriod": "week"})
    wait_known(clocked, gpuHours=1, period="week")
    clocked.wait_phase(submit(clocked, "two", 2), "Running")
    clocked.go_on(HOUR)
    second = submit(clocked, "second", 1)
    wait_sentence(clocked, second, "OverBudget")
    end = datetime.datetime.fromisoformat(budget(clocked)["periodEnd"])
    assert (end.weekday(), end.hour, end.minute) == (0, 0, 0)
    clocked.go_on((end - clocked.now()).total_seconds() + 2)
    clocked.wait_phase(second, "Running")
    assert used(clocked) < 1


def test_where_new_work_is_refused(server):
    set_rules(server, "departments", "research", {"gpuHourBudget": 0, "budgetEnforcement": "refuse"})
    wait_known(server, gpuHours=0, enforcement="refuse", isUsedUp=True)
    body = {
        "name": "w",
        "projectId": server.project_id("team-a"),
        "clusterId": server.cluster_id(),
        "spec": {"image": "x", "compute": {"gpuDevicesRequest": 1}},
    }
    for answer in (
        server.request("POST", "/api/v1/workloads/trainings", body),
        server.request("POST", "/api/v1/scheduler/what-if", {"type": "Training", "workload": body}),
    ):
        assert answer.status == 400, answer
        assert "projectId: Project team-a has used up its budget of 0 GPU hours for " in answer.json["message"], answer
        assert "; work that asks for GPUs is taken again from 20" in answer.json["message"]
    server.wait_phase(submit(server, "cpu", 0), "Running")
    set_rules(server, "projects", "team-a", {"budgetEnforcement": "wait"})
    wait_known(server, enforcement="wait")
    server.wait_phase(submit(server, "w", 1), "Running")


def test_of_each_person(clocked):
    set_rules(clocked, "projects", "team-a", {"gpuHourBudgetPerPerson": 2})
    wait_known(clocked, gpuHours=None, gpuHoursPerPerson=2)
    ann = Person(clocked, "ann")
    clocked.wait_phase(ann.submit("within", 2), "Running")
    later = ann.submit("later", startAt=(clocked.now() + datetime.timedelta(minutes=30)).isoformat())
    clocked.go_on(HOUR + 1)
    sentence = wait_sentence(clocked, later, "OverBudget")
    assert sentence.startswith("Its submitter has used up the budget of 2 GPU hours for "), sentence
    assert " that each person of project team-a has; what goes beyond the quota of 2 GPUs of " in sentence
    clocked.wait_phase(Person(clocked, "bob").submit("little"), "Running")
    people = {person["name"]: person["isUsedUp"] for person in budget(clocked)["people"]}
    assert people == {"ann": True, "bob": False}
    assert any(event.startswith("ann has used up the budget of 2 ") for event in events_of(clocked))


def test_prometheus_is_told(server):
    set_rules(server, "projects", "team-a", {"gpuHourBudget": 12.5})
    set_rules(server, "projects", "team-b", {"gpuHourBudgetPerPerson": 1})
    wait_known(server, gpuHours=12.5)
    rows = server.wait_for(
        "both",
        lambda: (lambda found: len(found) == 3 and found)(
            [
                line
                for line in server.request("GET", "/metrics").body.decode().splitlines()
                if line.startswith(("prorata_project_budget_gpu_hours{", "prorata_project_used_gpu_hours{"))
            ]
        ),
    )
    assert rows == [
        'prorata_project_budget_gpu_hours{project="team-a"} 12.5',
        'prorata_project_used_gpu_hours{project="team-a"} 0',
        'prorata_project_used_gpu_hours{project="team-b"} 0',
    ]


def test_what_if_knows_it(server):
    set_rules(server, "projects", "team-a", {"gpuHourBudget": 0})
    wait_known(server, isUsedUp=True)
    body = {
        "name": "w",
        "projectId": server.project_id("team-a"),
        "clusterId": server.cluster_id(),
        "spec": {"image": "x", "compute": {"gpuDevicesRequest": 5}},
    }
    answer = server.post("/api/v1/scheduler/what-if", {"type": "Training", "workload": body}).json
    assert "has used up its budget of 0 GPU hours" in str(answer), answer


def test_without_one_and_who_may_look(server):
    assert budget(server) == {"gpuHours": None, "gpuHoursPerPerson": None, "people": []}
    _, stranger = make_caller(server, "stranger", ("L1 researcher", "project", server.project_id("team-b")))
    path = f"/api/v1/org-unit/projects/{server.project_id('team-a')}/budget"
    assert server.request("GET", path, token=stranger).status == 404
    assert server.request("GET", "/api/v1/org-unit/projects/999999999/budget").status == 404


@pytest.mark.parametrize(
    "rules, word",
    [
        ({"gpuHourBudget": -1}, "gpuHourBudget"),
        ({"gpuHourBudget": "much"}, "gpuHourBudget"),
        ({"gpuHourBudgetPerPerson": 1e12}, "gpuHourBudgetPerPerson"),
        ({"budgetPeriod": "year"}, "budgetPeriod"),
        ({"budgetEnforcement": True}, "budgetEnforcement"),
    ],
)
def test_nonsense_is_refused(server, rules, word):
    unit = server.get("/api/v1/org-unit/projects", filterBy="name==team-a").json["projects"][0]
    body = {"name": "team-a", "resources": unit["resources"], "schedulingRules": rules}
    answer = server.request("PUT", f"/api/v1/org-unit/projects/{unit['id']}", body)
    assert answer.status == 400 and word in answer.json["message"], answer
