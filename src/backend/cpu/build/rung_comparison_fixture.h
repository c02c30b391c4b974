#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "backend/cpu/build/differential_memory.h"
#include "backend/cpu/build/kernel_unit.h"
#include "backend/cpu/build/test_program.h"
#include "backend/cpu/run/cpu_device.h"

// Oracle: the same kernel run a thread at a time, of which everything it writes must be the same.

namespace cupola::cpu::build::testing {

/// Runs kernels of random_kernel.h a thread at a time and as they were built, and compares all memory that they write.
class RungComparison {
 public:
  struct Outcome {
    image::ByBlockClass<bool> runs;  ///< there is code for a warp of such blocks
    std::string difference;          ///< empty: none
  };

  explicit RungComparison(Dim3 blocks = {2}) : grid(blocks) {}

  Dim3 grid;

  Outcome compare(const std::string& text) {
    llvm::LLVMContext context;
    const char* keep = getenv("KEEP");
    auto built = build(parse(context, text), {.target = device_->properties().image_target, .keep = keep ? keep : ""});
    if (!built) return {.difference = "does not compile: " + built.error().message};
    Outcome outcome;
    image::ByBlockClass<image::WideEntry>& entries = built->kernels[0].wide_entries;
    for (const image::BlockClass blocks : image::kBlockClasses)
      outcome.runs[blocks] = entries[blocks].place != image::kNoEntry;
    const auto fast = load(*built);
    entries = {};
    const auto reference = load(*built);
    for (const Dim3& block : kBlocks) {
      if (!outcome.runs[image::class_of(block)] && !outcome.runs[image::BlockClass::Any]) continue;
      const DifferentialMemory expected = run(reference, block), found = run(fast, block);
      outcome.difference = expected.compare(found);
      if (outcome.difference.empty()) continue;
      outcome.difference += formatted(" (block {} x {} x {})", block.x, block.y, block.z);
      return outcome;
    }
    outcome.difference = compare_for_shape(text, reference, kBlocks[shaped_++ % std::size(kBlocks)]);
    return outcome;
  }

  /// For one shape only, with the first code for it or the hot one: a fifth of the time.
  std::string compare_for_shape(const std::string& text, uint64_t number) {
    return compare_for_shape(text, kBlocks[number % std::size(kBlocks)], number / std::size(kBlocks) % 2);
  }

  /// For blocks of several warps in a line, with hot code: only there do blocks meet between rows and turns.
  std::string compare_for_line(const std::string& text, uint64_t number) {
    static constexpr Dim3 kLines[] = {{64}, {33}, {100}, {40}};
    return compare_for_shape(text, kLines[number % std::size(kLines)], /*hot=*/true);
  }

  std::string compare_for_shape(const std::string& text, const Dim3& block, bool hot) {
    const auto reference = load_as(text, {image::BlockClass::One}),
               made = load_as(text, {image::class_of(block), block, hot});
    std::string difference = run(reference, block).compare(run(made, block));
    if (!difference.empty())
      difference += formatted(" ({}code for blocks of {} x {} x {})", hot ? "hot " : "", block.x, block.y, block.z);
    return difference;
  }

  /// With code for blocks of that shape alone.
  std::string compare_for_shape(const std::string& text, const Dim3& block) {
    llvm::LLVMContext context;
    auto built = build(parse(context, text), {.target = device_->properties().image_target});
    if (!built) return "does not compile: " + built.error().message;
    built->kernels[0].wide_entries = {};
    return compare_for_shape(text, load(*built), block);
  }

 private:
  static constexpr Dim3 kBlocks[] = {{32},       {64},       {96, 2}, {7, 5},   {33},    {100},
                                     {20},       {1, 32},    {1},     {16, 16}, {16, 2}, {16, 5},
                                     {16, 3, 3}, {16, 1, 4}, {8, 8},  {8, 4},   {8, 7},  {8, 1, 12}};

  std::shared_ptr<hal::Executable> load(const image::KernelImage& image) {
    return device_->load(image::serialize(image)).value();
  }

