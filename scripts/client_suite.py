"""Runs a client's pytest suite and leaves a file of reports."""

import os
import signal
import subprocess
import sys

from client_venv import ROOT


def run_pytest(name, python, arguments, environment, folder, options, title="suite", whole=False):
    """Runs pytest in FOLDER (the working folder) over workers; returns the file of reports, FOLDER's parent/TITLE.jsonl.

    A test over its time ends its worker, which is replaced; the suite over its time is killed with all that it started, and
    where the WHOLE is needed, that ends everything.
    """
    reports, log = folder.parent / f"{title}.jsonl", folder.parent / f"{title}.log"
    reports.unlink(missing_ok=True)
    command = [python, "-m", "pytest", "-p", "client_report", "-q", "-n", str(options.workers), "--timeout", str(options.timeout),
               "--timeout-method", "thread", "--tb", "short", *arguments]
    if options.select:
        command += ["-k", options.select]
    paths = [str(ROOT / "scripts"), *filter(None, [environment.get("PYTHONPATH")])]
    environment = {**environment, "CUPOLA_REPORT": str(reports), "PYTHONPATH": os.pathsep.join(paths)}
    with log.open("w") as file:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=file, stderr=file, start_new_session=True)
        try:
            process.wait(options.limit)
        except subprocess.TimeoutExpired:
            print(f"{name}: stopped after {options.limit} s", file=sys.stderr)
            os.killpg(process.pid, signal.SIGKILL)
            if whole:
                sys.exit(f"{name}: the run that others are compared with did not end: give --limit more seconds")
    if not reports.exists():
        sys.exit(f"{name}: the suite did not start; see {os.path.relpath(log)}")
    return reports
