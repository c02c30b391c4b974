#include "backend/cpu/run/image_executable.h"

#include <sys/mman.h>

#include <algorithm>

#include "backend/cpu/run/aligned_mapping.h"
#include "base/settings.h"
#include "image/loader.h"

namespace cupola::cpu {
namespace {

class ImageExecutable final : public CpuExecutable {
 public:
  ImageExecutable(const image::KernelImage& image, std::unique_ptr<image::LoadedSegment> segment, AlignedMapping data)
      : segment_(std::move(segment)), data_(std::move(data)) {
    set_module_data(data_.data(), image.data.size());
    for (const image::Kernel& kernel : image.kernels) {
      // The manifest's offset becomes a function of the type that the format promises.
      const auto code_at = [&](uint64_t offset) -> image::cpu::KernelEntry {
        if (offset == image::kNoEntry) return nullptr;
        return reinterpret_cast<image::cpu::KernelEntry>(const_cast<void*>(segment_->at(offset)));
      };
      image::ByBlockClass<KernelCode::Wide> wide;
      if (settings().rung != "threads")
        for (const image::BlockClass blocks : image::kBlockClasses) {
          const image::WideEntry& made = kernel.wide_entries[blocks];
          wide[blocks] = {code_at(made.place), made.whole_block};
        }
      add_kernel(kernel.info, {.entry = code_at(kernel.entry),
                               .wide = wide,
                               .rung = kernel.rung,
                               .polls = kernel.polls,
                               .flush_denormals = kernel.flush_denormals});
    }
    for (const image::DataSymbol& symbol : image.symbols) {
      const auto address = reinterpret_cast<hal::Address>(data_.data() + symbol.offset);
      add_symbol({symbol.name, address, symbol.size, symbol.constant});
    }
  }

 private:
  const std::unique_ptr<image::LoadedSegment> segment_;
  const AlignedMapping data_;
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

Result<std::shared_ptr<CpuExecutable>> load_image(std::span<const std::byte> bytes,
                                                  const hal::DeviceProperties& device) {
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
  return std::make_shared<ImageExecutable>(image, std::move(segment), std::move(data));
}

}  // namespace cupola::cpu
