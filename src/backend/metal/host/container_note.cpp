#include "backend/metal/host/container_note.h"

#include "backend/metal/metallib/container.h"
#include "backend/metal/metallib/module_summary.h"

namespace cupola::metal {

Result<image::MetalImage> container_note(std::span<const std::byte> container) {
  TRY(const metallib::Library library, metallib::read(container));
  std::string note;
  for (const metallib::Function& function : library.functions) {
    if (!metallib::is_hash_right(function))
      return fail(ErrorCode::InvalidImage, "metallib: the module of {} is not what its hash says: it was damaged",
                  metallib::printable(function.name));
    TRY(const metallib::ModuleSummary module, metallib::summarize(function.module));
    if (note.empty()) note = module.image_note;
  }
  if (note.empty())
    return fail(ErrorCode::InvalidImage,
                "this .metallib does not say what its kernels' parameters are, as those do that Cupola makes "
                "(cupolac --device=metal): its kernels cannot be launched from CUDA");
  Result<image::MetalImage> image = image::deserialize_metal(std::as_bytes(std::span(note)));
  if (!image)
    return fail(image.error().code, "this .metallib is of another version of Cupola, or damaged: {}: make it again",
                image.error().message);
  return image;
}

}  // namespace cupola::metal
