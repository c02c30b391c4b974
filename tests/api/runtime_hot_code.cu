// Programs that end while code is made in the background, and what the next one finds. Each case has its own process.

#include <dirent.h>

#include <cstring>
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

/// The status of a process that runs `body` and ends by exit(), with this setting and folder.
template <typename Body>
int status_of(const char* hot, const std::string& folder, Body body) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    setenv("CUPOLA_HOT", hot, 1);
    setenv("CUPOLA_CACHE_DIR", folder.c_str(), 1);
    std::exit(body());
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
int status_of(const char* hot, const std::string& folder, std::chrono::microseconds time) {
  return status_of(hot, folder, [&] { return run_for(time); });
}

constexpr int kEach = 48, kThreads = 64;

/// So much code that it begins by code for a thread: each thread mixes words of its own, and hands one on to its
/// neighbour in each round, through shared memory.
__global__ void turn_round(unsigned* words, int rounds) {
  __shared__ unsigned parts[kThreads];
  unsigned mine[kEach], *block = words + blockIdx.x * kEach * kThreads + threadIdx.x;
#pragma unroll
  for (int i = 0; i < kEach; ++i) mine[i] = block[i * kThreads];
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i + 1 < kEach; ++i) mine[i] = mine[i] * 5 + mine[i + 1];
    parts[threadIdx.x] = mine[kEach - 1];
    __syncthreads();
    mine[kEach - 1] = parts[(threadIdx.x + 1) % kThreads];
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < kEach; ++i) block[i * kThreads] = mine[i];
}

/// The same on the host, of one block.
void turn_round_here(unsigned (&words)[kEach][kThreads], int rounds) {
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i + 1 < kEach; ++i)
      for (int thread = 0; thread < kThreads; ++thread) words[i][thread] = words[i][thread] * 5 + words[i + 1][thread];
    const unsigned first = words[kEach - 1][0];
    for (int thread = 0; thread + 1 < kThreads; ++thread) words[kEach - 1][thread] = words[kEach - 1][thread + 1];
    words[kEach - 1][kThreads - 1] = first;
  }
}

/// One launch, of so many blocks that other code takes over while it goes on, and one behind it.
int turn_many_round() {
  constexpr int kMany = 4'000, kRounds = 20;
  unsigned* words = nullptr;
  const size_t count = size_t{kMany} * kEach * kThreads;
  if (cudaMallocManaged(&words, count * sizeof *words) != cudaSuccess) return 1;
  for (size_t i = 0; i < count; ++i) words[i] = static_cast<unsigned>(i % (kEach * kThreads)) * 2'654'435'761u;
  static unsigned expected[kEach][kThreads];
  std::memcpy(expected, words, sizeof expected);
  for (int launch = 0; launch < 2; ++launch) {
    turn_round<<<kMany, kThreads>>>(words, kRounds);
    turn_round_here(expected, kRounds);
  }
  if (cudaDeviceSynchronize() != cudaSuccess) return 2;
  for (int block = 0; block < kMany; ++block)
    if (std::memcmp(words + size_t{kEach * kThreads} * block, expected, sizeof expected) != 0) return 3;
  return kRight;
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

CASE(takes_over_from_code_for_a_thread) {
  const Folder folder;
  EXPECT_EQUAL(status_of("auto", folder.path, turn_many_round), kRight);
  EXPECT_EQUAL(entries(folder.path), 3);  // of the module, for a thread, and hot
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
