#include "backend/cpu/run/image_executable.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <future>
#include <new>
#include <vector>

#include "backend/cpu/run/aligned_mapping.h"
#include "backend/cpu/run/background.h"
#include "backend/cpu/run/kernel_versions.h"
#include "base/demangled.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/settings.h"
#include "base/steady_clock.h"
#include "image/block_class.h"
#include "image/loader.h"

namespace cupola::cpu {
namespace {

using image::BlockClass;

/// A kernel of the executable. Any thread.
struct Kernel {
  Kernel(image::Kernel& from, bool hot)
      : unit(std::move(from.unit)), begins_by_thread(from.begins_by_thread), versions(hot) {}

  const std::vector<std::byte> unit;
  const bool begins_by_thread;
  KernelVersions versions;
};

/// What an image has for these blocks: code for any block where there is none for those of the class, and code for a
/// thread where there is neither.
KernelCode code_for(BlockClass blocks, const image::Kernel& from, const image::LoadedSegment& segment) {
  KernelCode code{.rung = from.rung,
                  .polls = from.polls,
                  .flush_denormals = from.flush_denormals,
                  .most_instructions = from.most_instructions};
  uint64_t place = from.entry;
  if (blocks != BlockClass::One) {
    const bool is_own = from.wide_entries[blocks].place != image::kNoEntry;
    const image::WideEntry& wide = from.wide_entries[is_own ? blocks : BlockClass::Any];
    if (wide.place != image::kNoEntry) {
      place = wide.place;
      code.width = image::cpu::kWarp;
      code.whole_block = wide.whole_block;
      code.needs_places = !is_own || !is_in_row(blocks);
    }
  }
  // The manifest's offset becomes a function of the type that the format promises.
  code.entry = reinterpret_cast<image::cpu::KernelEntry>(const_cast<void*>(segment.at(place)));
  return code;
}

/// What runs such blocks: with CUPOLA_RUNG=threads, as if each thread were alone.
BlockClass class_to_run(const Dim3& block) {
  static const bool in_turn = settings().rung == "threads";
  return in_turn ? BlockClass::One : image::class_of(block);
}

class ImageExecutable final : public CpuExecutable, public std::enable_shared_from_this<ImageExecutable> {
 public:
  ImageExecutable(image::KernelImage image, std::unique_ptr<image::LoadedSegment> segment, AlignedMapping data,
                  hal::CodeSource source, const HotPolicy& policy, uint32_t workers)
      : target_(std::move(image.target)),
        data_(std::move(data)),
        source_(std::move(source)),
        policy_(policy),
        workers_(workers) {
    set_module_data(data_.data(), image.data.size());
    for (image::Kernel& from : image.kernels) {
      Kernel& kernel = own_kernels_.emplace_back(from, policy_.when != HotPolicy::Never);
      for (const BlockClass blocks : image::kAllBlockClasses)
        if (from.runs(blocks)) kernel.versions.take(blocks, code_for(blocks, from, *segment));
      add_kernel(std::move(from.info));
    }
    segments_.push_back(std::move(segment));
    for (const image::DataSymbol& symbol : image.symbols) {
      const auto address = reinterpret_cast<hal::Address>(data_.data() + symbol.offset);
      add_symbol({symbol.name, address, symbol.size, symbol.constant});
    }
  }

  const KernelCode* code(uint32_t kernel, const Dim3& block) const override {
    return own_kernels_[kernel].versions.code(class_to_run(block), block);
  }

  bool has_code(uint32_t kernel) const override { return own_kernels_[kernel].versions.has_code(); }

  Result<> prepare(uint32_t index, const Dim3& block) override {
    const Kernel& kernel = own_kernels_[index];
    const BlockClass blocks = class_to_run(block);
    const bool is_all_there = kernel.unit.empty() && kernel.versions.code_of_class(blocks);
    if (is_all_there || kernel.versions.is_ready(blocks, block)) [[likely]]
      return {};
    return make_code(index, blocks, block);
  }

 private:
  /// A worker that ran code for a thread for long waits so long at most for the code that takes its place.
  static constexpr std::chrono::milliseconds kMostWait{500};
  /// Stacks of threads, on all workers, that code for a thread may ask for where code for warps would ask for none: an
  /// eighth of what Linux gives a process (stack_pool.h).
  static constexpr uint64_t kMostStacks = 4096;

  /// Code as it was made, and whether hot code would be better.
  struct Made {
    KernelCode code;
    bool improvable = false;
  };

