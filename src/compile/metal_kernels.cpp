#include "compile/metal_kernels.h"

#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <charconv>
#include <map>
#include <set>

#include "backend/metal/air/bitcode.h"
#include "backend/metal/build/air/print_air.h"
#include "backend/metal/build/msl/print.h"
#include "backend/metal/build/raise/raise.h"
#include "backend/metal/metallib/build.h"
#include "backend/metal/metallib/module_summary.h"
#include "image/metal_image.h"
#include "kir/c_functions.h"
#include "kir/kir.h"
#include "kir/passes.h"

namespace cupola {
namespace {

using Names = std::set<std::string>;

/// What code is made as.
enum class Form { Msl, Metallib };

struct Target {
  const std::string& name;
  Form form;
  uint32_t msl;  ///< the newest that the system's Metal takes
  const MetalLibraries& libraries;
};

/// "metal:msl31" is MSL for a Metal that takes 3.1. Error: NoBinaryForGpu.
Result<Target> target_of(const std::string& name, const MetalLibraries& libraries) {
  for (const auto& [words, form] :
       {std::pair{image::kMslTarget, Form::Msl}, {image::kMetallibTarget, Form::Metallib}}) {
    uint32_t version = 0;
    const char* end = name.data() + name.size();
    if (name.starts_with(words) && std::from_chars(name.data() + words.size(), end, version).ptr == end && version != 0)
      return Target{name, form, version, libraries};
  }
  return fail(ErrorCode::NoBinaryForGpu, "compiler: '{}' is no target of the metal device; metal:msl30 is one", name);
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

/// The image, and the compiled kernels that go with one without source.
struct Code {
  image::MetalImage image;
  metal::build::AirModules compiled;
};

Result<> print(Code& code, metal::build::Raised& raised, const Target& target) {
  if (target.form == Form::Msl) {
    TRY(metal::build::MslSource source, metal::build::print_msl(raised));
    code.image.msl_version = source.version;
    code.image.source = std::move(source.text);
    return {};
  }
  TRY(code.compiled, metal::build::print_air(raised, target.libraries.meanings));
  code.image.msl_version = code.compiled.msl_version;
  return {};
}

/// The whole module. Errors: what Metal has no form of, by the first place; a newer Metal that is needed.
Result<Code> make_whole(std::unique_ptr<llvm::Module> module, const Target& target) {
  TRY(metal::build::Raised raised, metal::build::raise(std::move(module), target.libraries.doubles));
  Code code;
  image::MetalImage& image = code.image;
  TRY(print(code, raised, target));
  if (image.msl_version > target.msl)
    return fail(ErrorCode::NotSupported, "metal: the code needs MSL {}.{}; this system's Metal has {}.{}",
                image.msl_version / 10, image.msl_version % 10, target.msl / 10, target.msl % 10);
  image.target = target.name;
  for (metal::build::RaisedKernel& kernel : raised.kernels)
    image.kernels.push_back({std::move(kernel.info), std::move(kernel.entry), {}, kernel.saved_bytes});
  image.symbols = std::move(raised.data.symbols);
  image.data = std::move(raised.data.bytes);
  image.data_alignment = raised.data.alignment;
  image.relocations = std::move(raised.data.relocations);
  return code;
}

/// In the order of `names`, with those that are missing and why.
void add_refused(image::MetalImage& image, const llvm::Module& prepared, const std::vector<std::string>& names,
                 const std::map<std::string, Error>& refused) {
  std::vector<image::MetalKernel> all;
  auto made = image.kernels.begin();
  for (const std::string& name : names) {
    const auto why = refused.find(name);
    if (why == refused.end())
      all.push_back(std::move(*made++));
    else
      all.push_back({{.name = kir::own_name(*prepared.getFunction(name)).str()}, {}, why->second.message});
  }
  image.kernels = std::move(all);
}

/// As make_metal_code has it.
Result<Code> make_what_can_be(llvm::Module& prepared, const Target& target) {
  Result<Code> whole = make_whole(llvm::CloneModule(prepared), target);
  if (whole) return whole;
  const std::vector<std::string> names = names_of(prepared);
  Names good;
  std::map<std::string, Error> refused;
  for (const std::string& each : names) {
    const Result<Code> alone = make_whole(with_kernels(prepared, {each}), target);
    if (alone)
      good.insert(each);
    else
      refused.emplace(each, alone.error());
  }
  if (good.empty() || refused.empty()) return whole;
  TRY(Code code, make_whole(with_kernels(prepared, good), target));
  add_refused(code.image, prepared, names, refused);
  return code;
}

/// The container, of one kernel at least.
Result<std::vector<std::byte>> contained(Code& code) {
  std::vector<metal::build::AirKernel>& kernels = code.compiled.kernels;
  metal::build::leave_note(*kernels.front().module, metallib::kImageNote, image::serialize(code.image));
  std::vector<std::vector<std::byte>> modules;
  std::vector<metallib::FunctionSource> functions;
  for (const metal::build::AirKernel& kernel : kernels) {
    TRY(modules.emplace_back(), air::write_bitcode(*kernel.module));
    functions.push_back({kernel.entry, metallib::FunctionKind::Kernel, modules.back(), {}, {}});
  }
  return metallib::build(functions, {.macos = {static_cast<uint16_t>(code.compiled.macos)}});
}

}  // namespace

Result<std::vector<std::byte>> make_metal_code(llvm::Module& prepared, const MetalLibraries& libraries,
                                               const std::string& name) {
  TRY(const Target target, target_of(name, libraries));
  TRY(Code code, make_what_can_be(prepared, target));
  if (code.compiled.kernels.empty()) return image::serialize(code.image);
  return contained(code);
}

Result<std::vector<std::byte>> make_metallib(std::unique_ptr<llvm::Module> prepared, const MetalLibraries& libraries) {
  constexpr uint32_t kNewest = UINT32_MAX;
  static const std::string name(image::kMetallibTarget);
  TRY(Code code, make_whole(std::move(prepared), {name, Form::Metallib, kNewest, libraries}));
  if (code.compiled.kernels.empty()) return fail(ErrorCode::InvalidImage, "metal: the code has no kernel");
  return contained(code);
}

}  // namespace cupola
