"""When a test that failed may be tried once more, and what is said of it.

A test that fails alone among thousands is tried again after all stages, alone. What passes then is told as passed on
the second try, never as passed alone. Some failures are never chance: what a sanitizer says, a program that a signal
ended, lost or doubled data, rules and contracts. Those words are looked for in the first output, so that a second try
can't wash them off."""

import re
import xml.etree.ElementTree

from stages import ROOT

MOST = 3  # more failing tests in a run are a change, not chance
# Stages with other runners (units in C, conformance, types, forms) have no second try either.
NEVER = re.compile(
    r"tests/(?:house|scheduler|db|whole/faults|whole/threads)/|e2e/test_faults|contract|rights|test_roles"
)
GRAVE = re.compile(
    r"(?:Address|Thread|Leak|UndefinedBehavior)Sanitizer|runtime error:"
    r"|(?:server ended with|returncode=) ?(?:-(?!9\b|15\b)\d+|9[89]\b)|Segmentation fault|core dumped"
    r"|Fatal Python error|Assertion `|database disk image is malformed"
    r"|AssertionError: (?:sums of workloads|words of|node pools that a list shows)"
)


class Failure:
    """test: what its runner calls it; target: what the runner is given to run it alone; text: all that it said; cause:
    what failed, the same for all tests of a file whose beginning did."""

    def __init__(self, stage, test, target, text, cause=None):
        self.stage, self.test, self.target, self.text, self.cause = stage, test, target, text, cause or test

    @property
    def sentence(self):
        """What was asserted, in a line."""
        lines = [line.strip() for line in self.text.splitlines() if line.strip()]
        told = [line[1:].strip() for line in lines if line.startswith("E ")]
        return (told or lines or ["no word"])[0]


def failures_of(stage):
    """Which tests of a stage failed; none where its runner does not tell."""
    if stage.runner == "pytest" and stage.junit.exists():
        return list(in_junit(stage, stage.junit.read_text(errors="replace")))
    if stage.runner == "node":
        return list(in_tap(stage, stage.log.read_text(errors="replace")))
    return []


def in_junit(stage, text):
    try:
        cases = xml.etree.ElementTree.fromstring(text).iter("testcase")
    except xml.etree.ElementTree.ParseError:
        return
    for case in cases:
        said = [f"{word.get('message', '')}\n{word.text or ''}" for word in case if word.tag in ("failure", "error")]
        if said and case.get("file"):
            test = f"{case.get('file')}::{case.get('name')}"
            yield Failure(stage, test, test, "\n".join(said))


TAP_FAILURE = re.compile(r"^ *not ok \d+ - (?P<name>.*)\n(?P<text>(?: +.*\n)*)", re.M)
TAP_ERROR = re.compile(r"^ +error: (?:\|-\n)?(?P<said>(?:.*\n)+?)(?= +(?:code|name|stack):|\Z)", re.M)
TAP_PLACE = re.compile(r"location: '" + re.escape(str(ROOT)) + "/(?P<file>[^:']+)")


def in_tap(stage, text):
    for found in TAP_FAILURE.finditer(text):
        place = TAP_PLACE.search(found["text"])
        if place:
            error = TAP_ERROR.search(found["text"])
            yield Failure(
                stage,
                f"{place['file']}: {found['name']}",
                place["file"],
                error["said"].strip().strip("'") if error else "",
                cause=place["file"] if "failureType: 'hookFailed'" in found["text"] else None,
            )


def may_be_tried(failed):
    """Whether all failing tests of a run may be tried again; failed: its stages that did not pass."""
    failures = [failure for stage in failed for failure in stage.failures]
    return 0 < len({failure.cause for failure in failures}) <= MOST and all(
        stage.failures
        and not any(NEVER.search(failure.test) for failure in stage.failures)
        and not GRAVE.search(stage.log.read_text(errors="replace"))
        for stage in failed
    )
