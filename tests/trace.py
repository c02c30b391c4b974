"""cupola trace on programs that use the shared runtime, the static runtime, and the driver alone: what the trace must hold follows
from the program's own source. JSON is read by Python's reader, an event's fields are those of the "Trace Event Format".

usage: trace.py BUILD_DIR
"""

import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

RUNTIME = r"""
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
__global__ void twice(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }
extern "C" __global__ void f() {}
static void nothing(void*) {}
int main(int, char** words) {
  const char* end = words[1] ? words[1] : "";
  float* x;
  float host[256] = {};
  if (cudaMalloc(&x, sizeof host) != cudaSuccess) return 1;
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  for (int i = 0; i < 3; ++i) twice<<<4, 64>>>(x);
  twice<<<dim3(1, 2), 32>>>(x);
  f<<<1, 1>>>();
  cudaMemset(x, 0, 128);
  cudaLaunchHostFunc(0, nothing, nullptr);
  cudaDeviceSynchronize();
  int blocks;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, twice, 64, 0);
  cudaFree((void*)4);
  cudaGetLastError();
  if (!strcmp(end, "kill")) kill(getpid(), SIGKILL);
  if (!strcmp(end, "_exit")) _exit(3);
  if (!strcmp(end, "abort")) abort();
  std::printf("%s\n", end);
  return 5;
}
"""

DRIVER = r"""
#include <cuda.h>
#include <cstdio>
int main() {
  CUdevice device;
  CUcontext context;
  CUdeviceptr memory;
  void* host;
  if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context)) return 1;
  cuMemAlloc(&memory, 4096);
  cuMemAllocHost(&host, 4096);
  cuMemcpyHtoD(memory, host, 4096);
  cuMemFree(memory);
  cuMemFree(1);
}
"""


def run(*words, status=0, folder, **environment):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, cwd=folder, timeout=100,
                          env=os.environ | environment)
    assert done.returncode == status, f"{words}: status {done.returncode}, not {status}\n{done.stdout}{done.stderr}"
    return done


def events_of(path):
    trace = json.loads(path.read_text())
    events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    for event in events:
        assert event["dur"] >= 0 and event["ts"] >= 0 and isinstance(event["pid"], int) and isinstance(event["tid"], int), event
    return events


def names(events, *categories):
    return collections.Counter(event["name"] for event in events if event["cat"] in categories)


def check_runtime(events):
    calls = names(events, "runtime", "driver")
    expected = {"cudaMalloc": 1, "cudaMemcpy": 1, "cudaLaunchKernel": 5, "cudaMemset": 1, "cudaLaunchHostFunc": 1,
                "cudaDeviceSynchronize": 1, "cudaOccupancyMaxActiveBlocksPerMultiprocessor": 1, "cudaFree": 1, "cudaGetLastError": 1}
    assert calls == expected, calls
    failed = {event["name"] for event in events if event["cat"] == "runtime" and event["args"]["status"] != 0}
    assert failed == {"cudaFree", "cudaGetLastError"}, failed
    kernels = collections.Counter((event["name"], event["args"]["grid"], event["args"]["block"]) for event in events if event["cat"] == "kernel")
    assert kernels == {("twice(float*)", "4", "64"): 3, ("twice(float*)", "1x2", "32"): 1, ("f", "1", "1"): 1}, kernels
    copies = sorted((event["cat"], event["args"]["bytes"]) for event in events if event["cat"] in ("copy", "fill"))
    assert copies == [("copy", 1024), ("fill", 128)], copies
    assert sum(names(events, "host function").values()) == 1
    # What a stream does, it does one after the other.
    rows = collections.defaultdict(list)
    for event in events:
        if event["cat"] in ("kernel", "copy", "fill"):
            rows[event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    for row in rows.values():
        row.sort()
        assert all(first[1] <= second[0] + 0.002 for first, second in zip(row, row[1:])), row


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    cupola, cupolac = build / "bin" / "cupola", build / "bin" / "cupolac"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "runtime.cu").write_text(RUNTIME)
        (folder / "driver.cu").write_text(DRIVER)
        trace = folder / "trace.json"
        for kind in ("shared", "static"):
            run(cupolac, f"-cudart={kind}", "runtime.cu", "-o", kind, folder=folder)
            done = run(cupola, "trace", f"./{kind}", "--nested", status=5, folder=folder)
            assert done.stdout == "--nested\n", done.stdout  # the program's own word
            check_runtime(events_of(trace))
            assert "twice(float*) <<<4, 64>>>" in done.stderr and "cudaLaunchKernel" in done.stderr and "cuMemAlloc" not in done.stderr, done.stderr
        done = run(cupola, "trace", "--nested", "-o", "nested.json", "./shared", status=5, folder=folder)
        nested = names(events_of(folder / "nested.json"), "driver")
        assert nested["cuLaunchKernel"] == 5 and nested["cuMemAlloc_v2"] == 1, nested

        for end, status in (("kill", 128 + 9), ("_exit", 3), ("abort", 128 + 6)):
            done = run(cupola, "trace", "./shared", end, status=status, folder=folder)
            check_runtime(events_of(trace))
            assert status < 128 or f"ended by signal {status - 128}" in done.stderr, done.stderr

        run(cupolac, "driver.cu", "-o", "driver", "-lcuda", folder=folder)
        run(cupola, "trace", "./driver", folder=folder)
        calls = names(events_of(trace), "runtime", "driver")
        assert calls == {"cuInit": 1, "cuDeviceGet": 1, "cuDevicePrimaryCtxRetain": 1, "cuCtxSetCurrent": 1, "cuMemAlloc_v2": 1,
                         "cuMemAllocHost_v2": 1, "cuMemcpyHtoD_v2": 1, "cuMemFree_v2": 2}, calls

        # Without cupola trace: recorded by the setting, read afterwards.
        run("./shared", status=5, folder=folder, CUPOLA_TRACE="raw")
        run(cupola, "trace", "--read", "raw", "-o", "read.json", folder=folder)
        check_runtime(events_of(folder / "read.json"))
        done = run(cupola, "trace", "--read", "absent", status=1, folder=folder)
        assert "cannot read 'absent'" in done.stderr, done.stderr

        done = run(cupola, "trace", "./missing", status=127, folder=folder)
        assert "missing" in done.stderr and "trace.json holds" not in done.stderr, done.stderr
        done = run(cupola, "trace", "/bin/true", folder=folder)
        assert "no CUDA calls were made" in done.stderr and events_of(trace) == [], done.stderr
        left = sorted(path.name for path in folder.iterdir() if path.name.startswith("trace.json."))
        assert left == [], left
    print("trace: what was called is what was recorded, however the program was linked and ended")
    return 0


if __name__ == "__main__":
    sys.exit(main())
