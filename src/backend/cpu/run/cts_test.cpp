#include "backend/cpu/run/cpu_device.h"
#include "backend/cpu/run/device_fixture.h"
#include "hal/cts/suite.h"
#include "hal/cts/test_kernels.h"

// The cpu device in hal's conformance suite, with native kernels.

namespace cupola::cpu {
namespace {

using namespace hal::cts;

void write_index(ThreadContext* c, const std::byte* block) {
  const auto& p = parameters_of<WriteIndexParameters>(block);
  const uint64_t threads = uint64_t{c->ntid[0]} * c->ntid[1] * c->ntid[2];
  const auto i = static_cast<uint32_t>(linear_block(c) * threads + linear_thread(c));
  p.out[i] = p.base + i;
}

void block_sum(ThreadContext* c, const std::byte* block) {
  const auto& p = parameters_of<BlockSumParameters>(block);
  auto* shared = reinterpret_cast<uint32_t*>(c->shared_window);
  shared[c->tid[0]] = p.base + c->tid[0];
  c->services->barrier(c, 0, 0, 1);
  if (c->tid[0] != 127) return;
  uint32_t sum = 0;
  for (uint32_t i = 0; i < 128; ++i) sum += shared[i];
  p.out[c->ctaid[0]] = sum;
}

// The flag is set by a fill, whose stores are plain: a race in C++'s eyes.
__attribute__((no_sanitize("thread"))) void wait_for_flag(ThreadContext* c, const std::byte* block) {
  const auto& p = parameters_of<WaitForFlagParameters>(block);
  while (__atomic_load_n(p.flag, __ATOMIC_SEQ_CST) == 0)
    if (--c->fuel <= 0) c->services->poll(c);
  __atomic_fetch_add(p.seen, __atomic_load_n(p.flag, __ATOMIC_SEQ_CST), __ATOMIC_SEQ_CST);
}

void bad_store(ThreadContext* c, const std::byte*) {
  if (linear_thread(c) + 1 == c->ntid[0] && c->ctaid[0] + 1 == c->nctaid[0])
    *reinterpret_cast<volatile uint32_t*>(16) = 1;
}

std::shared_ptr<hal::Executable> make_kernels(hal::Device&) {
  auto result = std::make_shared<NativeExecutable>();
  result->add("write_index", write_index, {.rung = image::Rung::ThreadLoop});
  result->add("block_sum", block_sum, {}, 512);
  result->add("wait_for_flag", wait_for_flag, {.polls = true});
  result->add("bad_store", bad_store);
  return result;
}

[[maybe_unused]] const bool registered = register_backend(
    {.name = "cpu", .make = make_cpu_device, .make_kernels = make_kernels, .no_kernels_reason = "", .unsupported = {}});

}  // namespace
}  // namespace cupola::cpu
