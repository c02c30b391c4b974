#pragma once

// The frame of a kernel test program: cases register themselves, main runs them (all, or those named on the command
// line; --list names them) and prints "case NAME: ok" or "case NAME: FAILED" for each, which the test runner counts.
// What the checks look at can be kept (values.h).

#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <vector>

#include "values.h"

namespace check {

struct Case {
  const char* name;
  void (*run)();
};

inline std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

inline int& failures() {
  static int count = 0;
  return count;
}

struct Registration {
  Registration(const char* name, void (*run)()) { cases().push_back({name, run}); }
};

inline void fail(const char* file, int line, const char* text) {
  if (failures()++ < 20) std::fprintf(stderr, "%s:%d: %s\n", file, line, text);
}

/// Prints a value whatever its type, for failure messages.
template <typename T>
void describe(char* to, size_t size, const T& value) {
  if constexpr (std::is_floating_point_v<T>)
    std::snprintf(to, size, "%.17g", static_cast<double>(value));
  else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
    std::snprintf(to, size, "%lld", static_cast<long long>(value));
  else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>)
    std::snprintf(to, size, "%llu (0x%llx)", static_cast<unsigned long long>(value),
                  static_cast<unsigned long long>(value));
  else
    std::snprintf(to, size, "a value");
}

template <typename A, typename B>
void equal_unrecorded(const A& got, const B& expected, const char* what, long long index, const char* file, int line) {
  if (got == static_cast<A>(expected)) return;
  char got_text[64], expected_text[64], text[256];
  describe(got_text, sizeof got_text, got);
  describe(expected_text, sizeof expected_text, static_cast<A>(expected));
  std::snprintf(text, sizeof text, "%s [%lld]: got %s, expected %s", what, index, got_text, expected_text);
  fail(file, line, text);
}

template <typename A, typename B>
void equal(const A& got, const B& expected, const char* what, long long index, const char* file, int line) {
  record(what, got);
  equal_unrecorded(got, expected, what, index, file, line);
}

/// As equal, but that zeros have signs and NaN equals NaN.
inline void same(double got, double expected, const char* what, long long index, const char* file, int line) {
  record(what, got);
  if (std::isnan(expected) ? std::isnan(got) : got == expected && std::signbit(got) == std::signbit(expected)) return;
  char text[256];
  std::snprintf(text, sizeof text, "%s [%lld]: got %.17g, expected %.17g", what, index, got, expected);
  fail(file, line, text);
}

/// Distance from the reference, in units of the last place of T there.
template <typename T>
double ulp_error(T got, long double reference) {
  T rounded = static_cast<T>(reference);
  if (std::isnan(reference) || std::isnan(got)) return std::isnan(reference) && std::isnan(got) ? 0 : INFINITY;
  if (std::isinf(rounded) || std::isinf(got)) return got == rounded ? 0 : INFINITY;
  int exponent = 0;
  std::frexp(rounded, &exponent);
  const int digits = sizeof(T) == 4 ? 24 : 53, least = sizeof(T) == 4 ? -149 : -1074;
  long double unit = std::ldexp(1.0L, exponent - digits > least ? exponent - digits : least);
  return static_cast<double>(std::fabs((static_cast<long double>(got) - reference) / unit));
}

template <typename T>
void record_near(const char* what, T got, Tolerance kind, double tolerance) {
  record_near(what, sizeof(T) == 4 ? "f32" : "f64", static_cast<double>(got), kind, tolerance);
}

/// At most so many ulps, or so much, from the reference. NaN equals NaN within ulps.
template <typename T>
void near(T got, long double reference, Tolerance kind, double tolerance, const char* what, long long index,
          const char* file, int line) {
  record_near(what, got, kind, tolerance);
  const double error = kind == Tolerance::Ulps
                           ? ulp_error<T>(got, reference)
                           : static_cast<double>(std::fabs(static_cast<long double>(got) - reference));
  if (error <= tolerance) return;
  char text[256];
  std::snprintf(text, sizeof text, "%s [%lld]: got %.17g, expected %.17Lg, %.3g %s away, at most %.3g", what, index,
                static_cast<double>(got), reference, error, kind == Tolerance::Ulps ? "ulps" : "in all", tolerance);
  fail(file, line, text);
}

