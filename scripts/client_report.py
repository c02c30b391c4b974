"""A pytest plugin: writes every report (of a test, its set-up, a subtest) as a JSON line to the file that CUPOLA_REPORT names.

Where CUPOLA_ONLY names a file, only the tests that it lists are run; the name of a test file stands for all of its tests.

It is loaded by `-p client_report` and writes in the process that controls the workers, so that a worker's death is in the file too.
"""

import json
import os

import pytest

from client_results import short_id


def last_line(report):
    text = report.longreprtext.strip().splitlines()
    errors = [line[1:].strip() for line in text if line.startswith("E ")]
    return (errors or text or [""])[-1]


class Reporter:
    def __init__(self, path):
        self.file_ = open(path, "a", buffering=1, encoding="utf-8")

    def pytest_runtest_logreport(self, report):
        row = {"id": report.nodeid, "when": report.when, "outcome": report.outcome, "seconds": report.duration,
               "expected": hasattr(report, "wasxfail"), "subtest": hasattr(report, "context")}
        if report.outcome != "passed":
            errors = [line for line in report.longreprtext.splitlines() if line.startswith("E ")]
            row |= {"reason": last_line(report), "first": (errors or [""])[0][1:].strip()}
        print(json.dumps(row), file=self.file_)

    def pytest_collectreport(self, report):
        if report.outcome == "failed":
            print(json.dumps({"id": report.nodeid, "when": "collect", "outcome": "failed", "seconds": 0, "expected": False, "subtest": False,
                              "reason": last_line(report), "first": ""}), file=self.file_)


def pytest_collection_modifyitems(config, items):
    if not os.environ.get("CUPOLA_ONLY"):
        return
    with open(os.environ["CUPOLA_ONLY"], encoding="utf-8") as file:
        wanted = set(file.read().splitlines())
    kept = [item for item in items if not wanted.isdisjoint({short_id(item.nodeid), short_id(item.nodeid).split("::")[0]})]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
    items[:] = kept


@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    if not hasattr(config, "workerinput") and os.environ.get("CUPOLA_REPORT"):
        config.pluginmanager.register(Reporter(os.environ["CUPOLA_REPORT"]))
