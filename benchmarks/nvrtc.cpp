// nvrtc: how long NVRTC takes from source to PTX in a process that has compiled before, and in a new one. The baseline
// is a process of clang that makes PTX of the same source with the same headers, the way without a library.

#include <nvrtc.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "measure.h"

namespace {

constexpr double kLimitSeconds = 0.060;  // for 20 lines

struct Source {
  const char* name;
  const char* text;
  bool limited;
};

constexpr Source kSources[] = {
    {"nvrtc/20-lines", R"(
template <typename T>
struct Range {
  T low, high;
  __device__ bool holds(T x) const { return x >= low && x <= high; }
};

extern "C" __global__ void filter(const float* in, float* out, int* count, float low, float high, int n) {
  __shared__ int kept;
  if (threadIdx.x == 0) kept = 0;
  __syncthreads();
  const Range<float> range{low, high};
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float x = in[i];
    const bool keep = range.holds(x);
    out[i] = keep ? sqrtf(x) + expf(-x) : 0.0f;
    if (keep) atomicAdd(&kept, 1);
  }
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(count, kept);
}
)",
     true},
    {"nvrtc/cuda_fp16.h", R"(
#include <cuda_fp16.h>
extern "C" __global__ void halves(const half* a, const half* b, half* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = __hfma(a[i], b[i], c[i]);
}
)",
     false},
    {"nvrtc/cooperative_groups.h", R"(
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void sums(const int* a, int* c) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  int sum = a[threadIdx.x];
  for (int step = 16; step; step /= 2) sum += warp.shfl_xor(sum, step);
  c[threadIdx.x] = sum;
}
)",
     false},
};

/// Exits on errors: a benchmark of what fails says nothing.
void compile(const Source& source) {
  const char* options[] = {"-arch=sm_89"};
  nvrtcProgram program = nullptr;
  size_t size = 0;
  if (nvrtcCreateProgram(&program, source.text, "kernel.cu", 0, nullptr, nullptr) != NVRTC_SUCCESS ||
      nvrtcCompileProgram(program, 1, options) != NVRTC_SUCCESS || nvrtcGetPTXSize(program, &size) != NVRTC_SUCCESS ||
      size < 100) {
    std::fprintf(stderr, "%s does not compile\n", source.name);
    std::exit(1);
  }
  nvrtcDestroyProgram(&program);
}

void run(const std::string& command) {
  if (std::system(command.c_str()) == 0) return;
  std::fprintf(stderr, "this failed: %s\n", command.c_str());
  std::exit(1);
}

/// Words as cupolac's, for PTX in one step.
std::string clang_command(const std::string& file) {
  return std::string(CUPOLA_CLANG) +
         " -x cuda --cuda-device-only --cuda-gpu-arch=sm_89 --cuda-path=/nowhere -nocudainc "
         "-nocudalib --cuda-feature=+ptx87 -fdeclspec -Xclang -target-sdk-version=12.9 -std=c++17 "
         "-isystem " CUPOLA_HEADERS " -include cuda_runtime.h -O2 -S " +
         file + " -o " + file + ".ptx";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2) {  // a new process, which compiles the first source once
    compile(kSources[0]);
    return 0;
  }
  const std::string file = "/tmp/cupola-bench-" + std::to_string(getpid()) + ".cu";
  for (const Source& source : kSources) {
    std::ofstream(file) << source.text;
    const double ours = bench::median_seconds([&] { compile(source); });
    const double clang = bench::median_seconds([&] { run(clang_command(file)); });
    bench::report(source.name, ours, source.limited ? kLimitSeconds : 0, {{"clang_process", clang}});
    if (&source == kSources) {
      const double fresh = bench::median_seconds([&] { run(std::string(argv[0]) + " once"); });
      bench::report("nvrtc/20-lines-in-a-new-process", fresh, 0, {{"clang_process", clang}});
    }
  }
  unlink(file.c_str());
  unlink((file + ".ptx").c_str());
}