/// Device memory that goes away with the scope; readable from the host after a synchronising call (managed memory).
template <typename T>
class Managed {
 public:
  explicit Managed(size_t count) : count_(count) {
    if (cudaMallocManaged(&data_, count * sizeof(T)) != cudaSuccess) std::abort();
    std::memset(static_cast<void*>(data_), 0, count * sizeof(T));
  }
  ~Managed() { (void)cudaFree(data_); }
  Managed(const Managed&) = delete;
  Managed& operator=(const Managed&) = delete;
  operator T*() { return data_; }
  T& operator[](size_t i) { return data_[i]; }
  size_t size() const { return count_; }

 private:
  T* data_ = nullptr;
  size_t count_;
};

inline int main(int argc, char** argv) {
  int failed = 0;
  for (const Case& c : cases()) {
    bool wanted = argc < 2;
    if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
      std::printf("%s\n", c.name);
      continue;
    }
    for (int i = 1; i < argc; ++i) wanted |= std::strcmp(argv[i], c.name) == 0;
    if (!wanted) continue;
    int before = failures();
    c.run();
    Values::of_the_case().write(c.name);
    bool ok = failures() == before;
    failed += !ok;
    std::printf("case %s: %s\n", c.name, ok ? "ok" : "FAILED");
    std::fflush(stdout);
  }
  return failed ? 1 : 0;
}

/// Runs every case in a process of its own: for cases that leave the device with a sticky error.
inline int isolated_main(int argc, char** argv) {
  if (argc > 1) return main(argc, argv);
  int failed = 0;
  for (const Case& c : cases()) {
    pid_t child = fork();
    if (child == 0) {
      execl("/proc/self/exe", argv[0], c.name, static_cast<char*>(nullptr));
      _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) std::printf("case %s: FAILED\n%s ended by signal %d\n", c.name, c.name, WTERMSIG(status));
    failed += status != 0;
  }
  return failed ? 1 : 0;
}

}  // namespace check

#define CASE(name)                                                      \
  static void case_##name();                                            \
  static const check::Registration register_##name(#name, case_##name); \
  static void case_##name()

#define EXPECT(condition) ((condition) ? (void)0 : check::fail(__FILE__, __LINE__, "expected " #condition))
#define EXPECT_EQUAL(got, expected) check::equal((got), (expected), #got, 0, __FILE__, __LINE__)
#define EXPECT_EQUAL_AT(i, got, expected) check::equal((got), (expected), #got, (i), __FILE__, __LINE__)
/// A double or float, with the sign of zeros and NaN.
#define EXPECT_SAME_AT(i, got, expected) check::same((got), (expected), #got, (i), __FILE__, __LINE__)
/// A double or float, so many units of its type's last place from the reference.
#define EXPECT_ULPS_AT(i, got, reference, bound) \
  check::near((got), (reference), check::Tolerance::Ulps, (bound), #got, (i), __FILE__, __LINE__)
/// A double or float, at most so far from the reference.
#define EXPECT_AROUND_AT(i, got, reference, bound) \
  check::near((got), (reference), check::Tolerance::Absolute, (bound), #got, (i), __FILE__, __LINE__)
#define EXPECT_CUDA(call, code) \
  check::equal(static_cast<int>(call), static_cast<int>(code), #call, 0, __FILE__, __LINE__)
#define CUDA_OK(call) \
  check::equal_unrecorded(static_cast<int>(call), static_cast<int>(cudaSuccess), #call, 0, __FILE__, __LINE__)

#define CHECK_MAIN()                \
  int main(int argc, char** argv) { \
    return check::main(argc, argv); \
  }

#define CHECK_ISOLATED_MAIN()                \
  int main(int argc, char** argv) {          \
    return check::isolated_main(argc, argv); \
  }
