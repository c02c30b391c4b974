"""Asserts the arrows between folders: who may include whom, and that only the compiling half sees LLVM."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SRC = ROOT / "src"

# folder: the folders it may include from, besides itself and those that these may include. "llvm" stands for LLVM and clang.
ALLOWED = {
    "base": [],
    "hal": ["base"],
    "hal/null": ["hal"],
    "hal/cts": ["hal"],
    "image": ["base"],
    "ptx/syntax": ["base"],
    "memory": ["hal"],
    "sched": ["base"],
    "backend/cpu/run": ["hal", "image"],
    "backend/metal/host": ["hal", "image"],
    "backend/nvidia": ["hal"],
    "runtime": ["memory", "sched", "image", "ptx/syntax"],
    "cuda/driver": ["runtime"],
    "cuda/cudart": ["base", "image"],
    "daemon": ["runtime", "sched"],
    "kir": ["base", "image", "llvm"],
    "ptx/lower": ["kir", "ptx/syntax"],
    "backend/cpu/build": ["kir", "image"],
    "backend/metal/build": ["kir", "image"],
    "compile": ["backend/cpu/build", "backend/metal/build", "kir", "ptx/lower", "image"],
    "cuda/nvrtc": ["compile"],
    "cuda/nvvm": ["compile"],
    "cuda/nvjitlink": ["compile"],
    "device": [],
    "array": ["runtime"],
}
# Single files that may include more: the one place that names back-ends, and tests that register with the suite.
EXCEPTIONS = {
    "runtime/backends.cpp": ["backend/cpu/run", "backend/metal/host", "backend/nvidia", "hal/null"],
}
TEST_EXTRA = ["hal/cts", "hal/null", "backend/cpu/run", "compile"]


def closure(folder):
    seen, todo = set(), [folder]
    while todo:
        current = todo.pop()
        if current in seen:
            continue
        seen.add(current)
        todo += ALLOWED.get(current, [])
    return seen


def folder_of(relative):
    parts = pathlib.PurePosixPath(relative).parts[:-1]
    for length in range(len(parts), 0, -1):
        name = "/".join(parts[:length])
        if name in ALLOWED:
            return name
    return None


def problems_of(path):
    relative = path.relative_to(SRC).as_posix()
    folder = folder_of(relative)
    if folder is None:
        yield f"{relative}: its folder is not in the architecture"
        return
    allowed = closure(folder) | set(EXCEPTIONS.get(relative, []))
    if relative.endswith("_test.cpp"):
        for extra in TEST_EXTRA:
            allowed |= closure(extra) - {"llvm"}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
        if not match:
            continue
        target = match.group(1)
        if target.startswith(("llvm/", "clang/", "llvm-c/")):
            if "llvm" not in allowed:
                yield f"{relative}:{number}: includes LLVM in the half that runs"
        elif (SRC / target).is_file():
            if folder_of(target) not in allowed:
                yield f"{relative}:{number}: {folder} must not include {target}"
        elif target in ("cuda.h", "cuda_runtime.h", "cuda_runtime_api.h", "driver_types.h") and not folder.startswith(("cuda", "device", "backend/nvidia")):
            yield f"{relative}:{number}: CUDA's types stay in src/cuda"


def main():
    problems = [p for path in sorted(SRC.rglob("*")) if path.suffix in (".h", ".cpp", ".def") for p in problems_of(path)]
    for problem in problems:
        print(problem)
    if "--self-test" in sys.argv:  # the test must be able to fail
        if "kir" in closure("runtime") or "llvm" in closure("backend/cpu/run"):
            sys.exit("arrows: the table itself lets the compiling half into the running half")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
