#include "backend/metal/host/try_library.h"

#include "backend/metal/host/metal.h"

namespace cupola::metal {
namespace {

TriedKernel tried(const Metal& metal, Id device, Id library, const std::string& name) {
  const Metal::Pool pool(metal);
  TriedKernel kernel{.name = name, .refusal = {}};
  const Object function(metal, metal.new_function(library, metal.string(name)));
  if (!function) {
    kernel.refusal = "the library has no such function";
    return kernel;
  }
  Id error = nullptr;
  const Object pipeline(metal, metal.new_pipeline(device, function.id(), &error));
  if (!pipeline) {
    kernel.refusal = metal.words(error);
    return kernel;
  }
  kernel.max_threads = metal.max_threads(pipeline.id());
  kernel.simd_width = metal.simd_width(pipeline.id());
  return kernel;
}

}  // namespace

Result<TriedLibrary> try_library(std::span<const std::byte> container, std::span<const std::string> kernels) {
  TRY(const Metal* const metal, Metal::open());
  const Metal::Pool pool(*metal);
  const Object device(*metal, metal->create_device());
  if (!device) return fail(ErrorCode::NoDevice, "there is no GPU that Metal knows");
  TriedLibrary made{.device = metal->text(metal->name(device.id())), .refusal = {}, .kernels = {}};
  const Object data(*metal, metal->create_data(container));
  Id error = nullptr;
  const Object library(*metal, metal->new_library_with_data(device.id(), data.id(), &error));
  if (!library) {
    made.refusal = metal->words(error);
    return made;
  }
  for (const std::string& name : kernels) made.kernels.push_back(tried(*metal, device.id(), library.id(), name));
  return made;
}

}  // namespace cupola::metal
