"""The rules of the house that a program can check: who includes whom, what a room says of itself, sizes, the
contract."""

import collections
import pathlib
import re
import subprocess

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]

# docs/architecture.md, "Rooms": downward only.
MAY_INCLUDE = {
    "base": set(),
    "model": {"base"},
    "db": {"model", "base"},
    "scheduler": {"model", "base"},
    "form": {"scheduler", "model", "base"},
    "simulation": {"form", "scheduler", "model", "base"},
    "replay": {"form", "scheduler", "model", "base"},
    "supervisor": set(),
    "backends": {"supervisor", "model", "base"},
    "journal": {"form", "scheduler", "model", "base"},
    "reconciler": {"journal", "scheduler", "form", "backends", "db", "model", "base"},
    "apps": {"base"},
    "api": {"apps", "db", "reconciler", "form", "model", "base"},
    "cli": {"base"},
    "daemon": {"apps", "api", "reconciler", "journal", "backends", "scheduler", "db", "model", "base"},
}
# Rooms in rooms, the lowest floor first; "." is the room's own folder. Rooms of one floor may include each other.
FLOORS = {
    "scheduler": [{"."}, {"state"}, {"order"}, {"placing"}, {"victims", "victims/fast"}, {"actions"}, {"ask"}],
    "backends": [
        {"."},
        {"simulated", "local/users", "local/cgroups", "local/images", "local/serving"},
        {"local/devices"},
        {"local", "local/specification", "local/pods"},
        {"kubernetes/config", "kubernetes/objects"},
        {"kubernetes/client"},
        {"kubernetes/watch", "kubernetes/manifests"},
        {"kubernetes/streams", "kubernetes/metrics"},
        {"kubernetes"},
    ],
    "cli": [{"."}, {"pod", "help", "organisation"}, {"submit"}, {"commands"}],
    "reconciler": [{"."}, {"world", "serving"}, {"turn", "check"}, {"outcome"}],
    "api": [
        {"."},
        {"http"},
        {"access"},
        {"audit"},
        {"lists"},
        {"policies"},
        {"people", "notifications"},
        {"organisation"},
        {"catalog"},
        {"workloads"},
        {"scheduling"},
    ],
}
# Files of a room's own folder that stand above some of the floors: who may include them.
FACES = {
    "scheduler/scheduler": {"ask"},
    "cli/cli": set(),
    **{f"api/{unit}": set() for unit in ("api_server", "dispatch", "probes", "assets", "documents")},
    **{
        f"reconciler/{unit}": set()
        for unit in (
            "reconciler_run",
            "loop",
            "state",
            "questions",
            "present",
            "draft",
            "quota_trial",
            "view",
            "cycles",
            "adoption",
            "clearing",
            "devices",
            "metrics",
            "allocation_metrics",
            "logs",
            "clock",
        )
    },
}
# Units that include each other: none but this one, which is meant so: a generator of scenarios calls back the search
# that called it.
HARMLESS_CIRCLES = {"scheduler": [{"victims/scenarios", "victims/search"}]}
# Libraries that only some rooms may know.
ONLY_IN = {
    "jansson.h": {
        "base",
        "model",
        "db",
        "form",
        "simulation",
        "replay",
        "api",
        "cli",
        "daemon",
        "backends",
        "reconciler",
        "journal",
    },
    "sqlite3.h": {"db", "api"},
    "civetweb.h": {"api"},
    "jwt.h": {"api"},
    "curl/curl.h": {"cli", "backends", "api", "reconciler"},
    "yaml.h": {"base", "daemon", "cli", "backends"},
}
C_FILES_OF_A_FOLDER_MAX = 40
LINES_MAX = 500
README_LINES_MAX = 40


