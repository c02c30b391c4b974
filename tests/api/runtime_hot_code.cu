// Programs that end while code is made in the background, and what the next one finds. Each case has its own process.

#include <dirent.h>

#include <string>

#include "api.h"
#include "child.h"

namespace {

/// What a block's threads meet in: the code that such a kernel gets when it ran for long is other code.
template <int kKernel>
__global__ void sum(float* sums, int rounds) {
  __shared__ float parts[256];
  for (int round = 0; round < rounds; ++round) {
    parts[threadIdx.x] = threadIdx.x + kKernel;
    __syncthreads();
    for (int distance = 128; distance > 0; distance /= 2) {
      if (threadIdx.x < distance) parts[threadIdx.x] += parts[threadIdx.x + distance];
      __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = parts[0];
    __syncthreads();
  }
}

constexpr int kBlocks = 64, kRight = 42;

template <int kKernel>
bool is_right(float* sums) {
  sum<kKernel><<<kBlocks, 256>>>(sums, 50);
  return cudaDeviceSynchronize() == cudaSuccess && sums[kBlocks - 1] == 255 * 128 + 256 * kKernel;
}

/// Runs kernels for so long, and leaves the function.
int run_for(std::chrono::microseconds time) {
  float* sums = nullptr;
  if (cudaMallocManaged(&sums, kBlocks * sizeof(float)) != cudaSuccess) return 1;
  const auto end = std::chrono::steady_clock::now() + time;
  do
    if (!is_right<1>(sums) || !is_right<2>(sums) || !is_right<3>(sums)) return 2;
  while (std::chrono::steady_clock::now() < end);
  return kRight;
}

/// Entries of a cache folder.
int entries(const std::string& folder) {
  int count = 0;
  DIR* const opened = opendir(folder.c_str());
  if (!opened) return 0;
  while (const dirent* entry = readdir(opened))
    count += std::string(entry->d_name).find(".cupola") != std::string::npos;
  closedir(opened);
  return count;
}

/// The status of a process that runs kernels for so long and ends by exit(), with this setting and folder.
int status_of(const char* hot, const std::string& folder, std::chrono::microseconds time) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    setenv("CUPOLA_HOT", hot, 1);
    setenv("CUPOLA_CACHE_DIR", folder.c_str(), 1);
    std::exit(run_for(time));
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

struct Folder {
  Folder() { made = mkdtemp(path.data()) != nullptr; }
  ~Folder() { (void)!std::system(("rm -r " + path).c_str()); }
  std::string path = "/tmp/cupola-hot-XXXXXX";
  bool made = false;
};

}  // namespace

CASE(ends_at_any_time) {
  for (int i = 0; i < 30; ++i) {
    const Folder folder;
    EXPECT_EQUAL(status_of("auto", folder.path, std::chrono::microseconds(i * 3'000)), kRight);
  }
}

// The compiler is first needed in the background then.
CASE(ends_at_any_time_with_first_code_of_the_cache) {
  const Folder folder;
  EXPECT_EQUAL(status_of("off", folder.path, {}), kRight);
  for (int i = 0; i < 30; ++i) {
    const Folder own;
    EXPECT_EQUAL(std::system(("cp " + folder.path + "/*.cupola " + own.path).c_str()), 0);
    EXPECT_EQUAL(status_of("auto", own.path, std::chrono::microseconds(i * 1'000)), kRight);
  }
}

CASE(is_found_by_the_next_process) {
  const Folder folder;
  EXPECT_EQUAL(status_of("now", folder.path, {}), kRight);
  const int hot = entries(folder.path);
  EXPECT_EQUAL(hot, 4);  // of the module and of three kernels
  EXPECT_EQUAL(status_of("auto", folder.path, {}), kRight);
  EXPECT_EQUAL(entries(folder.path), hot);  // no first code was made
  EXPECT_EQUAL(status_of("off", folder.path, {}), kRight);
  EXPECT_EQUAL(entries(folder.path), hot + 3);
}

CHECK_ISOLATED_MAIN()