  std::string compare_for_shape(const std::string& text, const std::shared_ptr<hal::Executable>& reference,
                                const Dim3& block) {
    const DifferentialMemory expected = run(reference, block);
    for (const bool hot : {false, true}) {
      const std::string difference = expected.compare(run(load_as(text, {image::class_of(block), block, hot}), block));
      if (difference.empty()) continue;
      return difference +
             formatted(" ({}code for blocks of {} x {} x {} alone)", hot ? "hot " : "", block.x, block.y, block.z);
    }
    return "";
  }

  /// Compiles at the first launch, the code that is named.
  std::shared_ptr<hal::Executable> load_as(const std::string& text, const image::BlocksOfCode& blocks) {
    const BuildOptions options{.target = device_->properties().image_target, .later = true};
    const auto make = [options, blocks](std::span<const std::byte> unit, std::string_view,
                                        hal::Ask ask) -> Result<std::shared_ptr<const std::vector<std::byte>>> {
      if (ask == hal::Ask::Look) return nullptr;
      llvm::LLVMContext context;
      TRY(KernelUnit read, read_unit(context, unit));
      TRY(const image::KernelImage image,
          build_unit(std::move(read), blocks,
                     {.target = options.target, .keep = getenv("KEEP") ? getenv("KEEP") : ""}));
      return std::make_shared<const std::vector<std::byte>>(image::serialize(image));
    };
    llvm::LLVMContext context;
    image::KernelImage image = build(parse(context, text), options).value();
    image.kernels[0].begins_by_thread = false;  // or it would ask for that
    return device_->load(image::serialize(image), make).value();
  }

  DifferentialMemory run(const std::shared_ptr<hal::Executable>& executable, Dim3 block) {
    const uint64_t threads = grid.count() * block.count();
    DifferentialMemory memory(threads);
    const DifferentialMemory::Parameters parameters = memory.parameters();
    hal::Launch launch;
    launch.executable = executable;
    launch.grid = grid;
    launch.block = block;
    launch.parameters.resize(sizeof parameters);
    std::memcpy(launch.parameters.data(), &parameters, sizeof parameters);
    const uint64_t last = queue_->submit(std::move(launch));
    if (const Result<> result = queue_->progress()->wait(last); !result) {
      memory.failure = result.error().message;
      queue_ = nullptr;
      device_ = make_cpu_device();
      queue_ = device_->create_queue(0).value();
    }
    return memory;
  }

  std::unique_ptr<hal::Device> device_ = make_cpu_device();
  std::unique_ptr<hal::Queue> queue_ = device_->create_queue(0).value();
  size_t shaped_ = 0;  ///< of kBlocks, the next one whose shape is compiled for
};

/// A kernel whose `body` goes to %write with a word %r for the thread, or to %out.
inline std::string kernel_with(const std::string& body) {
  return R"(
    declare i32 @cupola.tid.x()
    declare i32 @cupola.tid.y()
    declare i32 @cupola.tid.z()
    declare i32 @cupola.ntid.x()
    declare i32 @cupola.ntid.y()
    declare i32 @cupola.laneid()
    declare i32 @cupola.vote(i32, i32, i32) convergent
    declare void @cupola.barrier(i32, i32) convergent
    declare i32 @cupola.barrier_reduce(i32, i32, i32, i32) convergent
    define ptx_kernel void @k(ptr %o8, ptr %o16, ptr %o32, ptr %o64, ptr %in, ptr %sums, i32 %n, i32 %total) {
      %x = call i32 @cupola.tid.x()
      %y = call i32 @cupola.tid.y()
      %z = call i32 @cupola.tid.z()
      %width = call i32 @cupola.ntid.x()
      %lines = call i32 @cupola.ntid.y()
      %lane = call i32 @cupola.laneid()
      %layers = mul i32 %z, %lines
      %line = add i32 %layers, %y
      %before = mul i32 %line, %width
      %me = add i32 %before, %x
      )" +
         body + R"(
    write:
      %me64 = zext i32 %me to i64
      %place = getelementptr i32, ptr %o32, i64 %me64
      store i32 %r, ptr %place
      br label %out
    out:
      ret void
    })";
}

}  // namespace cupola::cpu::build::testing
