#include "backend/metal/host/metal_executable.h"

#include <algorithm>
#include <cstring>

#include "backend/metal/host/container_note.h"
#include "backend/metal/metallib/container.h"
#include "base/demangled.h"
#include "image/metal_abi.h"

namespace cupola::metal {
namespace {

Result<> check(const image::MetalImage& image, const MetalServices& services) {
  if (image.msl_version > services.msl_version)
    return fail(ErrorCode::NoBinaryForGpu, "metal: the kernel image needs MSL {}.{}; this system's Metal has {}.{}",
                image.msl_version / 10, image.msl_version % 10, services.msl_version / 10, services.msl_version % 10);
  const uint32_t most = services.properties.shared_bytes_per_block;
  for (const image::MetalKernel& kernel : image.kernels)
    if (kernel.info.static_shared_bytes > most)
      return fail(ErrorCode::InvalidPtx, "metal: kernel {} has {} bytes of static shared memory; the most is {}",
                  demangled(kernel.info.name), kernel.info.static_shared_bytes, most);
  return {};
}

Result<Object> open_container(const MetalServices& services, std::span<const std::byte> container) {
  const Metal& metal = services.metal;
  const Metal::Pool pool(metal);
  const Object data(metal, metal.create_data(container));
  Id error = nullptr;
  Object library(metal, metal.new_library_with_data(services.device, data.id(), &error));
  if (!library) return fail(ErrorCode::InvalidImage, "metal: Metal refuses the .metallib: {}", metal.words(error));
  return library;
}

Result<Object> compile(const MetalServices& services, const image::MetalImage& image) {
  const Metal& metal = services.metal;
  const Metal::Pool pool(metal);
  const Object options(metal, metal.alloc_init(metal.class_named("MTLCompileOptions")));
  metal.set_language(options.id(), language_version(image.msl_version));
  if (metal.responds_to(options.id(), metal.set_math_mode.selector()))  // macOS 15
    metal.set_math_mode(options.id(), kMathModeSafe);
  else
    metal.set_fast_math(options.id(), false);
  Id error = nullptr;
  Object library(metal, metal.new_library(services.device, metal.string(image.source), options.id(), &error));
  if (!library)
    return fail(ErrorCode::InvalidSource, "metal: Metal's compiler refuses the module of kernel {}: {}",
                image.kernels.empty() ? "(none)" : demangled(image.kernels.front().info.name), metal.words(error));
  return library;
}

/// Pointers in module data are addresses of the host, as everywhere in memory.
void initialise(std::byte* base, const image::MetalImage& image) {
  if (!image.data.empty()) std::memcpy(base, image.data.data(), image.data.size());
  for (const image::DataRelocation& relocation : image.relocations) {
    const std::byte* target = base + relocation.addend;
    std::memcpy(base + relocation.offset, &target, sizeof target);
  }
}

}  // namespace

Result<std::shared_ptr<hal::Executable>> MetalExecutable::load(const MetalServices& services,
                                                               std::span<const std::byte> code) {
  const bool is_container = metallib::is_metallib(code);
  if (const auto target = image::target_of(code);
      !is_container && target && *target != services.properties.image_target)
    return fail(ErrorCode::NoBinaryForGpu, "the kernel image is for '{}'; this device is '{}'", *target,
                services.properties.image_target);
  TRY(image::MetalImage image, is_container ? container_note(code) : image::deserialize_metal(code));
  TRY(check(image, services));
  Object library;
  if (is_container) {
    TRY(library, open_container(services, code));
  } else if (!image.source.empty()) {
    TRY(library, compile(services, image));
  }
  TRY(ArenaPart data, services.arena.take(image.data.size(), image.data_alignment));
  initialise(data.address(), image);
  return std::shared_ptr<hal::Executable>(
      new MetalExecutable(services, code, std::move(image), std::move(library), std::move(data)));
}

MetalExecutable::MetalExecutable(const MetalServices& services, std::span<const std::byte> code,
                                 image::MetalImage image, Object library, ArenaPart data)
    : services_(services),
      library_(std::move(library)),
      data_(std::move(data)),
      archive_(services, code),
      pipelines_(image.kernels.size()) {
  for (image::MetalKernel& kernel : image.kernels) {
    kernels_.push_back(std::move(kernel.info));
    entries_.push_back(std::move(kernel.entry));
    refusals_.push_back(std::move(kernel.refusal));
    saved_bytes_.push_back(kernel.saved_bytes);
    may_fail_.push_back(kernel.may_fail);
  }
  for (image::DataSymbol& symbol : image.symbols)
    symbols_.push_back({std::move(symbol.name), reinterpret_cast<hal::Address>(data_.address() + symbol.offset),
                        symbol.size, symbol.constant});
}

Result<> MetalExecutable::prepare(uint32_t kernel, const hal::Dim3& block) {
  TRY(pipeline(kernel, block.count()));
  return {};
}

Result<Id> MetalExecutable::pipeline(uint32_t kernel, uint64_t block_threads) {
  if (!refusals_[kernel].empty())
    return fail(ErrorCode::NotSupported, "kernel {}: {}", demangled(kernels_[kernel].name), refusals_[kernel]);
  Lock lock(mutex_);
  Pipeline& pipeline = pipelines_[kernel];
  if (!pipeline.state) {
    TRY(pipeline, make_pipeline(kernel));
  }
  if (block_threads > pipeline.max_threads)
    return fail(ErrorCode::LaunchOutOfResources,
                "kernel {}: blocks of {} threads were asked for; with the registers it needs, Metal runs {} at most: "
                "launch smaller blocks",
                demangled(kernels_[kernel].name), block_threads, pipeline.max_threads);
  return pipeline.state.id();
}

Result<MetalExecutable::Pipeline> MetalExecutable::make_pipeline(uint32_t kernel) {
  const Metal& metal = services_.metal;
  const std::string name = demangled(kernels_[kernel].name);
  const Metal::Pool pool(metal);
  const Object function(metal, metal.new_function(library_.id(), metal.string(entries_[kernel])));
  if (!function)
    return fail(ErrorCode::InvalidImage, "kernel {}: its image has no function {}", name, entries_[kernel]);
  Id error = nullptr;
  Pipeline pipeline{archive_.pipeline(function.id(), &error), 0};
  if (!pipeline.state)
    return fail(ErrorCode::InvalidImage, "kernel {}: Metal makes no pipeline of it: {}", name, metal.words(error));
  if (const Unsigned width = metal.simd_width(pipeline.state.id()); width != services_.properties.warp_size)
    return fail(ErrorCode::NotSupported, "kernel {}: this GPU runs {} threads in step; CUDA's warps are {}", name,
                width, services_.properties.warp_size);
  pipeline.max_threads = metal.max_threads(pipeline.state.id());
  return pipeline;
}

}  // namespace cupola::metal
