"""The package as a user gets it: `run.py BUILD FOLDER STAGE [WORDS FOR PYTEST]`.

  wheel         makes a wheel around an installation of the build tree, checks what it holds, and installs it in a virtual environment in FOLDER
  package       runs the tests there, those of Numba aside
  numba         runs those of Numba, with numba-cuda
  numba-builtin the same with the target that Numba has built in
  numba-0.59    the same with the oldest Numba and an old NumPy, in a virtual environment of its own
  numba-metal   runs kernels of Numba on the software Metal of the tests
  operations    runs every operation of cupola.pipeline against NumPy, SciPy and mpmath, on the CPU
  operations-metal, operations-air  the same on the software Metal of the tests, as MSL and as compiled kernels
  editable      installs the checkout with `pip install -e`, and runs a demonstration
  whole         configures what `pip install .` builds, and checks that its target makes all that is then installed
  sdist         makes a source distribution, and checks that it holds what a build needs
  pythons       makes wheels with the other Pythons of this machine, from 3.10 on, and runs the tests of the stage `package` with each
"""

import argparse
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TESTS = ROOT / "python" / "tests"
LIBRARIES = ("libcuda.so.1", "libcudart.so.13", "libnvrtc.so.13", "libnvvm.so.4", "libnvJitLink.so.13", "libnvidia-ml.so.1", "libcupola-pipeline.so", "libcupola-compiler.so", "libcupola-frontend.so")
OPERATION_TESTS = TESTS / "test_operations.py"
NUMBA_TESTS = [TESTS / "test_numba.py", TESTS / "test_numba_programs.py"]
# Host arrays over device memory are not made there yet; the demonstrations take minutes.
NOT_ON_METAL = ("buffers_are_arrays_of_numba", "demo")
# What would lead the installed package elsewhere.
FOREIGN = ("CUPOLA_HOME", "CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH", "NUMBA_CUDA_DRIVER", "PYTHONPATH")


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"python test: {' '.join(map(str, command))} ended with {done.returncode}\n{done.stdout[-4000:]}")
    return done.stdout


def environment():
    return {name: value for name, value in os.environ.items() if name not in FOREIGN}


def virtual_environment(folder, name="venv", requirements="requirements.txt", python=sys.executable):
    """Made once for each list of requirements."""
    text = (TESTS / requirements).read_bytes()
    key = hashlib.sha256(text + str(python).encode() + sys.version.encode()).hexdigest()
    venv, mark = folder / name, folder / name / "requirements-installed"
    if not mark.exists() or mark.read_text() != key:
        shutil.rmtree(venv, ignore_errors=True)
        run(python, "-m", "venv", venv)
        run(venv / "bin" / "python", "-m", "pip", "install", "--quiet", "pip==26.0")  # Python 3.10 brings one without -C
        run(venv / "bin" / "pip", "install", "--quiet", "-r", TESTS / requirements)
        mark.write_text(key)
    return venv


def install_tree(build, prefix):
    shutil.rmtree(prefix, ignore_errors=True)
    manifest = build / "install_manifest.txt"
    kept = manifest.read_bytes() if manifest.exists() else None  # of the user's own installation
    run("cmake", "--install", build, "--prefix", prefix, env={**os.environ, "CMAKE_INSTALL_MESSAGE": "NEVER"})
    manifest.write_bytes(kept) if kept is not None else manifest.unlink()


