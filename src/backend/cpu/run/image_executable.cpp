#include "backend/cpu/run/image_executable.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <vector>

#include "backend/cpu/run/aligned_mapping.h"
#include "base/mutex.h"
#include "base/settings.h"
#include "image/block_class.h"
#include "image/loader.h"

namespace cupola::cpu {
namespace {

using image::BlockClass;

/// A kernel with the code that is there of it. Any thread.
class Kernel {
 public:
  std::vector<std::byte> unit;  ///< constant once the executable is made

  /// Null: not there.
  const KernelCode* code(BlockClass blocks, const Dim3& block) const {
    const Shaped* shaped = found_shaped_.load(std::memory_order_acquire);
    return shaped && blocks != BlockClass::One && shaped->shape == block ? &shaped->code : code(blocks);
  }
  bool has_code() const {
    return found_shaped_.load(std::memory_order_acquire) ||
           std::ranges::any_of(image::kAllBlockClasses, [&](BlockClass blocks) { return code(blocks); });
  }

  /// What is to be made for such blocks: the shape that comes first gets code of its own, as most kernels know only
  /// one; all others that of their class. So do shapes that look as if they came from the data (min(n, 256) threads),
  /// of which the cache would get one after the other.
  image::BlocksOfCode claim(BlockClass blocks, const Dim3& block) EXCLUDES(mutex_) {
    if (blocks != BlockClass::Rows && blocks != BlockClass::Rows16 && blocks != BlockClass::Rows8) return {blocks};
    Lock lock(mutex_);
    if (!shape_) shape_ = block;
    return *shape_ == block ? image::BlocksOfCode{blocks, block} : image::BlocksOfCode{blocks};
  }

  /// Takes what the image has for these blocks, unless there is code already.
  void take(const image::BlocksOfCode& of, const image::Kernel& from, const image::LoadedSegment& segment)
      EXCLUDES(mutex_) {
    Lock lock(mutex_);
    if (!from.runs(of.blocks)) return;
    if (of.shape) {
      if (found_shaped_.load(std::memory_order_relaxed)) return;
      shaped_ = {*of.shape, code_for(of.blocks, from, segment)};
      found_shaped_.store(&shaped_, std::memory_order_release);
    } else if (!code(of.blocks)) {
      codes_[of.blocks] = code_for(of.blocks, from, segment);
      found_[of.blocks].store(&codes_[of.blocks], std::memory_order_release);
    }
  }

 private:
  const KernelCode* code(BlockClass blocks) const { return found_[blocks].load(std::memory_order_acquire); }

  /// Code for any block where there is none for those of the class, and code for a thread where there is neither.
  static KernelCode code_for(BlockClass blocks, const image::Kernel& from, const image::LoadedSegment& segment) {
    KernelCode code{.rung = from.rung, .polls = from.polls, .flush_denormals = from.flush_denormals};
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

  struct Shaped {
    Dim3 shape;
    KernelCode code;
  };

  image::ByBlockClass<std::atomic<const KernelCode*>> found_;
  std::atomic<const Shaped*> found_shaped_ = nullptr;
  Mutex mutex_;
  image::ByBlockClass<KernelCode> codes_;         ///< written once each, under the lock
  std::optional<Dim3> shape_ GUARDED_BY(mutex_);  ///< the one that there is code of its own for, or will be
  Shaped shaped_;                                 ///< written once, under the lock
};

/// What runs such blocks: with CUPOLA_RUNG=threads, as if each thread were alone.
BlockClass class_to_run(const Dim3& block) {
  static const bool in_turn = settings().rung == "threads";
  return in_turn ? BlockClass::One : image::class_of(block);
}

class ImageExecutable final : public CpuExecutable {
 public:
  ImageExecutable(image::KernelImage image, std::unique_ptr<image::LoadedSegment> segment, AlignedMapping data,
                  hal::CodeSource source)
      : target_(std::move(image.target)),
        data_(std::move(data)),
        source_(std::move(source)),
        own_kernels_(image.kernels.size()) {
    set_module_data(data_.data(), image.data.size());
    for (size_t i = 0; i < image.kernels.size(); ++i) {
      image::Kernel& from = image.kernels[i];
      own_kernels_[i].unit = std::move(from.unit);
      for (const BlockClass blocks : image::kAllBlockClasses) own_kernels_[i].take({blocks}, from, *segment);
      add_kernel(std::move(from.info));
    }
    segments_.push_back(std::move(segment));
    for (const image::DataSymbol& symbol : image.symbols) {
      const auto address = reinterpret_cast<hal::Address>(data_.data() + symbol.offset);
      add_symbol({symbol.name, address, symbol.size, symbol.constant});
    }
  }

  const KernelCode* code(uint32_t kernel, const Dim3& block) const override {
    return own_kernels_[kernel].code(class_to_run(block), block);
  }

  bool has_code(uint32_t kernel) const override { return own_kernels_[kernel].has_code(); }

  Result<> prepare(uint32_t kernel, const Dim3& block) override {
    if (code(kernel, block)) [[likely]]
      return {};
    return make_code(kernel, own_kernels_[kernel].claim(class_to_run(block), block));
  }

 private:
  /// Several threads may do so for the same blocks: the first that is done gives them their code.
  Result<> make_code(uint32_t index, const image::BlocksOfCode& blocks) EXCLUDES(mutex_) {
    Kernel& kernel = own_kernels_[index];
    const std::string& name = kernels()[index].name;
    if (kernel.unit.empty() || !source_)
      return fail(ErrorCode::NoBinaryForGpu,
                  "the image has no code of kernel {} for blocks of this shape, and there is "
                  "nothing to compile",
                  name);
    TRY(const auto bytes, source_(kernel.unit, image::request_name(blocks)));
    TRY(image::KernelImage image, image::deserialize(*bytes));
    if (image.target != target_ || image.kernels.size() != 1 || !image.kernels[0].runs(blocks.blocks))
      return fail(ErrorCode::InvalidImage, "the code made for kernel {} is not what was asked for", name);
    TRY(auto segment, image::LoadedSegment::load(image));
    Lock lock(mutex_);
    segments_.push_back(std::move(segment));
    kernel.take(blocks, image.kernels[0], *segments_.back());
    return {};
  }

  const std::string target_;
  const AlignedMapping data_;
  const hal::CodeSource source_;
  std::vector<Kernel> own_kernels_;
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
                  kernel.info.name, kernel.info.static_shared_bytes, most);
  return {};
}

}  // namespace

Result<std::shared_ptr<CpuExecutable>> load_image(std::span<const std::byte> bytes, const hal::DeviceProperties& device,
                                                  hal::CodeSource source) {
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
  return std::make_shared<ImageExecutable>(std::move(image), std::move(segment), std::move(data), std::move(source));
}

}  // namespace cupola::cpu
