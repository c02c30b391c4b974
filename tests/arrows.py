"""Asserts the arrows between folders: who may include and link whom, that only the compiling half sees LLVM, and that CUDA's
types stay where they belong. Includes are read from src, links from the cupola_folder and target_link_libraries rows. Why the
arrows are as they are: docs/adr/0017-folders-as-they-are.md.

--self-test also makes a tree with one violation of each kind and expects every one of them to be found.
"""

import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

# folder: the folders it may include from, besides itself and those that these may include. "llvm" stands for LLVM and clang.
ALLOWED = {
    "base": [],
    "hal": ["base"],
    "hal/null": ["hal"],
    "hal/cts": ["hal"],
    "image": ["base"],
    "array": ["image"],
    "ptx/syntax": ["base"],
    "memory": ["hal"],
    "sched": ["base"],
    "backend/cpu/run": ["hal", "image"],
    "backend/metal/metallib": ["base"],
    "backend/metal/host": ["hal", "image", "backend/metal/metallib"],
    "backend/nvidia": ["hal"],
    "runtime": ["memory", "sched", "image", "ptx/syntax"],
    "cuda": ["base"],
    "cuda/driver": ["runtime", "cuda"],
    "cuda/cudart": ["base", "image", "cuda"],
    "daemon": ["runtime", "sched"],
    "kir": ["base", "image", "llvm"],
    "ptx/lower": ["kir", "ptx/syntax"],
    "backend/cpu/build": ["kir", "image"],
    "backend/metal/air": ["base", "llvm"],
    "backend/metal/build/raise": ["kir", "image"],
    "backend/metal/build/msl": ["backend/metal/build/raise"],
    "backend/metal/build/air": ["backend/metal/build/raise", "backend/metal/air"],
    "compile": ["backend/cpu/build", "backend/metal/build/air", "backend/metal/build/msl", "backend/metal/metallib", "kir", "ptx/lower", "array", "image"],
    "frontend": ["kir", "image"],
    "cuda/nvrtc": ["image", "cuda"],
    "cuda/nvvm": ["image", "cuda"],
    "cuda/nvjitlink": ["image", "cuda"],
    "cuda/nvml": ["base", "cuda"],
    "cuda/pipeline": ["array", "cuda"],
    "device": ["image"],
}
# Single files that may include more (their folder may link more): the one place that names back-ends.
EXCEPTIONS = {
    "runtime/backends.cpp": ["backend/cpu/run", "backend/metal/host", "backend/nvidia", "hal/null"],
}
# What a folder's tests may include and link besides, except LLVM: these folders and those that these may include.
TEST_EXTRA = {
    "hal/null": ["hal/cts"],
    "backend/cpu/run": ["hal/cts"],
    "backend/metal/host": ["hal/cts"],
    "runtime": ["hal/null"],
    "backend/cpu/build": ["backend/cpu/run"],
    "backend/metal/build/raise": ["backend/cpu/build", "backend/cpu/run"],
    "compile": ["backend/cpu/run"],
}

SOURCES = (".h", ".cpp", ".def", ".cu")
CUDA_FOLDERS = ("cuda", "device", "backend/nvidia")  # where CU* types may be


def closure(folder):
    seen, todo = set(), [folder]
    while todo:
        current = todo.pop()
        if current in seen:
            continue
        seen.add(current)
        todo += ALLOWED.get(current, [])
    return seen


def allowed_in(folder, test):
    """Folders that sources of `folder` may include; those of tests if `test`."""
    allowed = closure(folder)
    if test:
        for extra in TEST_EXTRA.get(folder, []):
            allowed |= closure(extra) - {"llvm"}
    return allowed


def folder_of(relative):
    parts = pathlib.PurePosixPath(relative).parts[:-1]
    for length in range(len(parts), 0, -1):
        name = "/".join(parts[:length])
        if name in ALLOWED:
            return name
    return None


