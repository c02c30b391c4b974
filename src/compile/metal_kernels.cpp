#include "compile/metal_kernels.h"

#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <algorithm>
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

/// What code is made as.
enum class Form { Msl, Metallib };
struct FormRow {
  std::string_view target;  ///< how it begins
  Form form;
};
constexpr FormRow kForms[] = {{image::kMslTarget, Form::Msl}, {image::kMetallibTarget, Form::Metallib}};

struct Target {
  const std::string& name;
  Form form;
  uint32_t msl;  ///< the newest that the system's Metal takes
  const MetalLibraries& libraries;
};

/// "metal:msl31" is MSL for a Metal that takes 3.1. Error: NoBinaryForGpu.
Result<Target> target_of(const std::string& name, const MetalLibraries& libraries) {
  for (const auto& [words, form] : kForms) {
    uint32_t version = 0;
    const char* end = name.data() + name.size();
    if (name.starts_with(words) && std::from_chars(name.data() + words.size(), end, version).ptr == end && version != 0)
      return Target{name, form, version, libraries};
  }
  return fail(ErrorCode::NoBinaryForGpu, "compiler: '{}' is no target of the metal device; metal:msl30 is one", name);
}

/// The image, and the compiled kernels that go with one without source.
struct Code {
  image::MetalImage image;
  metal::build::AirModules compiled;
};

Result<> print(Code& code, metal::build::Raised& raised, const Target& target) {
  if (target.form == Form::Msl) {
    metal::build::MslSource source = metal::build::print_msl(raised, target.msl);
    code.image.msl_version = source.version;
    code.image.source = std::move(source.text);
    return {};
  }
  TRY(code.compiled, metal::build::print_air(raised, target.libraries.meanings, target.msl));
  code.image.msl_version = code.compiled.msl_version;
  return {};
}

/// The module's kernels, in its order, with why not for those that Metal cannot have. Errors: the first refusal if it
/// can have none; what concerns the whole module.
Result<Code> make(std::unique_ptr<llvm::Module> module, const Target& target) {
  TRY(metal::build::Raised raised, metal::build::raise(std::move(module), target.libraries.doubles));
  Code code;
  TRY(print(code, raised, target));
  image::MetalImage& image = code.image;
  image.target = target.name;
  for (metal::build::RaisedKernel& kernel : raised.kernels)
    image.kernels.push_back({std::move(kernel.info), std::move(kernel.entry),
                             kernel.refusal ? kernel.refusal->message : std::string(), kernel.saved_bytes,
                             kernel.may_fail});
  if (std::ranges::none_of(raised.kernels, [](const auto& kernel) { return !kernel.refusal; }))
    TRY(metal::build::all_are_made(raised));
  image.symbols = std::move(raised.data.symbols);
  image.data = std::move(raised.data.bytes);
  image.data_alignment = raised.data.alignment;
  image.relocations = std::move(raised.data.relocations);
  return code;
}

/// A copy that has these kernels, what they reach, and all that programs can name.
std::unique_ptr<llvm::Module> with_kernels(const llvm::Module& prepared, const std::set<std::string>& kept) {
  std::unique_ptr<llvm::Module> copy = llvm::CloneModule(prepared);
  for (llvm::Function* kernel : kir::kernels(*copy)) {
    if (kept.contains(kernel->getName().str())) continue;
    kernel->deleteBody();
    if (kernel->use_empty()) kernel->eraseFromParent();
  }
  kir::remove_unreached(*copy);
  return copy;
}

/// As make_metal_code has it. Where the whole module has no form, each kernel is tried, for some refusals name no
/// kernel.
Result<Code> make_what_can_be(llvm::Module& prepared, const Target& target) {
  Result<Code> whole = make(llvm::CloneModule(prepared), target);
  const std::vector<llvm::Function*> kernels = kir::kernels(prepared);
  if (whole || kernels.size() < 2) return whole;
  std::set<std::string> good;
  std::map<std::string, std::string> refusals;  // by the kernels' own names
  for (const llvm::Function* each : kernels) {
    const Result<Code> alone = make(with_kernels(prepared, {each->getName().str()}), target);
    if (alone)
      good.insert(each->getName().str());
    else
      refusals[kir::own_name(*each).str()] = alone.error().message;
  }
  if (good.empty() || refusals.empty()) return whole;
  TRY(Code code, make(with_kernels(prepared, good), target));
  std::vector<image::MetalKernel> all;
  auto made = code.image.kernels.begin();
  for (const llvm::Function* each : kernels) {
    const std::string name = kir::own_name(*each).str();
    const auto why = refusals.find(name);
    all.push_back(why == refusals.end() ? std::move(*made++) : image::MetalKernel{{.name = name}, {}, why->second});
  }
  code.image.kernels = std::move(all);
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
  TRY(Code code, make(std::move(prepared), {name, Form::Metallib, kNewest, libraries}));
  for (const image::MetalKernel& kernel : code.image.kernels)
    if (!kernel.refusal.empty()) return fail(ErrorCode::NotSupported, "{}", kernel.refusal);
  if (code.compiled.kernels.empty()) return fail(ErrorCode::InvalidImage, "metal: the code has no kernel");
  return contained(code);
}

}  // namespace cupola
