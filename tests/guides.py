"""Runs the user guides: blocks of docs/*.md marked `cuda file=NAME` or `python file=NAME`, `sh` and `output` are written, run and compared.

usage: guides.py BUILD_DIR GUIDE.md [FOLDER...]. The folders are on the PATH too, before all others. An `output` block is the exact standard output of the `sh` block before it, but for
trailing spaces.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile


def blocks(text):
    for match in re.finditer(r"^```(\w+)([^\n]*)\n(.*?)^```$", text, re.M | re.S):
        yield match.group(1), match.group(2).strip(), match.group(3)


def stripped(text):
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def main():
    build, guide = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    environment = dict(os.environ, PATH=":".join([*sys.argv[3:], f"{build}/bin", os.environ["PATH"]]))
    ran, output = 0, ""
    with tempfile.TemporaryDirectory() as folder:
        for kind, info, body in blocks(guide.read_text()):
            if kind in ("cuda", "python"):
                pathlib.Path(folder, re.fullmatch(r"file=(\S+)", info).group(1)).write_text(body)
            elif kind == "sh":
                done = subprocess.run(["bash", "-e", "-c", body], cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
                if done.returncode != 0:
                    sys.exit(f"{guide.name}: status {done.returncode} from\n{body}{done.stdout}{done.stderr}")
                output = done.stdout
                ran += 1
            elif kind == "output" and stripped(body) != stripped(output):
                sys.exit(f"{guide.name}: expected\n{stripped(body)}\nbut the commands printed\n{stripped(output)}")
    print(f"{guide.name}: {ran} blocks ran")
    return 0 if ran else 1


if __name__ == "__main__":
    sys.exit(main())