def resolved(src, path, target):
    """The file of src that `#include target` in `path` means, relative to src; None for one from elsewhere."""
    for place in (src / target, path.parent / target):
        if place.is_file() and place.resolve().is_relative_to(src.resolve()):
            return place.resolve().relative_to(src.resolve()).as_posix()
    return None


def include_problems(root, path):
    src = root / "src"
    relative = path.relative_to(src).as_posix()
    folder = folder_of(relative)
    if folder is None:
        yield f"{relative}: its folder is not in the architecture"
        return
    allowed = allowed_in(folder, relative.endswith(("_test.cpp", "_fixture.h"))) | set(EXCEPTIONS.get(relative, []))
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
        if not match:
            continue
        target = match.group(1)
        file = resolved(src, path, target)
        if target.startswith(("llvm/", "clang/", "llvm-c/", "clang-c/")):
            if "llvm" not in allowed:
                yield f"{relative}:{number}: includes LLVM in the half that runs"
        elif file:
            if folder_of(file) not in allowed:
                yield f"{relative}:{number}: {folder} must not include {file}"
        elif (root / "include/cuda" / target).is_file() and not folder.startswith(CUDA_FOLDERS):
            yield f"{relative}:{number}: CUDA's types stay in src/cuda"


def link_rows(root):
    """(where, folder, folders it links, whether a test) of each row that makes or links a folder's target."""
    dashed = {folder.replace("/", "-"): folder for folder in ALLOWED} | {"LLVM": "llvm"}
    for file in (root / "CMakeLists.txt", *sorted((root / "src").rglob("CMakeLists.txt"))):
        text = re.sub(r"#.*", "", file.read_text())
        where = file.relative_to(root).as_posix()
        for folder, arguments in re.findall(r"cupola_folder\(src/([\w/]+)([^)]*)\)", text):
            words, kind, links = arguments.split(), "", {"DEPS": [], "TEST_DEPS": []}
            for word in words:
                if word in ("DEPS", "LIBS", "TEST_DEPS", "TEST_DEVICES", "TEST_ONLY"):
                    kind = word
                elif kind in links:
                    links[kind].append(dashed.get(word, word))
            yield where, folder, links["DEPS"], False
            yield where, folder, links["TEST_DEPS"], True
        for target, arguments in re.findall(r"target_link_libraries\(cupola-([\w-]+)([^)]*)\)", text):
            folder = folder_of(file.relative_to(root / "src").as_posix()) if file.parent != root else dashed.get(target)
            names = re.findall(r"\bcupola-([\w-]+)", arguments)
            yield where, folder, [dashed[name] for name in names if name in dashed], target.endswith("-test")


def link_problems(root):
    for where, folder, links, test in link_rows(root):
        if folder not in ALLOWED:
            yield f"{where}: {folder}: its folder is not in the architecture"
            continue
        extra = {name for file, names in EXCEPTIONS.items() if folder_of(file) == folder for name in names}
        for link in links:
            if link not in allowed_in(folder, test) | extra:
                yield f"{where}: {folder} must not link {link}"


def problems_of(root):
    found = [p for path in sorted((root / "src").rglob("*")) if path.suffix in SOURCES for p in include_problems(root, path)]
    return found + list(link_problems(root))


