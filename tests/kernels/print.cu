// printf from kernels: what arrives on standard output. Oracle: the same format and values through the host's snprintf,
// as the CUDA C++ Programming Guide's "Formatted Output" promises. A precision of * is left out: GPUs print it wrong.

#include <string>

#include "check.h"

__global__ void print_kernel() {
  printf("[%d|%5d|%-5d|%05d|%+d]\n", -7, 42, 42, 42, 42);
  printf("[%u|%x|%X|%#x|%o]\n", 3000000000u, 255u, 255u, 255u, 8u);
  printf("[%lld|%llu|%lx|%hd]\n", -5000000000ll, 18446744073709551615ull, 0xdeadbeefcafel, static_cast<short>(-2));
  printf("[%f|%.3f|%10.2f|%-10.1e|%g|%G]\n", 1.5, 3.14159, -2.005, 12345.678, 1e-10, 1e20);
  printf("[%c|%s|%10s|%-10s|%.2s|%%]\n", 'z', "text", "right", "left", "cut");
  printf("[%*d|%p]\n", 6, 1, reinterpret_cast<void*>(0x1234));
  printf("no arguments\n");
}

std::string expected_text() {
  char line[512];
  std::string all;
  auto add = [&](auto... arguments) {
    std::snprintf(line, sizeof line, arguments...);
    all += line;
  };
  add("[%d|%5d|%-5d|%05d|%+d]\n", -7, 42, 42, 42, 42);
  add("[%u|%x|%X|%#x|%o]\n", 3000000000u, 255u, 255u, 255u, 8u);
  add("[%lld|%llu|%lx|%hd]\n", -5000000000ll, 18446744073709551615ull, 0xdeadbeefcafel, static_cast<short>(-2));
  add("[%f|%.3f|%10.2f|%-10.1e|%g|%G]\n", 1.5, 3.14159, -2.005, 12345.678, 1e-10, 1e20);
  add("[%c|%s|%10s|%-10s|%.2s|%%]\n", 'z', "text", "right", "left", "cut");
  add("[%*d|%p]\n", 6, 1, reinterpret_cast<void*>(0x1234));
  return all + "no arguments\n";
}

/// What the process writes to standard output while `run` runs.
template <typename F>
std::string captured(F run) {
  std::fflush(stdout);
  int saved = dup(STDOUT_FILENO);
  std::FILE* file = std::tmpfile();
  dup2(fileno(file), STDOUT_FILENO);
  run();
  std::fflush(stdout);
  dup2(saved, STDOUT_FILENO);
  close(saved);
  std::string text(static_cast<size_t>(std::ftell(file) < 0 ? 0 : lseek(fileno(file), 0, SEEK_END)), '\0');
  lseek(fileno(file), 0, SEEK_SET);
  if (read(fileno(file), text.data(), text.size()) != static_cast<ssize_t>(text.size())) text = "unreadable";
  std::fclose(file);
  return text;
}

CASE(formats) {
  std::string got = captured([] {
    print_kernel<<<1, 1>>>();
    CUDA_OK(cudaDeviceSynchronize());
  });
  std::string expected = expected_text();
  if (got != expected) std::fprintf(stderr, "got:\n%s\nexpected:\n%s\n", got.c_str(), expected.c_str());
  EXPECT_EQUAL(got, expected);
}

CASE(order_with_the_host) {
  std::string got = captured([] {
    std::printf("before\n");
    print_kernel<<<1, 1>>>();
    CUDA_OK(cudaDeviceSynchronize());
    std::printf("after\n");
  });
  EXPECT_EQUAL(got, "before\n" + expected_text() + "after\n");
}

__global__ void many_kernel() {
  printf("%d\n", blockIdx.x * blockDim.x + threadIdx.x);
}

CASE(every_thread_prints_once) {
  std::string got = captured([] {
    many_kernel<<<10, 100>>>();
    CUDA_OK(cudaDeviceSynchronize());
  });
  std::vector<int> times(1000);
  int lines = 0;
  for (size_t at = 0; at < got.size(); at = got.find('\n', at) + 1, ++lines) {
    int value = std::atoi(got.c_str() + at);
    if (value >= 0 && value < 1000) ++times[value];
  }
  EXPECT_EQUAL(lines, 1000);
  for (int i = 0; i < 1000; ++i) EXPECT_EQUAL_AT(i, times[i], 1);
}

CHECK_MAIN()