  /// Several threads may do so for the same blocks: the first that is done gives them their code.
  Result<> make_code(uint32_t index, BlockClass blocks, const Dim3& block) {
    KernelVersions& versions = own_kernels_[index].versions;
    const KernelVersions::Of of = versions.claim(blocks, block);
    if (of == KernelVersions::Of::Class) return make_for_class(index, blocks);
    if (policy_.when != HotPolicy::Never && take_hot_first(index, blocks, block)) return {};
    const uint64_t begin = steady_nanoseconds();
    Made first;
    if (of == KernelVersions::Of::FirstShape) {
      TRY(first, make_first(index, blocks, block));
    } else {
      TRY(make_for_class(index, blocks));
      first = {*versions.code_of_class(blocks), policy_.when == HotPolicy::Later};
      first.improvable &= first.code.width > 1;
    }
    Background::ends_with_main_thread();
    if (policy_.when != HotPolicy::Later || !first.improvable) {
      versions.take(blocks, block, first.code);
      return {};
    }
    const uint64_t enough = std::max(policy_.least_nanoseconds, steady_nanoseconds() - begin);
    const bool is_for_thread = first.code.width == 1;
    versions.take(blocks, block, first.code, enough, [this, index, blocks, block, enough, is_for_thread](bool goes_on) {
      ask_for_hot(index, {blocks, block, true}, enough, is_for_thread && goes_on);
    });
    return {};
  }

  /// For the shape that comes first.
  Result<Made> make_first(uint32_t index, BlockClass blocks, const Dim3& block) {
    if (policy_.when == HotPolicy::Later && own_kernels_[index].begins_by_thread) {
      TRY(make_for_class(index, BlockClass::One));
      const KernelCode& code = *own_kernels_[index].versions.code_of_class(BlockClass::One);
      const bool has_stacks = code.rung == image::Rung::ThreadLoop || block.count() * workers_ <= kMostStacks;
      if (!code.polls && has_stacks) return Made{code, true};
    }
    return make(index, {blocks, block});
  }

  /// So that the compiler has a core, which makes more of it than code for a thread. One worker of the process at a
  /// time: there is one compiler.
  static void wait_a_while(const std::future<void>& made) {
    static constinit std::atomic_flag somebody_waits;
    if (somebody_waits.test_and_set(std::memory_order_acquire)) return;
    made.wait_for(kMostWait);
    somebody_waits.clear(std::memory_order_release);
  }

  Result<> make_for_class(uint32_t index, BlockClass blocks) {
    KernelVersions& versions = own_kernels_[index].versions;
    if (versions.code_of_class(blocks)) return {};
    TRY(const Made made, make(index, {blocks}));
    versions.take(blocks, made.code);
    return {};
  }

  /// Where hot code need not be made, or not later, there is no need for other code.
  bool take_hot_first(uint32_t index, BlockClass blocks, const Dim3& block) {
    const hal::Ask ask = policy_.when == HotPolicy::Now ? hal::Ask::Make : hal::Ask::Look;
    const Result<Made> made = make(index, {blocks, block, true}, ask);
    if (!made) {
      stays_as_it_is(index, {blocks, block, true}, made.error());
      return false;
    }
    if (!made->code.entry) return false;
    own_kernels_[index].versions.take(blocks, block, made->code);
    return true;
  }

  /// On a worker, which waits a while for it if it `may_wait`.
  void ask_for_hot(uint32_t index, const image::BlocksOfCode& of, uint64_t after_nanoseconds, bool may_wait) noexcept {
    try {
      const std::future<void> made = make_hot_later(index, of, after_nanoseconds);
      if (may_wait) wait_a_while(made);
    } catch (const std::bad_alloc&) {
      stays_as_it_is(index, of, {ErrorCode::OutOfMemory, "no host memory"});
    }
  }

  /// While a launch of the kernel goes on. The answer comes when the code is there, or will not be.
  std::future<void> make_hot_later(uint32_t index, const image::BlocksOfCode& of, uint64_t after_nanoseconds) {
    const auto made = std::make_shared<std::promise<void>>();
    std::future<void> result = made->get_future();
    const auto work = [self = shared_from_this(), made, index, of, after_nanoseconds] {
      self->make_hot(index, of, after_nanoseconds);
      made->set_value();
    };
    if (const Result<> submitted = Background::submit(work); !submitted) stays_as_it_is(index, of, submitted.error());
    return result;
  }