def tracked(*patterns):
    names = subprocess.run(
        ["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    return [ROOT / name for name in names.split("\0") if name and (ROOT / name).is_file()]


def lines(path):
    return path.read_text().splitlines()


C_FILES = tracked("*.c", "*.h")


@pytest.mark.parametrize("room", MAY_INCLUDE)
def test_includes_point_downward(room):
    wrong = []
    for path in C_FILES:
        if path.relative_to(ROOT).parts[0] != room:
            continue
        for number, line in enumerate(lines(path), 1):
            own = re.match(r'#include "(\w+)/', line)
            library = re.match(r"#include <([\w/.]+)>", line)
            if own and own[1] != room and own[1] not in MAY_INCLUDE[room]:
                wrong.append(f"{path.relative_to(ROOT)}:{number}: {line}")
            if library and room not in ONLY_IN.get(library[1], {room}):
                wrong.append(f"{path.relative_to(ROOT)}:{number}: {line}")
    assert not wrong, "\n".join(wrong)


def inner_includes(room):
    """(including file, its folder, included folder, included unit) inside the room; folders as FLOORS names them."""
    for path in C_FILES:
        inside = path.relative_to(ROOT)
        if inside.parts[0] != room:
            continue
        folder = "/".join(inside.parts[1:-1]) or "."
        for found in re.finditer(rf'^#include "{room}/((?:\w+/)*)(\w+)\.(?:h|def)"', path.read_text(), re.M):
            yield inside, folder, found[1].rstrip("/") or ".", found[2]


@pytest.mark.parametrize("room", FLOORS)
def test_rooms_in_rooms_stand_on_each_other(room):
    floor = {folder: number for number, folders in enumerate(FLOORS[room]) for folder in folders}
    wrong = []
    for path, folder, included, unit in inner_includes(room):
        if f"{room}/{unit}" in FACES and included == ".":
            allowed = folder == "." or folder in FACES[f"{room}/{unit}"]
        else:
            allowed = floor[included] <= floor[folder] or f"{room}/{path.stem}" in FACES
        if not allowed:
            wrong.append(f"{path} includes {included}/{unit}")
    assert not wrong, "\n".join(wrong)


def circles(includes):
    """Sets of units that include each other, however far round. includes: {unit: units}."""
    reach = {unit: set(others) for unit, others in includes.items()}
    changed = True
    while changed:
        changed = False
        for _unit, others in reach.items():
            more = set().union(*(reach.get(other, set()) for other in others)) - others
            others |= more
            changed = changed or bool(more)
    return {
        frozenset(other for other in reach[unit] if unit in reach.get(other, ()))
        for unit in reach
        if unit in reach[unit]
    }


@pytest.mark.parametrize("room", MAY_INCLUDE)
def test_units_include_each_other_in_no_circle(room):
    includes = {}
    for path, folder, included, unit in inner_includes(room):
        one, other = (f"{where}/{name}".removeprefix("./") for where, name in ((folder, path.stem), (included, unit)))
        includes.setdefault(one, set()).update({other} - {one})
    found = circles(includes)
    assert all(any(units <= known for known in HARMLESS_CIRCLES.get(room, [])) for units in found), found


INNER_ROOMS = [
    f"{room}/{folder}"
    for room, floors in FLOORS.items()
    for folders in floors
    for folder in sorted(folders)
    if folder != "."
]


@pytest.mark.parametrize("room", [*INNER_ROOMS, *MAY_INCLUDE, "openapi", "web"])
def test_room_lists_its_files(room):
    readme = ROOT / room / "README.md"
    assert readme.is_file(), f"{room} has no README.md"
    assert len(lines(readme)) <= README_LINES_MAX, f"{room}/README.md has more than {README_LINES_MAX} lines"
    text = readme.read_text()
    files = tracked(f"{room}/*.c", f"{room}/*.h", f"{room}/*.yaml", f"{room}/*.def")
    if room in FLOORS or "/" in room:
        files = [f for f in files if f.parent == ROOT / room]
    if room == "web":
        files = [f for f in tracked("web/*.ts", "web/*.tsx") if "config" not in f.name and f.parent.name != "pages"]
    missing = sorted({f.name for f in files if not re.search(r"\b%s\b" % re.escape(f.stem), text)})
    assert not missing, f"{room}/README.md does not name {', '.join(missing)}"


def test_files_are_small():
    files = C_FILES + tracked("*.ts", "*.tsx", "*.js", "*.mjs", "*.py", "*.sh", "*.css")
    long = [f"{p.relative_to(ROOT)}: {len(lines(p))}" for p in files if len(lines(p)) > LINES_MAX]
    assert not long, f"more than {LINES_MAX} lines: {', '.join(long)}"


def test_folders_are_small():
    count = collections.Counter(path.parent.relative_to(ROOT) for path in C_FILES if path.suffix == ".c")
    assert not {str(folder): files for folder, files in count.items() if files > C_FILES_OF_A_FOLDER_MAX}


def test_nothing_is_left_for_later_in_words():
    wrong = []
    for path in tracked(
        "*.c",
        "*.h",
        "*.ts",
        "*.tsx",
        "*.js",
        "*.mjs",
        "*.py",
        "*.sh",
        "*.md",
        "*.yaml",
        "*.sql",
        "*.cmake",
        "*.css",
        "*.html",
    ):
        if path == pathlib.Path(__file__).resolve():
            continue
        for number, line in enumerate(lines(path), 1):
            if re.search(r"\b(TODO|FIXME|XXX)\b|/work/|not implemented", line):
                wrong.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}")
    assert not wrong, "\n".join(wrong)


# docs/style.md, "Plain English". What is frozen or quotes others stays as it is.
FOREIGN = re.compile(r"\b(anew|hangs? on|by way of|(is|are) wanted|here twice)\b", re.IGNORECASE)
FROZEN = ("tests/", "db/migrations/", "CHANGELOG.md", "docs/findings.md")


def test_english_is_plain():
    wrong = []
    for path in tracked("*.c", "*.h", "*.def", "*.ts", "*.tsx", "*.js", "*.mjs", "*.md", "*.yaml", "*.css", "*.html"):
        name = str(path.relative_to(ROOT))
        if not name.startswith(FROZEN):
            wrong += [
                f"{name}:{number}: {line.strip()[:100]}"
                for number, line in enumerate(lines(path), 1)
                if FOREIGN.search(line)
            ]
    assert not wrong, "\n".join(wrong)


TEXTS = tracked(
    "*.c", "*.h", "*.def", "*.py", "*.js", "*.mjs", "*.ts", "*.tsx", "*.sh", "*.md", "*.yaml", "*.sql", "*.cmake"
)
NUMBERS = r"\d+(?:\.\d+)?(?:(?:, | and | to )\d+(?:\.\d+)?)*"


def test_citations_name_what_is_there():
    """`scheduler.md, 6.4 and 6.9` and `snapshot.md, "Why"` name a rule or a heading of that page."""
    wrong = []
    for path in TEXTS:
        if path.name == "CHANGELOG.md" or path == pathlib.Path(__file__).resolve() or path.name == "0001_initial.sql":
            continue
        # A citation may be broken over two lines of a comment.
        text = re.sub(r"\n\s*(//|#|--)?\s*", " ", path.read_text())
        for page, numbers, title in re.findall(rf'\b([a-z]+)\.md\)?,? (?:({NUMBERS})(?!\d)|"([^"]+)")', text):
            cited = ROOT / "docs" / f"{page}.md"
            headings = cited.read_text() if cited.is_file() else ""
            rules = set(re.findall(r"^(?:#+ |- )?\**(\d+(?:\.\d+)?)\.?[ *]", headings, re.M))
            names = set(re.findall(r"^#+ (.*)$", headings, re.M))
            wrong += [
                f"{path.relative_to(ROOT)}: {page}.md, {n}"
                for n in re.findall(r"\d+(?:\.\d+)?", numbers)
                if n not in rules
            ]
            if title and title not in names:
                wrong.append(f'{path.relative_to(ROOT)}: {page}.md, "{title}"')
        if "api-notes" in text:
            wrong.append(f"{path.relative_to(ROOT)}: api-notes is not in this tree")
    assert not wrong, "\n".join(wrong)


PARTS = {"0": "", "2": "half", "4": "a quarter", "8": "an eighth"}


def test_the_table_of_places_is_that_of_the_code():
    rows = re.findall(
        r'^PLACE\(\w+, "(.+?)", (\d+), "(.+?)", (\d+), (\d+), (\d+), (\d+), "(.+?)"\)$',
        (ROOT / "base/places.def").read_text(),
        re.M,
    )
    assert len(rows) == (ROOT / "base/places.def").read_text().count("\nPLACE(")
    text = (ROOT / "docs/operating.md").read_text()
    for name, bound, holder, holders, workloads, administrators, seconds, what in rows:
        row = re.search(rf"^\| `{name}` \|(.*)\|$", text, re.M)
        assert row, f"docs/operating.md has no row {name}"
        cells = [cell.strip() for cell in row[1].split("|")]
        share = f"{PARTS[holders]} per {holder}"
        in_all = f"{int(bound):,}" if bound != "0" else cells[1]  # that its holder says at its start
        assert cells[:5] == [what, in_all, share, PARTS[workloads], PARTS[administrators]], name
        assert cells[5].split(" ")[0] == (f"{int(seconds):,}" if seconds != "0" else ""), name


def test_rules_of_the_scheduler_are_short():
    text = re.sub(r"```.*?```", "", (ROOT / "docs/scheduler.md").read_text(), flags=re.S)
    paragraphs = [" ".join(p.split()) for p in re.split(r"\n\n|\n(?=[-|#])", text) if not p.startswith("|")]
    long = [f"{len(p)} characters: {p[:60]}" for p in paragraphs if len(p) > 400]
    assert not long, "\n".join(long)


def test_no_case_is_known_to_the_code():
    cases = [
        path.stem
        for folder in ("tests/conformance/cases", "tests/scheduler/cases", "tests/scheduler/rest")
        for path in (ROOT / folder).glob("*.json")
    ]
    assert len(cases) >= 137
    code = {
        path.relative_to(ROOT): path.read_text() for path in C_FILES if path.relative_to(ROOT).parts[0] in MAY_INCLUDE
    }
    named = [f"{path}: {case}" for path, text in code.items() for case in cases if case in text]
    assert not named, "\n".join(named)


# What reads a text is called by tests and fuzz targets with texts of their own; the journal's tests wait for its
# thread.
CALLED_BY_TESTS_ALONE = {
    "snapshot_read",
    "policy_read_text",
    "trace_read_text",
    "journal_flush",
}


def test_no_function_is_dead():
    """A public function is used in the product: -Wunused sees static ones alone."""
    used, defined = collections.Counter(), {}
    for path in C_FILES + tracked("*.def"):
        if path.relative_to(ROOT).parts[0] in ("tests", "bench"):
            continue
        text = re.sub(r'//[^\n]*|"(?:\\.|[^"\\\n])*"', "", path.read_text())
        used.update(re.findall(r"\b[a-z_]\w*\b", text))
        if path.suffix == ".c":
            names = re.findall(r"^(?!static|typedef)[a-z][\w *]*?\b(\w+)\([^;{]*\)\s*\n\{", text, re.M)
            defined.update({name: path.relative_to(ROOT) for name in names})
    # Once where it is declared, once where it is defined. Handlers stand in a table that the build makes.
    dead = {
        name: str(path)
        for name, path in defined.items()
        if used[name] <= 2 and name != "main" and not name.startswith("op_")
    }
    assert set(dead) <= CALLED_BY_TESTS_ALONE, dead


# The contract.

DOCUMENT = yaml.load((ROOT / "openapi/openapi.yaml").read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
METHODS = ("get", "post", "put", "patch", "delete")
OPERATIONS = {
    item[m]["operationId"]: (m, path, item[m]) for path, item in DOCUMENT["paths"].items() for m in METHODS if m in item
}


def resolve(node):
    while "$ref" in node:
        target = DOCUMENT
        for part in node["$ref"][2:].split("/"):
            target = target[part]
        node = target
    return node


def test_every_operation_has_one_handler():
    found = [
        name
        for path in C_FILES
        if path.relative_to(ROOT).parts[0] == "api"
        for name in re.findall(r"^int op_(\w+)\(struct request \*req[^;]*$", path.read_text(), re.M)
    ]
    wanted = set(OPERATIONS)
    assert not wanted - set(found), f"no handler: {', '.join(sorted(wanted - set(found)))}"
    assert not set(found) - wanted, f"no operation: {', '.join(sorted(set(found) - wanted))}"
    assert len(found) == len(set(found))


@pytest.mark.parametrize("name", OPERATIONS)
def test_operation_lists_the_transports_answers(name):
    method, path, node = OPERATIONS[name]
    wanted = {"400", "405", "413", "431", "500", "503"}
    if node["x-permission"] != "none":
        wanted |= {"401", "403"}
    if "{" in path:
        wanted.add("404")
    if "requestBody" in node:
        wanted.add("408")
    assert not wanted - set(node["responses"]), wanted - set(node["responses"])
    assert any(status[0] in "23" for status in node["responses"])


@pytest.mark.parametrize("name", OPERATIONS)
def test_operation_says_who_may_call_it(name):
    permission = OPERATIONS[name][2]["x-permission"]
    if permission in ("none", "self"):
        return
    assert permission["resource"] in DOCUMENT["components"]["schemas"]["ResourceType"]["enum"]
    assert permission["action"] in ("create", "read", "update", "delete")


@pytest.mark.parametrize("name", OPERATIONS)
def test_path_parameters_are_described(name):
    _, path, node = OPERATIONS[name]
    described = {p["name"] for p in map(resolve, node.get("parameters", [])) if p["in"] == "path"}
    assert described == set(re.findall(r"{(\w+)}", path))


def test_answers_are_defined():
    for name, (_, _, node) in OPERATIONS.items():
        for status, answer in node["responses"].items():
            assert resolve(answer).get("description"), f"{name} {status}"
