// ./bench cpu: kernels beside what OpenMP and OpenCL do on the same cores, in the same process and on the same data.
// cpu [PATTERN [ROUNDS [cpu-time]]] runs the cases whose names match a regular expression, ROUNDS (1 or more) times
// each.

#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "../measure.h"
#include "limits.h"
#include "suite.h"

namespace {

/// What all threads have worked, spread over the cores: tells about code on a machine that others use at the same time.
/// It leaves out what threads wait, so it is no measure of speed.
double worked() {
  timespec time = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec)) /
         std::thread::hardware_concurrency();
}

/// Seconds of the fastest of a few calls: limits are what the machine can do at best.
double best_seconds(bench::Clock clock, const std::function<void()>& run) {
  double best = 1e9;
  for (int i = 0; i < 15; ++i) {
    const double begin = clock();
    run();
    best = std::min(best, clock() - begin);
  }
  return best;
}

bench::Machine measure_machine(bench::Clock clock) {
  constexpr size_t kCount = size_t{1} << 26;
  constexpr long kRounds = 1'000'000;
  bench::Array<float> from(kCount), to(kCount);
  volatile double kept = 0;
  const auto bytes_per_second = [&](const bench::Arrays& arrays) {
    double best = 0;
    for (const std::function<void()>& move : bench::limit_moves(arrays))
      best = std::max(best, 4.0 * kCount * (arrays.to ? 2 : 1) / best_seconds(clock, move));
    return best;
  };
  const double copied = bytes_per_second({{from}, to, kCount}), read = bytes_per_second({{from}, nullptr, kCount});
  bench::Machine machine = {
      .bytes = std::max(copied, read),
      .flops = bench::limit_flops(0) / best_seconds(clock, [&] { kept = bench::limit_flops(kRounds); }) * kRounds,
      .integer_operations =
          bench::limit_integers(0) / best_seconds(clock, [&] { kept = bench::limit_integers(kRounds); }) * kRounds};
  bench::metric("cpu/limit-copy-gigabytes-per-second", std::to_string(copied / 1e9));
  bench::metric("cpu/limit-read-gigabytes-per-second", std::to_string(read / 1e9));
  bench::metric("cpu/limit-gigaflops", std::to_string(machine.flops / 1e9));
  bench::metric("cpu/limit-integer-gigaops", std::to_string(machine.integer_operations / 1e9));
  return machine;
}

}  // namespace

int main(int argc, char** argv) {
  // OpenMP's idle threads would take the core that the next version needs; runtimes read this when they are loaded.
  // What is timed is the code that kernels come to run when they run for long.
  if (!std::getenv("KMP_BLOCKTIME")) {
    setenv("KMP_BLOCKTIME", "1", 1);
    setenv("GOMP_SPINCOUNT", "100000", 1);
    setenv("CUPOLA_HOT", "now", 0);
    execv("/proc/self/exe", argv);
  }
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 11;
  if (rounds < 1) {
    std::fprintf(stderr, "cpu: '%s' is no number of rounds: 1 or more\n", argv[2]);
    return 2;
  }
  const bench::Clock clock = argc > 3 && argv[3] == std::string("cpu-time") ? &worked : &bench::now;
  bench::Suite suite(measure_machine(clock), argc > 1 ? argv[1] : "", rounds, clock);
  bench::run_streaming(suite);
  bench::run_stencils(suite);
  bench::run_matrices(suite);
  bench::run_reductions(suite);
  bench::run_transposes(suite);
  bench::run_graphs(suite);
  bench::run_sorting(suite);
  bench::run_layers(suite);
  bench::run_bodies(suite);
  bench::run_divergence(suite);
  bench::run_integers(suite);
  return suite.failed() ? 1 : 0;
}
