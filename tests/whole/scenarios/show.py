"""python3 tests/whole/scenarios/show.py NAME [BACKEND]: plays one scenario and prints what was decided in each step."""

import pathlib
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parents[2])]
from play import Play, machine  # noqa: E402
from scenario import CASES, Scenario  # noqa: E402


def main(name, *backends):
    root = pathlib.Path(tempfile.mkdtemp(prefix="prorata-scenario-"))
    (root / "machine").mkdir()
    node = machine(root / "machine")
    scenario = Scenario(CASES / f"{name}.yaml")
    print(scenario.teaches)
    for backend in backends or scenario.backends:
        (root / backend).mkdir()
        play = Play(scenario, backend, root / backend, node).run()
        print(f"{backend} ({root / backend})")
        for (_, value, place), decided in zip(
            (s for s in scenario.steps if s[0] == "expect"), play.decided, strict=True
        ):
            print(f"  {place.path}: {value}")
            for line in decided:
                print(f"    {line}")


if __name__ == "__main__":
    main(*sys.argv[1:])
