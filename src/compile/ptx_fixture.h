#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "backend/cpu/run/cpu_device.h"
#include "compile/code_fixture.h"

// For tests only.

namespace cupola {

using Words = std::vector<uint64_t>;

/// PTX text through the C entry onto the cpu device.
class Ptx : public ::testing::Test {
 protected:
  /// A kernel k(in, out) in whose body %r0 is the thread, %x0 and %x1 are the parameters and %x2 is the address of the
  /// thread's word of out; `tile` is 4096 bytes of shared memory, whose address is in %r1.
  void load(const std::string& body, const std::string& declarations = "") {
    const std::string whole = ".version 8.7\n.target sm_90\n.address_size 64\n" + declarations + R"(
      .visible .entry k(.param .u64 in, .param .u64 out) {
      .reg .pred %p<8>; .reg .b16 %h<16>; .reg .b32 %r<64>; .reg .f32 %f<16>; .reg .f64 %d<8>; .reg .b64 %x<64>;
      .reg .b128 %q<4>;
      .shared .align 16 .b8 tile[4096];
      ld.param.u64 %x0, [in]; ld.param.u64 %x1, [out];
      mov.u32 %r0, %tid.x; mul.wide.u32 %x2, %r0, 8; add.u64 %x2, %x1, %x2; mov.u32 %r1, tile;
      )" + body + "\nret;\n}\n";
    auto loaded = load_code(*device_, image::CodeKind::Ptx, whole);
    ASSERT_TRUE(loaded) << body << loaded.error().message;
    executable_ = *loaded;
  }

  Result<> launch(uint32_t threads, void* in, void* out, uint32_t blocks = 1) {
    void* parameters[] = {in, out};
    hal::Launch command;
    command.executable = executable_;
    command.kernel = executable_->find_kernel("k").value();
    command.grid = {blocks};
    command.block = {threads};
    command.parameters.resize(sizeof parameters);
    std::memcpy(command.parameters.data(), parameters, sizeof parameters);
    return queue_->progress()->wait(queue_->submit(std::move(command)));
  }

  void run(uint32_t threads, void* in, void* out, uint32_t blocks = 1) {
    ASSERT_TRUE(executable_);
    const Result<> result = launch(threads, in, out, blocks);
    EXPECT_TRUE(result) << result.error().message;
  }

  /// What the threads leave in their words of out; `in` may be changed.
  Words results(const std::string& body, uint32_t threads, void* in = nullptr, const std::string& declarations = "") {
    load(body, declarations);
    Words out(threads, 0xdeadbeefdeadbeef);
    if (executable_) run(threads, in, out.data());
    return out;
  }

  std::unique_ptr<hal::Device> device_ = cpu::make_cpu_device();
  std::unique_ptr<hal::Queue> queue_ = device_->create_queue(0).value();
  std::shared_ptr<hal::Executable> executable_;
};

}  // namespace cupola