def of_prefix(prefix, build_folder):
    """What pip is told so that it builds the extension alone."""
    launcher = ["-C", "cmake.define.CMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    return ["--no-deps", "--no-build-isolation", "-C", "cmake.source-dir=python", "-C", f"cmake.define.CUPOLA_PREFIX={prefix}", "-C", f"build-dir={build_folder}", *launcher]


def with_venv(venv):
    """ninja and cmake of a virtual environment come first, as under pip's own isolation."""
    return {**environment(), "PATH": f"{venv / 'bin'}:{os.environ['PATH']}"}


def make_wheel(prefix, venv, wheels, build_folder):
    shutil.rmtree(wheels, ignore_errors=True)
    run(venv / "bin" / "pip", "wheel", "--quiet", ROOT, "-w", wheels, *of_prefix(prefix, build_folder), env=with_venv(venv))
    return only_wheel(wheels)


def only_wheel(wheels):
    (wheel,) = wheels.glob("*.whl")
    return wheel


def absolute_paths(wheel, forbidden):
    """Files of the wheel that name a folder of this machine's builds, and libraries that look for others elsewhere than beside themselves and
    in the system's folders."""
    problems = []
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            data = archive.read(name)
            problems += [f"{name} names {path}" for path in forbidden if path.encode() in data]
            if data.startswith(b"\x7fELF"):
                text = subprocess.run(["readelf", "-d", "/dev/stdin"], input=data, capture_output=True).stdout.decode()
                paths = re.findall(r"R(?:UN)?PATH.*\[(.*)\]", text)
                problems += [f"{name} has the run path {path}" for path in paths if not path.startswith("$ORIGIN")]
    return problems


def check_wheel(wheel, folder, build):
    problems = absolute_paths(wheel, {str(ROOT), str(folder), str(build)})
    names = zipfile.ZipFile(wheel).namelist()
    for part in (*(f"_toolkit/lib/{name}" for name in LIBRARIES), "_toolkit/lib/cupola/device.bc", "_toolkit/lib/cupola/metal.bc", "_toolkit/lib/cupola/air.bc", "_toolkit/lib/cupola/toolkit/nvvm/libdevice/libdevice.10.bc",
                 "_toolkit/include/cuda/cuda_runtime.h", "_toolkit/include/cupola/pipeline.h", "_toolkit/bin/cupola", "_driver.pyi", "py.typed", "demos/add.py"):
        if f"cupola/{part}" not in names:
            problems.append(f"{part} is not in the wheel")
    if problems:
        sys.exit("\n".join(["python test: the wheel is wrong:", *problems]))
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, {len(names)} files")


def install(venv, wheel):
    run(venv / "bin" / "pip", "install", "--quiet", "--force-reinstall", "--no-deps", wheel)


def wheel_stage(build, folder, _):
    venv, prefix, kept = virtual_environment(folder), folder / "prefix", folder / "kept-prefix"
    install_tree(build, prefix)
    wheel = make_wheel(prefix, venv, folder / "wheels", folder / "extension")
    check_wheel(wheel, folder, build)
    install(venv, wheel)
    shutil.rmtree(kept, ignore_errors=True)
    prefix.rename(kept)  # what is installed must do without it
    print(run(venv / "bin" / "cupola", "version", env=environment(), cwd=folder).strip())
    return 0


def pytest(venv, folder, files, words, **variables):
    command = [venv / "bin" / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", ROOT / "pyproject.toml", *files, *words]
    return subprocess.run([str(word) for word in command], env={**environment(), **variables}, cwd=folder).returncode


def package_tests():
    return sorted(set(TESTS.glob("test_*.py")) - {*NUMBA_TESTS, OPERATION_TESTS})


def package_stage(_, folder, words):
    return pytest(folder / "venv", folder, package_tests(), words)


def numba_stage(_, folder, words, **variables):
    return pytest(folder / "venv", folder, NUMBA_TESTS, words, **variables)


def builtin_stage(_, folder, words):
    return numba_stage(_, folder, words, CUPOLA_TEST_BUILTIN="1")


def metal_stage(build, folder, words):
    software = build / "lib" / "cupola" / "libcupola-software-metal.so"
    return numba_stage(build, folder, ["-k", f"not {' and not '.join(NOT_ON_METAL)}", *words], CUPOLA_DEVICE="metal", CUPOLA_METAL_LIBRARY=str(software))


def operations_stage(_, folder, words, **variables):
    return pytest(folder / "venv", folder, [OPERATION_TESTS], words, **variables)


def operations_metal_stage(build, folder, words, **variables):
    software = build / "lib" / "cupola" / "libcupola-software-metal.so"
    return operations_stage(build, folder, words, CUPOLA_DEVICE="metal", CUPOLA_METAL_LIBRARY=str(software), **variables)


def operations_air_stage(build, folder, words):
    return operations_metal_stage(build, folder, words, CUPOLA_METAL="air")


def oldest_numba_stage(_, folder, words):
    venv = virtual_environment(folder, "venv-numba-0.59", "requirements-numba-0.59.txt")
    install(venv, only_wheel(folder / "wheels"))
    return pytest(venv, folder, [TESTS / "test_numba.py", TESTS / "test_buffer.py"], words, CUPOLA_TEST_BUILTIN="1")


def editable_stage(_, folder, __):
    venv, checkout = virtual_environment(folder, "venv-editable", "requirements-package.txt"), folder / "checkout"
    shutil.rmtree(checkout, ignore_errors=True)
    checkout.mkdir()
    for part in ("CMakeLists.txt", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / part, checkout)
    shutil.copytree(ROOT / "python", checkout / "python")
    run(venv / "bin" / "pip", "install", "--quiet", "-e", checkout, *of_prefix(folder / "kept-prefix", folder / "extension-editable"), env=with_venv(venv))
    source = checkout / "python" / "cupola" / "__init__.py"
    source.write_text(source.read_text() + "\nEDITED = True\n")
    print(run(venv / "bin" / "python", "-c", f"import cupola; assert cupola.EDITED and cupola.__file__ == {str(source)!r}", env=environment(), cwd=folder))
    print(run(venv / "bin" / "python", "-m", "cupola.demos.add", "--jit", "--size", "4096", env=environment(), cwd=folder))
    return 0


def whole_stage(_, folder, __):
    venv, build = virtual_environment(folder), folder / "whole"
    shutil.rmtree(build, ignore_errors=True)
    settings = {"CMAKE_BUILD_TYPE": "Release", "CMAKE_C_COMPILER": "clang-22", "CMAKE_CXX_COMPILER": "clang++-22", "CUPOLA_PYTHON": "ON",
                "CUPOLA_TESTS": "OFF", "CUPOLA_BENCH": "OFF", "Python_EXECUTABLE": venv / "bin" / "python"}
    run("cmake", "-S", ROOT, "-B", build, "-G", "Ninja", *(f"-D{name}={value}" for name, value in settings.items()), env=with_venv(venv))
    graph = run("ninja", "-t", "graph", "cupola-wheel", env=with_venv(venv), cwd=build)
    names = set(re.findall(r'label="([^"]+)"', graph))
    for outputs in re.findall(r"^build ([^:]+):", (build / "build.ninja").read_text(), re.MULTILINE):
        together = set(outputs.split()) - {"|"}  # the graph names only one of them
        names |= together if names & together else set()
    made = {str(build / name) for name in names}
    text = "".join(path.read_text() for path in build.rglob("cmake_install.cmake"))
    installed = set(re.findall(rf'^(?: *file\(INSTALL .*| *)"({re.escape(str(build))}/[^"]+)"', text, re.MULTILINE))
    if str(build / "lib" / "cupola" / "device.bc") not in installed:
        sys.exit("python test: what is installed was not found in cmake_install.cmake")
    folders = {str(parent) for path in made for parent in pathlib.Path(path).parents}
    if missing := sorted(path for path in installed - made - folders if not os.path.lexists(path)):
        sys.exit(f"python test: the target cupola-wheel does not make {', '.join(missing)}")
    print(f"cupola-wheel makes all of {len(installed)} parts")
    return 0


def sdist_stage(_, folder, __):
    venv, sdists = virtual_environment(folder), folder / "sdists"
    shutil.rmtree(sdists, ignore_errors=True)
    program = f"import scikit_build_core.build as b; b.build_sdist({str(sdists)!r})"
    run(venv / "bin" / "python", "-c", program, env=with_venv(venv), cwd=ROOT)
    (sdist,) = sdists.glob("*.tar.gz")
    names = {name.partition("/")[2] for name in tarfile.open(sdist).getnames()}
    tracked = set(run("git", "ls-files", cwd=ROOT).splitlines())
    needed = {name for name in tracked if name.startswith(("src/", "include/", "cmake/", "tools/", "python/cupola/", "python/driver/", "python/run/"))}
    needed |= {"CMakeLists.txt", "LICENSE", "README.md", "pyproject.toml", "scripts/uninstall", "examples/CMakeLists.txt", "python/CMakeLists.txt", "python/wheel_files.cmake.in"}
    if missing := sorted(needed - names):
        sys.exit(f"python test: {sdist.name} lacks {', '.join(missing[:20])}")
    if foreign := sorted(name for name in names - tracked if name != "PKG-INFO" and "." in name):
        sys.exit(f"python test: {sdist.name} holds what is not in the repository: {', '.join(foreign[:20])}")
    print(f"{sdist.name}: {sdist.stat().st_size / 1e6:.1f} MB, {len(names)} files")
    return 0


def other_pythons():
    """Version and path of each Python from 3.10 on that is on the PATH, or in pyenv's folder, except this one; the oldest first."""
    folders = [*map(pathlib.Path, os.environ["PATH"].split(":")), *pathlib.Path("~/.pyenv/versions").expanduser().glob("*/bin")]
    found = {}
    for minor in range(10, 20):
        for folder in folders:
            path = folder / f"python3.{minor}"
            if minor != sys.version_info.minor and minor not in found and path.exists():
                if subprocess.run([path, "-c", "import sys, venv"], capture_output=True).returncode == 0:  # pyenv has stand-ins for what is not chosen
                    found[minor] = path
    return found.items()


def pythons_stage(_, folder, words):
    status, stable = 0, None
    for minor, path in other_pythons():
        venv = virtual_environment(folder, f"venv-3.{minor}", "requirements-package.txt", path)
        if minor < 12 or stable is None:
            wheel = make_wheel(folder / "kept-prefix", venv, folder / f"wheels-3.{minor}", folder / f"extension-3.{minor}")
            stable = wheel if minor >= 12 else None  # of 3.12, for all later ones
        install(venv, wheel)
        passed = pytest(venv, folder, package_tests(), words) == 0
        print(f"case Python_3.{minor}: {'ok' if passed else 'FAILED'}", flush=True)
        status |= not passed
    return status


STAGES = {
    "wheel": wheel_stage,
    "package": package_stage,
    "numba": numba_stage,
    "numba-builtin": builtin_stage,
    "numba-0.59": oldest_numba_stage,
    "numba-metal": metal_stage,
    "operations": operations_stage,
    "operations-metal": operations_metal_stage,
    "operations-air": operations_air_stage,
    "editable": editable_stage,
    "whole": whole_stage,
    "sdist": sdist_stage,
    "pythons": pythons_stage,
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("stage", choices=STAGES)
    arguments, words = parser.parse_known_args()
    build, folder = arguments.build.resolve(), arguments.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    sys.exit(STAGES[arguments.stage](build, folder, words))


if __name__ == "__main__":
    main()
