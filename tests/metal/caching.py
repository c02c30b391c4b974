"""That translations are kept on disk, for MSL and AIR: a second process finds what the first one's compiler made, and cupola cache lists it.

    caching.py BUILD
"""

import os
import pathlib
import subprocess
import sys
import tempfile

TARGETS = {"msl": "metal:msl32", "air": "metal:metallib32"}


def run(command, code, folder):
    environment = os.environ | {"CUPOLA_DEVICE": "metal", "CUPOLA_METAL": code, "CUPOLA_CACHE_DIR": folder, "CUPOLA_CACHE": "1", "CUPOLA_LOG": "cache,compile"}
    environment.pop("CUPOLA_KEEP", None)
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=True)


def check(build, code, folder):
    program, cupola = build / "bin" / "examples" / "vector_add", build / "bin" / "cupola"
    first, second = (run([program], code, folder) for _ in range(2))
    problems = []
    if "not there" not in first.stderr or "became an image" not in first.stderr:
        problems.append(f"the first process did not translate: {first.stderr}")
    if " found" not in second.stderr or "not there" in second.stderr or "became an image" in second.stderr:
        problems.append(f"the second process did not find it: {second.stderr}")
    if first.stdout != second.stdout or "right" not in first.stdout:
        problems.append(f"results: {first.stdout}{second.stdout}")
    listed = run([cupola, "cache", "list"], code, folder).stdout
    if f"{TARGETS[code]}: _Z3addPKfS0_Pfi\n" not in listed:
        problems.append(f"cupola cache list: {listed}")
    return problems


def main():
    build = pathlib.Path(sys.argv[1])
    failed = False
    for code in TARGETS:
        with tempfile.TemporaryDirectory() as folder:
            for problem in check(build, code, folder):
                failed = True
                print(f"{code}: {problem}")
    print("translations are kept" if not failed else "translations are not kept")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