  void make_hot(uint32_t index, const image::BlocksOfCode& of, uint64_t after_nanoseconds) noexcept {
    try {
      const uint64_t begin = steady_nanoseconds();
      const Result<Made> made = make(index, of);
      if (!made) return stays_as_it_is(index, of, made.error());
      if (!own_kernels_[index].versions.take_hot(of.blocks, *of.shape, made->code))
        return stays_as_it_is(index, of, {ErrorCode::InvalidImage, "its hot code waits in other ways"});
      log::line(log::Topic::Compile,
                "kernel {} (blocks {}): takes the place of the first code, after {:.1f} ms of it; made in {:.1f} ms",
                kernels()[index].name, words_of(of), milliseconds(after_nanoseconds),
                milliseconds(steady_nanoseconds() - begin));
    } catch (const std::bad_alloc&) {
      stays_as_it_is(index, of, {ErrorCode::OutOfMemory, "no host memory"});
    }
  }

  static double milliseconds(uint64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-6; }

  void stays_as_it_is(uint32_t index, const image::BlocksOfCode& of, const Error& why) const {
    log::line(log::Topic::Compile, "kernel {} (blocks {}): could not be made, and the first code stays: {}",
              kernels()[index].name, words_of(of), why.message);
  }

  /// Without an entry where it was only looked for, and is not there.
  Result<Made> make(uint32_t index, const image::BlocksOfCode& of, hal::Ask ask = hal::Ask::Make) EXCLUDES(mutex_) {
    const Kernel& kernel = own_kernels_[index];
    const std::string& name = kernels()[index].name;
    if (kernel.unit.empty() || !source_)
      return fail(ErrorCode::NoBinaryForGpu,
                  "the image has no code of kernel {} for blocks of this shape, and there is "
                  "nothing to compile",
                  demangled(name));
    TRY(const auto bytes, source_(kernel.unit, image::request_name(of), ask));
    if (!bytes && ask == hal::Ask::Look) return Made();
    TRY(image::KernelImage image, image::deserialize(*bytes));
    if (image.target != target_ || image.kernels.size() != 1 || !image.kernels[0].runs(of.blocks))
      return fail(ErrorCode::InvalidImage, "the code made for kernel {} is not what was asked for", demangled(name));
    TRY(auto segment, image::LoadedSegment::load(image));
    const Made made{code_for(of.blocks, image.kernels[0], *segment), image.kernels[0].improvable};
    Lock lock(mutex_);
    segments_.push_back(std::move(segment));
    return made;
  }

  const std::string target_;
  const AlignedMapping data_;
  const hal::CodeSource source_;
  const HotPolicy policy_;
  const uint32_t workers_;
  std::deque<Kernel> own_kernels_;
  Mutex mutex_;
  std::vector<std::unique_ptr<image::LoadedSegment>> segments_ GUARDED_BY(mutex_);
};

/// As CUDA's assembler: opting in to more is for dynamic shared memory only.
Result<> check_shared(const image::KernelImage& image, uint32_t most) {
  for (const image::Kernel& kernel : image.kernels)
    if (kernel.info.static_shared_bytes > most)
      return fail(ErrorCode::InvalidPtx,
                  "kernel {} has {} bytes of static shared memory; the most is {}: make the array dynamic (extern "
                  "__shared__) and raise the kernel's maximum dynamic shared memory attribute",
                  demangled(kernel.info.name), kernel.info.static_shared_bytes, most);
  return {};
}

}  // namespace

HotPolicy HotPolicy::of(const Settings& settings) {
  return {.when = settings.hot == "off" ? Never : settings.hot == "now" ? Now : Later};
}

Result<std::shared_ptr<CpuExecutable>> load_image(std::span<const std::byte> bytes, const hal::DeviceProperties& device,
                                                  hal::CodeSource source, const HotPolicy& policy) {
  TRY(image::KernelImage image, image::deserialize(bytes));
  if (image.target != device.image_target)
    return fail(ErrorCode::NoBinaryForGpu, "the kernel image is for '{}'; this device is '{}'", image.target,
                device.image_target);
  TRY(check_shared(image, device.shared_bytes_per_block));
  TRY(auto segment, image::LoadedSegment::load(image));
  constexpr uint64_t kPage = 4096;
  const uint64_t size = (std::max<uint64_t>(image.data.size(), 1) + kPage - 1) / kPage * kPage;
  AlignedMapping data = AlignedMapping::reserve(size, std::max(kPage, image.data_alignment), PROT_READ | PROT_WRITE);
  if (!data.data()) return fail(ErrorCode::OutOfMemory, "no memory for {} bytes of module data", size);
  image::initialise_data(data.data(), image, *segment);
  return std::make_shared<ImageExecutable>(std::move(image), std::move(segment), std::move(data), std::move(source),
                                           policy, device.multiprocessors);
}

}  // namespace cupola::cpu
