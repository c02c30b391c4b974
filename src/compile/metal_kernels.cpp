#include "compile/metal_kernels.h"

#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <charconv>
#include <map>
#include <set>

#include "backend/metal/build/msl/print.h"
#include "backend/metal/build/raise/raise.h"
#include "kir/kir.h"
#include "kir/passes.h"

namespace cupola {
namespace {

using Names = std::set<std::string>;

struct Target {
  const std::string& name;
  uint32_t msl;
  std::span<const std::byte> library;
};

/// "metal:msl31" says 31. Error: NoBinaryForGpu.
Result<uint32_t> msl_version_of(std::string_view target) {
  constexpr std::string_view kMsl = "metal:msl";
  uint32_t version = 0;
  const char* end = target.data() + target.size();
  if (target.starts_with(kMsl) && std::from_chars(target.data() + kMsl.size(), end, version).ptr == end && version != 0)
    return version;
  return fail(ErrorCode::NoBinaryForGpu, "compiler: '{}' is no target of the metal device; metal:msl30 is one", target);
}

/// Of kernels, in the module's order.
std::vector<std::string> names_of(llvm::Module& module) {
  std::vector<std::string> names;
  for (const llvm::Function* kernel : kir::kernels(module)) names.push_back(kernel->getName().str());
  return names;
}

/// A copy that has these kernels, what they reach, and all that programs can name.
std::unique_ptr<llvm::Module> with_kernels(const llvm::Module& prepared, const Names& kept) {
  std::unique_ptr<llvm::Module> copy = llvm::CloneModule(prepared);
  for (llvm::Function* kernel : kir::kernels(*copy)) {
    if (kept.contains(kernel->getName().str())) continue;
    kernel->deleteBody();
    if (kernel->use_empty()) kernel->eraseFromParent();
  }
  kir::remove_unreached(*copy);
  return copy;
}

/// The whole module. Errors: what Metal has no form of, by the first place; a newer Metal that is needed.
Result<image::MetalImage> make_whole(std::unique_ptr<llvm::Module> module, const Target& target) {
  TRY(metal::build::Raised raised, metal::build::raise(std::move(module), target.library));
  TRY(metal::build::MslSource source, metal::build::print_msl(raised));
  if (source.version > target.msl)
    return fail(ErrorCode::NotSupported, "metal: the code needs MSL {}.{}; this system's Metal has {}.{}",
                source.version / 10, source.version % 10, target.msl / 10, target.msl % 10);
  image::MetalImage image;
  image.target = target.name;
  for (size_t i = 0; i < raised.kernels.size(); ++i)
    image.kernels.push_back(
        {std::move(raised.kernels[i].info), std::move(source.entries[i]), {}, raised.kernels[i].saved_bytes});
  image.symbols = std::move(raised.data.symbols);
  image.data = std::move(raised.data.bytes);
  image.data_alignment = raised.data.alignment;
  image.relocations = std::move(raised.data.relocations);
  image.msl_version = source.version;
  image.source = std::move(source.text);
  return image;
}

/// In the order of `names`, with those that are missing and why.
void add_refused(image::MetalImage& image, const std::vector<std::string>& names,
                 const std::map<std::string, Error>& refused) {
  std::vector<image::MetalKernel> all;
  auto made = image.kernels.begin();
  for (const std::string& name : names) {
    const auto why = refused.find(name);
    if (why == refused.end())
      all.push_back(std::move(*made++));
    else
      all.push_back({{.name = name}, {}, why->second.message});
  }
  image.kernels = std::move(all);
}

}  // namespace

Result<image::MetalImage> make_metal_image(llvm::Module& prepared, std::span<const std::byte> library,
                                           const std::string& name) {
  TRY(const uint32_t msl, msl_version_of(name));
  const Target target{name, msl, library};
  Result<image::MetalImage> whole = make_whole(llvm::CloneModule(prepared), target);
  if (whole) return whole;
  const std::vector<std::string> names = names_of(prepared);
  Names good;
  std::map<std::string, Error> refused;
  for (const std::string& each : names) {
    const Result<image::MetalImage> alone = make_whole(with_kernels(prepared, {each}), target);
    if (alone)
      good.insert(each);
    else
      refused.emplace(each, alone.error());
  }
  if (good.empty() || refused.empty()) return whole;
  TRY(image::MetalImage image, make_whole(with_kernels(prepared, good), target));
  add_refused(image, names, refused);
  return image;
}

}  // namespace cupola