# One violation of each kind: file, its text, the problem that must be found. Files without a problem must give none.
VIOLATIONS = [
    ("include/cuda/vector_types.h", "", None),
    ("src/base/result.h", "", None),
    ("src/kir/kir.h", "#include <llvm/IR/Module.h>\n", None),
    ("src/cuda/driver/types.cpp", "#include <vector_types.h>\n", None),
    ("src/runtime/backends.cpp", '#include "backend/cpu/run/cpu.h"\n', None),
    ("src/backend/cpu/run/cpu.h", "#include <vector>\n", None),
    ("src/backend/cpu/run/cpu_test.cpp", '#include "hal/cts/suite.h"\n', None),
    ("src/hal/cts/suite.h", "", None),
    ("src/compile/compile.h", "", None),
    ("src/compile/compile_test.cpp", '#include "compile/compile.h"\n#include "backend/cpu/run/cpu.h"\n#include "kir/kir.h"\n', None),
    ("src/nowhere/a.cpp", "", "nowhere/a.cpp: its folder is not in the architecture"),
    ("src/memory/heap.cpp", "// heap\n #  include <llvm/IR/Module.h>\n", "memory/heap.cpp:2: includes LLVM in the half that runs"),
    ("src/runtime/llvm_test.cpp", "#include <llvm/IR/Module.h>\n", "runtime/llvm_test.cpp:1: includes LLVM in the half that runs"),
    ("src/runtime/kir_test.cpp", '#include "kir/kir.h"\n', "runtime/kir_test.cpp:1: runtime must not include kir/kir.h"),
    ("src/kir/kir_test.cpp", '#include "compile/compile.h"\n', "kir/kir_test.cpp:1: kir must not include compile/compile.h"),
    ("src/kir/run_fixture.h", '#include "backend/cpu/run/cpu.h"\n', "kir/run_fixture.h:1: kir must not include backend/cpu/run/cpu.h"),
    ("src/memory/cts_test.cpp", '#include "hal/cts/suite.h"\n', "memory/cts_test.cpp:1: memory must not include hal/cts/suite.h"),
    ("src/runtime/stream.cpp", '#include "kir/kir.h"\n', "runtime/stream.cpp:1: runtime must not include kir/kir.h"),
    ("src/base/up.h", '#include "../kir/kir.h"\n', "base/up.h:1: base must not include kir/kir.h"),
    ("src/runtime/module.cpp", '#include "backend/cpu/run/cpu.h"\n', "runtime/module.cpp:1: runtime must not include backend/cpu/run/cpu.h"),
    ("src/hal/device.h", "#include <vector_types.h>\n", "hal/device.h:1: CUDA's types stay in src/cuda"),
    ("CMakeLists.txt", "cupola_folder(src/hal DEPS base kir LIBS dl TEST_DEPS hal-null)\ncupola_folder(src/odd)\n"
     "cupola_folder(src/hal/null DEPS hal TEST_DEPS hal-cts)\ncupola_folder(src/runtime DEPS memory backend-cpu-run TEST_DEVICES null cpu)\n"
     "cupola_folder(src/memory DEPS hal LLVM TEST_DEPS daemon)\n",
     "CMakeLists.txt: hal must not link kir"),
    ("", "", "CMakeLists.txt: hal must not link hal/null"),
    ("", "", "CMakeLists.txt: odd: its folder is not in the architecture"),
    ("", "", "CMakeLists.txt: memory must not link llvm"),
    ("", "", "CMakeLists.txt: memory must not link daemon"),
    ("src/cuda/cudart/CMakeLists.txt", "target_link_libraries(cupola-cuda-cudart PRIVATE cupola-base cupola-runtime)\n",
     "src/cuda/cudart/CMakeLists.txt: cuda/cudart must not link runtime"),
]


def self_test():
    if "kir" in closure("runtime") or "llvm" in closure("backend/cpu/run"):
        sys.exit("arrows: the table itself lets the compiling half into the running half")
    for folder in ALLOWED:
        if "kir" in allowed_in(folder, test=True) and "kir" not in closure(folder):
            sys.exit(f"arrows: the table itself lets tests of {folder} see the compiling half")
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for file, text, _ in VIOLATIONS:
            if file:
                (root / file).parent.mkdir(parents=True, exist_ok=True)
                (root / file).write_text(text)
        found, expected = sorted(set(problems_of(root))), sorted(problem for _, _, problem in VIOLATIONS if problem)
    if found != expected:
        sys.exit(f"arrows: the self-test found {found}\ninstead of {expected}")


def main():
    if "--self-test" in sys.argv:
        self_test()
    problems = problems_of(ROOT)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
