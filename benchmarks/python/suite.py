"""The python suite of ./bench: Numba's programs on the device beside the same on the host, and the times of first use.

Prints a JSON object a line, as the other bench programs do. Each way of a program is a process of its own; the rounds of the ways
alternate, so that what else the machine does falls on all of them. Baselines: `njit` is the same algorithm under
`numba.njit(parallel=True)`; `simulator` is Numba's own simulator at a small size, times the ratio of work: of threads or
elements, and of a thread's steps where a larger size has more of them.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROUND_SECONDS = 0.02  # a round is as many calls as take this long


class Way:
    """A process that runs one program in one way."""

    def __init__(self, way, name, clock, environment):
        variables = {**environment, "NUMBA_ENABLE_CUDASIM": "1"} if way == "simulator" else environment
        errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([sys.executable, "-W", "ignore", HERE / "one_program.py", way, name, clock],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, env=variables)
        line = self.process.stdout.readline()
        if not line:
            errors.seek(0)
            raise RuntimeError(f"{way}: " + (errors.read().strip().splitlines() or ["no answer"])[-1])
        self.answer = json.loads(line)
        if self.answer["wrong"]:
            raise RuntimeError(f"{way}: {self.answer['wrong']}")
        self.calls = 1

    def seconds(self):
        print(self.calls, file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())

    def warm_up(self):
        once = min(self.seconds() for _ in range(3))
        self.calls = max(1, round(ROUND_SECONDS / once))

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def first_launch(name, clock, environment):
    """Seconds of a first launch with an empty cache, and of what Numba does in it."""
    with tempfile.TemporaryDirectory() as cache:
        way = Way("device", name, clock, {**environment, "CUPOLA_CACHE_DIR": cache})
        way.close()
    return way.answer["first"], way.answer["numba"]


def run_program(name, options, environment):
    title = f"numba/{name.replace('_', '-')}"
    long_runs = {**environment, "CUPOLA_HOT": "now"}  # what is timed is the code that kernels come to run
    ways = {way: Way(way, name, options.clock, long_runs) for way in ("device", "host")}
    for way in ways.values():
        way.warm_up()
    times = {way: [] for way in ways}
    for _ in range(options.rounds):
        for way, process in ways.items():
            times[way].append(process.seconds())
            time.sleep(0.005)  # the other's threads stop looking for work
    for process in ways.values():
        process.close()
    baselines = {"njit": statistics.median(times["host"])}
    simulator = Way("simulator", name, options.clock, environment)
    baselines["simulator"] = simulator.seconds() * simulator.answer["scale"]
    simulator.close()
    first, own = first_launch(name, options.clock, environment)
    print(json.dumps({"name": title, "seconds": statistics.median(times["device"]), "baselines": baselines, "simulator_scale": simulator.answer["scale"]}))
    print(json.dumps({"name": f"first-launch/{name.replace('_', '-')}", "seconds": first - own, "limit_seconds": 0.3 * own, "baselines": {},
                      "first_launch_seconds": first, "numba_compile_seconds": own}), flush=True)


NVRTC_SOURCE = """extern "C" __global__ void smooth(const float* in, float* out, int n, float weight) {
  __shared__ float tile[258];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int lane = threadIdx.x + 1;
  tile[lane] = i < n ? in[i] : 0.0f;
  if (threadIdx.x == 0) {
    tile[0] = i > 0 ? in[i - 1] : 0.0f;
  }
  if (threadIdx.x == blockDim.x - 1) {
    tile[lane + 1] = i + 1 < n ? in[i + 1] : 0.0f;
  }
  __syncthreads();
  if (i >= n) {
    return;
  }
  float sum = tile[lane - 1] + tile[lane + 1];
  float value = weight * tile[lane] + (1.0f - weight) * 0.5f * sum;
  out[i] = value > 0.0f ? sqrtf(value) : expf(value);
}
// version %d
"""


def compile_with_nvrtc(source):
    from cuda.bindings import nvrtc

    def checked(answer):
        if answer[0] != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            raise RuntimeError(str(answer[0]))
        return answer[1:]

    program, = checked(nvrtc.nvrtcCreateProgram(source.encode(), b"smooth.cu", 0, [], []))
    checked(nvrtc.nvrtcCompileProgram(program, 1, [b"--gpu-architecture=compute_89"]))
    size, = checked(nvrtc.nvrtcGetPTXSize(program))
    ptx = bytearray(size)
    checked(nvrtc.nvrtcGetPTX(program, ptx))
    checked(nvrtc.nvrtcDestroyProgram(program))
    assert b"smooth" in ptx


def run_nvrtc(options, _):
    """Sources differ each time, so that nothing is found in a cache."""
    times = []
    for turn in range(options.rounds + 2):
        start = time.perf_counter()
        compile_with_nvrtc(NVRTC_SOURCE % turn)
        times.append(time.perf_counter() - start)
    print(json.dumps({"name": "nvrtc/20-lines", "seconds": statistics.median(times[2:]), "limit_seconds": 0.060, "baselines": {}}), flush=True)


def import_seconds(modules, environment):
    code = f"import time; t = time.perf_counter(); import {modules}; print(time.perf_counter() - t)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    if answer.returncode != 0:
        raise RuntimeError(answer.stderr.strip().splitlines()[-1])
    return float(answer.stdout)


def run_import(options, environment):
    """Of each round NumPy's own import is taken off."""
    import_seconds("numpy, cupola", environment)  # byte code
    beyond = [import_seconds("numpy, cupola", environment) - import_seconds("numpy", environment) for _ in range(options.rounds)]
    print(json.dumps({"name": "import/cupola-beyond-numpy", "seconds": max(1e-6, statistics.median(beyond)), "limit_seconds": 0.100, "baselines": {}}),
          flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--clock", default="wall", choices=["wall", "cpu-time"])
    options = parser.parse_args()
    options.rounds = max(10, options.rounds)
    cases = {path.stem.replace("_", "-"): path.stem for path in sorted(HERE.glob("programs/*.py"))}
    steps = {f"numba/{title}": (run_program, (stem,)) for title, stem in cases.items()}
    steps |= {"nvrtc/20-lines": (run_nvrtc, ()), "import/cupola": (run_import, ())}
    failed = 0
    for title, (step, arguments) in steps.items():
        if not re.search(options.only, title):
            continue
        try:
            step(*arguments, options, dict(os.environ))
        except Exception as reason:
            failed += 1
            print(json.dumps({"metric": f"failed/{title}", "value": str(reason)}), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
