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
    bool runs_shape = false;         ///< all code that was made for one shape is for a warp
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
    const Outcome shaped = compare_both(text, reference, kBlocks[shaped_++ % std::size(kBlocks)]);
    outcome.runs_shape = shaped.runs_shape;
    outcome.difference = shaped.difference;
    return outcome;
  }

  /// For one shape only, with the first code for it or the hot one: a fifth of the time.
  Outcome compare_by_number(const std::string& text, uint64_t number) {
    return compare_one(text, kBlocks[number % std::size(kBlocks)], number / std::size(kBlocks) % 2);
  }

  /// For blocks of several warps in a line, with hot code: only there do blocks meet between rows and turns.
  Outcome compare_for_line(const std::string& text, uint64_t number) {
    static constexpr Dim3 kLines[] = {{64}, {33}, {100}, {40}};
    return compare_one(text, kLines[number % std::size(kLines)], /*hot=*/true);
  }

  /// What differs with code for blocks of that shape; that the code is for a thread is a difference.
  std::string compare_for_shape(const std::string& text, const Dim3& block, bool hot) {
    return difference_of(compare_one(text, block, hot));
  }

  /// With the first code for them and the hot one.
  std::string compare_for_shape(const std::string& text, const Dim3& block) {
    llvm::LLVMContext context;
    auto built = build(parse(context, text), {.target = device_->properties().image_target});
    if (!built) return "does not compile: " + built.error().message;
    built->kernels[0].wide_entries = {};
    return difference_of(compare_both(text, load(*built), block));
  }

 private:
  /// Code that was made for some blocks.
  struct Loaded {
    std::shared_ptr<hal::Executable> executable;
    bool is_wide = false;  ///< it is for a warp, and for their class
  };

  static constexpr Dim3 kBlocks[] = {{32},       {64},       {96, 2}, {7, 5},   {33},    {100},
                                     {20},       {1, 32},    {3},     {16, 16}, {16, 2}, {16, 5},
                                     {16, 3, 3}, {16, 1, 4}, {8, 8},  {8, 4},   {8, 7},  {8, 1, 12}};

  std::shared_ptr<hal::Executable> load(const image::KernelImage& image) {
    return device_->load(image::serialize(image)).value();
  }

  static std::string difference_of(const Outcome& outcome) {
    if (!outcome.difference.empty() || outcome.runs_shape) return outcome.difference;
    return "nothing to compare: the code runs a thread at a time";
  }

  Outcome compare_one(const std::string& text, const Dim3& block, bool hot) {
    const image::KernelImage kernel = for_any_blocks(text);
    return compare_with(run(load_as(kernel, {image::BlockClass::One}).executable, block), kernel, block, hot);
  }

  /// The first code for the shape and the hot one.
  Outcome compare_both(const std::string& text, const std::shared_ptr<hal::Executable>& reference, const Dim3& block) {
    const DifferentialMemory expected = run(reference, block);
    const image::KernelImage kernel = for_any_blocks(text);
    const Outcome first = compare_with(expected, kernel, block, /*hot=*/false);
    if (!first.difference.empty()) return first;
    Outcome hot = compare_with(expected, kernel, block, /*hot=*/true);
    hot.runs_shape &= first.runs_shape;
    return hot;
  }

  Outcome compare_with(const DifferentialMemory& expected, const image::KernelImage& kernel, const Dim3& block,
                       bool hot) {
    const Loaded made = load_as(kernel, {image::class_of(block), block, hot});
    Outcome outcome{.runs_shape = made.is_wide, .difference = expected.compare(run(made.executable, block))};
    if (!outcome.difference.empty())
      outcome.difference +=
          formatted(" ({}code for blocks of {} x {} x {})", hot ? "hot " : "", block.x, block.y, block.z);
    return outcome;
  }

  /// Of which code is made once it is known for which blocks.
  image::KernelImage for_any_blocks(const std::string& text) {
    llvm::LLVMContext context;
    image::KernelImage image =
        build(parse(context, text), {.target = device_->properties().image_target, .later = true}).value();
    image.kernels[0].begins_by_thread = false;  // or it would ask for that
    return image;
  }

  /// With the code that is named, whatever is asked for.
  Loaded load_as(const image::KernelImage& image, const image::BlocksOfCode& blocks) {
    const char* keep = getenv("KEEP");
    const BuildOptions options{.target = device_->properties().image_target, .keep = keep ? keep : ""};
    llvm::LLVMContext context;
    const image::KernelImage code =
        build_unit(read_unit(context, image.kernels[0].unit).value(), blocks, options).value();
    const bool is_wide = code.kernels[0].wide_entries[blocks.blocks].place != image::kNoEntry;
    const auto bytes = std::make_shared<const std::vector<std::byte>>(image::serialize(code));
    const auto make = [bytes](std::span<const std::byte>, std::string_view,
                              hal::Ask ask) -> Result<std::shared_ptr<const std::vector<std::byte>>> {
      return ask == hal::Ask::Look ? nullptr : bytes;
    };
    return {device_->load(image::serialize(image), make).value(), is_wide};
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
