"""The package as a whole: what importing loads, the environment report, commands, demonstrations, types."""

import importlib.metadata
import json
import os
import pathlib
import re
import subprocess
import sys

import cupola
import pytest
from cupola import _installation, _preload, env

DEMOS = ["add", "buffers", "matmul", "monte_carlo", "reduction", "streams"]


def test_import_loads_neither_the_driver_nor_numba(python):
    assert python('import cupola, sys; print("numba" in sys.modules, "cupola._driver" in sys.modules)').split() == ["False", "False"]


def test_version_is_the_packages():
    assert cupola.__version__ == importlib.metadata.version("cupola")


def test_every_name_is_there_and_no_others():
    for name in cupola.__all__:
        if name not in ("numba", "patch"):
            assert getattr(cupola, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        cupola.nothing  # noqa: B018


def test_stubs_name_what_the_package_has():
    folder = pathlib.Path(cupola.__file__).parent
    assert (folder / "py.typed").exists()
    stub = (folder / "__init__.pyi").read_text()
    assert set(re.findall(r" as (\w+)", stub)) | {"patch", "__version__"} == set(cupola.__all__)


def test_environment_report():
    done = subprocess.run([sys.executable, "-m", "cupola.env", "--json"], capture_output=True, text=True, check=True, env=dict(os.environ, CUPOLA_WORKERS="1"))
    found = json.loads(done.stdout)
    assert found["problem"] is None and found["devices"][0]["compute_capability"] == [8, 9]
    assert found["libraries"]["libcuda.so.1"] and found["settings"]["CUPOLA_WORKERS"] == "1"
    assert found["packages"]["numpy"] == importlib.metadata.version("numpy")
    text = env.report(env.detect())
    assert "device 0: " in text and "CUDA 13.0" in text


def test_a_wrong_cupola_home_is_explained():
    done = subprocess.run([sys.executable, "-m", "cupola.env"], capture_output=True, text=True, env=dict(os.environ, CUPOLA_HOME="/nowhere"))
    assert done.returncode == 1
    assert "problem: CUPOLA_HOME is '/nowhere', where there is no lib/libcuda.so.1" in done.stdout


def test_the_toolkit_has_a_toolkits_layout():
    toolkit = _preload.toolkit(_installation.root())
    for part in ("include/cuda_runtime.h", "lib64/libcudadevrt.a", "lib64/libcudart.so.13", "nvvm/libdevice"):
        assert (toolkit / part).exists(), part
    assert _preload.toolkit(_installation.root()) == toolkit


def test_a_toolkit_is_made_by_many_processes_at_once(tmp_path):
    root = tmp_path / "root"
    for folder in ("include/cuda", "lib", "bin", "lib/cupola/toolkit/nvvm/libdevice"):
        (root / folder).mkdir(parents=True)
    program = f"import pathlib; from cupola import _preload; print(_preload.toolkit(pathlib.Path({str(root)!r})))"
    environment = dict(os.environ, XDG_CACHE_HOME=str(tmp_path / "cache"))
    processes = [subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=environment) for _ in range(6)]
    made = {process.communicate()[0].strip() for process in processes}
    assert len(made) == 1
    assert os.path.realpath(pathlib.Path(made.pop(), "nvvm/lib64")) == str(root / "lib")


def test_preloaded_libraries_are_found_by_name(python):
    """As cuda-bindings and cuda-pathfinder find them: by name, in a process with nothing set."""
    out = python("""
import ctypes, os
for name in ("CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH"):
    os.environ.pop(name, None)
import cupola
cupola.patch()
library = ctypes.CDLL("libcuda.so.1", mode=os.RTLD_NOLOAD)
version = ctypes.c_int()
print(library.cuDriverGetVersion(ctypes.byref(version)), version.value, os.path.isdir(os.environ["CUDA_HOME"] + "/include"))
""")
    assert out == "0 13000 True\n"


def test_another_driver_that_is_loaded_is_not_mixed_with_ours(python, tmp_path):
    subprocess.run(["cc", "-shared", "-x", "c", "/dev/null", "-o", tmp_path / "libcuda.so.1", "-Wl,-soname,libcuda.so.1"], check=True)
    out = python(f"""
import ctypes, cupola
ctypes.CDLL({str(tmp_path / 'libcuda.so.1')!r})
try:
    cupola.patch()
except ImportError as error:
    print(error)
""")
    assert out == f"this process uses {tmp_path / 'libcuda.so.1'} already: import cupola.numba before numba.cuda and cuda.bindings\n"


def test_cupola_run_leads_python_programs_to_the_libraries(tmp_path):
    """Also those that a program starts, and though nothing in them imports the package."""
    (tmp_path / "numba.py").write_text("")
    (tmp_path / "child.py").write_text("import numba, ctypes, os\nprint(ctypes.CDLL('libcuda.so.1', mode=os.RTLD_NOLOAD).cuInit(0), 'CUDA_HOME' in os.environ)\n")
    (tmp_path / "app.py").write_text("import subprocess, sys\nfor _ in range(2):\n    subprocess.run([sys.executable, 'child.py'], check=True)\n")
    done = subprocess.run([sys.executable, "-m", "cupola", "run", sys.executable, "app.py"], capture_output=True, text=True, cwd=tmp_path)
    assert (done.stdout, done.returncode) == ("0 True\n0 True\n", 0), done.stderr


@pytest.mark.parametrize("demo", DEMOS)
def test_demo(demo):
    done = subprocess.run([sys.executable, "-m", f"cupola.demos.{demo}", "--jit", "--size", "65536"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(rf"^{demo}: right, by cupola\.jit.*\n  Cupola +[\d.]+ ms\n  NumPy +[\d.]+ ms", done.stdout)
