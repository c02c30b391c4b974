#pragma once

// The frame of ./bench cpu. A case is a kernel in CUDA, the loops that do the same in OpenMP and, for most, the kernel
// in OpenCL. All versions are first run once and compared with the natural loops; then they and the limit's loops
// are timed in turns (g++, clang++, expert, ours, OpenCL, limits, g++, ...), so that what disturbs the machine disturbs
// all of them.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "../opencl.h"
#include "array.h"
#include "limits.h"
#include "loops.h"

namespace bench {

/// The least work that a case needs; what is 0 is not counted. Bytes are those that must come from or go to memory.
struct Work {
  double bytes = 0, flops = 0, integer_operations = 0;
};

/// What this machine does in a second, measured at the start of a run: all cores, memory far beyond the caches, and
/// 32-bit numbers.
struct Machine {
  double bytes = 0, flops = 0, integer_operations = 0;
};

/// What the time is, in seconds.
using Clock = double (*)();

/// An array that a case writes, and how its values are compared.
struct Output {
  void* data;
  size_t bytes;
  /// Why the values differ from the expected ones; empty if they do not.
  std::function<std::string(const void* expected)> difference;
};

/// Elements must be the same but for a share of them, which is above 0 only where rounding decides on a branch.
template <typename T>
Output exact(const Array<T>& array, double share = 0) {
  return {array.data(), array.bytes(), [&array, share](const void* expected) -> std::string {
            const T* wanted = static_cast<const T*>(expected);
            size_t wrong = 0, first = 0;
            for (size_t i = array.size(); i-- > 0;)
              if (array[i] != wanted[i]) ++wrong, first = i;
            if (static_cast<double>(wrong) <= share * static_cast<double>(array.size())) return {};
            return std::to_string(wrong) + " elements differ, the first at " + std::to_string(first) + ": " +
                   std::to_string(array[first]) + ", not " + std::to_string(wanted[first]);
          }};
}

/// Elements may differ by `tolerance` times the larger of the expected value and `scale`, and a share of them by more.
inline Output near(const Array<float>& array, double tolerance, double scale = 1, double share = 0) {
  return {array.data(), array.bytes(), [&array, tolerance, scale, share](const void* expected) -> std::string {
            const float* wanted = static_cast<const float*>(expected);
            size_t wrong = 0, first = 0;
            for (size_t i = array.size(); i-- > 0;) {
              const double bound = tolerance * std::max<double>(scale, std::fabs(wanted[i]));
              if (!(std::fabs(double{array[i]} - double{wanted[i]}) <= bound)) ++wrong, first = i;
            }
            if (static_cast<double>(wrong) <= share * static_cast<double>(array.size())) return {};
            return std::to_string(wrong) + " elements differ, the first at " + std::to_string(first) + ": " +
                   std::to_string(array[first]) + ", not " + std::to_string(wanted[first]);
          }};
}

template <typename Loops>
struct Case {
  std::string name;
  std::string trait = {};  ///< "barriers", "shuffles" or "divergence" where threads meet or go different ways
  Work work;
  std::vector<Output> outputs;
  std::function<void()> prepare = {};  ///< before each run, not timed: for cases that work in place
  std::function<void()> ours;
  std::function<void(const Loops&)> loops;
  std::function<void(OpenCl&)> opencl = {};
  /// Of cases that memory bounds: loops that move the same bytes and do nothing else. The fastest one's time is the
  /// limit, which without them is what the machine's figures make of `work`.
  std::vector<std::function<void()>> limits = {};
};

class Suite {
 public:
  /// Runs the cases whose names match `pattern`, `rounds` times each.
  Suite(const Machine& machine, const std::string& pattern, int rounds, Clock clock)
      : machine_(machine), pattern_(pattern), rounds_(rounds), clock_(clock) {}

  /// The kernels of the cases that follow, in OpenCL C.
  void use_opencl(const char* source) { opencl_.use(source); }

  template <typename Loops>
  void run(const Case<Loops>& c) {
    if (!std::regex_search(c.name, pattern_)) return;
    const Baselines<Loops> tables = baselines<Loops>();
    std::vector<Version> versions;
    const auto add = [&](const char* name, const Loops* table) {
      if (table) versions.push_back({name, [&c, table] { c.loops(*table); }});
    };
    add("omp_gcc", tables.gcc);
    add("omp_clang", tables.clang);
    add("omp_expert", tables.expert);
    versions.push_back({"ours", [this, &c] {
                          c.ours();
                          if (const cudaError_t status = cudaDeviceSynchronize();
                              status != cudaSuccess && error_.empty())
                            error_ = cudaGetErrorString(status);
                        }});
    if (c.opencl && opencl_.ready())
      versions.push_back({"pocl", [this, &c] {
                            c.opencl(opencl_);
                            opencl_.finish();
                          }});
    compare(c.name, c.trait, c.work, c.outputs, c.prepare, std::move(versions), c.limits);
  }

  bool failed() const { return failed_; }

 private:
  struct Version {
    std::string name;
    std::function<void()> run;
    std::vector<double> times = {};
  };

  void compare(const std::string& name, const std::string& trait, const Work& work, const std::vector<Output>& outputs,
               const std::function<void()>& prepare, std::vector<Version> versions,
               const std::vector<std::function<void()>>& limits);
  bool check(const std::string& name, const std::vector<Output>& outputs, const std::function<void()>& prepare,
             std::vector<Version>& versions);
  double limit_seconds(const Work& work) const;

  const Machine machine_;
  const std::regex pattern_;
  const int rounds_;
  const Clock clock_;
  OpenCl opencl_;
  std::string error_;  ///< the first error of our kernels
  bool failed_ = false;
};

void run_streaming(Suite& suite);
void run_stencils(Suite& suite);
void run_matrices(Suite& suite);
void run_reductions(Suite& suite);
void run_transposes(Suite& suite);
void run_graphs(Suite& suite);
void run_sorting(Suite& suite);
void run_layers(Suite& suite);
void run_bodies(Suite& suite);
void run_divergence(Suite& suite);
void run_integers(Suite& suite);

}  // namespace bench
