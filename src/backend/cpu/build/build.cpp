#include "backend/cpu/build/build.h"

#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include "backend/cpu/build/compile_cost.h"
#include "backend/cpu/build/context_parameter.h"
#include "backend/cpu/build/kernel_code.h"
#include "backend/cpu/build/kernel_unit.h"
#include "backend/cpu/build/memory_scopes.h"
#include "backend/cpu/build/object_file.h"
#include "backend/cpu/build/shared_atomics.h"
#include "backend/cpu/build/shared_memory.h"
#include "backend/cpu/build/stack_size.h"
#include "backend/cpu/build/thread_context.h"
#include "kir/call_reach.h"
#include "kir/expand_constants.h"
#include "kir/float_atomics.h"
#include "kir/kernel_parameters.h"
#include "kir/module_data.h"
#include "kir/narrow_floats.h"

namespace cupola::cpu::build {
namespace {

struct Diagnostics : llvm::DiagnosticHandler {
  explicit Diagnostics(std::string& errors) : errors_(errors) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error) return true;
    llvm::raw_string_ostream out(errors_);
    llvm::DiagnosticPrinterRawOStream printer(out);
    if (!errors_.empty()) out << "; ";
    info.print(printer);
    return true;
  }
  std::string& errors_;
};

/// While it lives, errors that code generation reports through the LLVMContext come here, instead of standard error.
/// The context outlives it and has its own handler back then.
class CollectedErrors {
 public:
  explicit CollectedErrors(llvm::LLVMContext& context) : context_(context), before_(context.getDiagnosticHandler()) {
    context_.setDiagnosticHandler(std::make_unique<Diagnostics>(text_));
  }
  ~CollectedErrors() { context_.setDiagnosticHandler(std::move(before_)); }
  CollectedErrors(const CollectedErrors&) = delete;
  CollectedErrors& operator=(const CollectedErrors&) = delete;

  const std::string& text() const { return text_; }

 private:
  llvm::LLVMContext& context_;
  std::unique_ptr<llvm::DiagnosticHandler> before_;
  std::string text_;
};

/// A module whose data and shared memory are laid out, and what is known of it before its code.
struct Lowered {
  std::vector<KernelBody> bodies;
  std::vector<KernelInfo> kernels;
  kir::ModuleData data;
};

llvm::Instruction* module_data_of(llvm::Function& function) {
  llvm::BasicBlock& entry = function.getEntryBlock();
  llvm::IRBuilder<> builder(&entry, entry.getFirstInsertionPt());
  return llvm::cast<llvm::Instruction>(load_field(
      builder, context_of(function), offsetof(image::cpu::ThreadContext, module_data), builder.getPtrTy(), true));
}

Result<Lowered> lower(llvm::Module& module) {
  Lowered lowered;
  kir::expand_constants(module);
  kir::expand_narrow_float_atomics(module);  // what they compute is expanded next
  TRY(kir::expand_narrow_floats(module));
  lower_memory_scopes(module);
  TRY(lowered.bodies, add_context_parameter(module));
  const kir::CallReach reach(module);
  TRY(lowered.data, kir::lay_out_module_data(module, reach,
                                             {.descriptor_bytes = sizeof(image::cpu::FunctionDescriptor),
                                              .descriptor_alignment = alignof(image::cpu::FunctionDescriptor),
                                              .base = module_data_of}));
  llvm::SmallVector<llvm::Function*, 8> functions;
  for (const KernelBody& kernel : lowered.bodies) functions.push_back(kernel.body);
  TRY(const kir::SharedLayout shared, kir::lay_out_shared(module, functions, reach,
                                                          {.window = image::cpu::kSharedWindow,
                                                           .dynamic_alignment = image::cpu::kDynamicSharedAlignment}));
  TRY(lower_shared(module, shared));
  mark_shared_atomics(module);
  for (llvm::Function* function : reach.address_taken()) function->addFnAttr(kir::kAddressTakenMark);
  for (const KernelBody& kernel : lowered.bodies) {
    KernelInfo& info = lowered.kernels.emplace_back();
    info.name = kernel.name;
    info.static_shared_bytes = static_cast<uint32_t>(shared.static_bytes.lookup(kernel.body));
    info.constant_bytes = static_cast<uint32_t>(lowered.data.constant_bytes);
    info.local_bytes = static_cast<uint32_t>(local_bytes(*kernel.body, reach));
    info.registers = 32;  // no such limit here; a middling value for cudaFuncGetAttributes
    kir::take_launch_bounds(kernel.bounds, info);
    TRY(kir::lay_out_parameters(*kernel.body, 1, info));
  }
  return lowered;
}

void take_segment(image::KernelImage& image, Segment segment) {
  image.segment = std::move(segment.bytes);
  image.slots_offset = segment.slots_offset;
  image.imports = std::move(segment.imports);
  image.lines = std::move(segment.lines);
}

void take_data(image::KernelImage& image, kir::ModuleData data, const Segment& segment) {
  image.symbols = std::move(data.symbols);
  image.data = std::move(data.bytes);
  image.data_alignment = data.alignment;
  image.relocations = std::move(data.relocations);
  for (const kir::ModuleData::FunctionDescriptor& place : data.descriptors)
    image.relocations.push_back({place.offset + offsetof(image::cpu::FunctionDescriptor, scalar_entry),
                                 image::DataRelocation::Kind::CodeAddress, segment.symbols.at(place.function)});
}

/// Takes the kernels out of the module and returns their units.
std::vector<image::Kernel> take_units(llvm::Module& module, Lowered& lowered) {
  std::vector<image::Kernel> kernels;
  {
    const kir::CallReach reach(module);
    for (const KernelBody& kernel : lowered.bodies) {
      image::Kernel& made = kernels.emplace_back();
      made.unit = write_unit(kernel, lowered.data.constant_bytes, reach);
      made.begins_by_thread = may_begin_by_thread(kernel, reach);
    }
  }
  for (const KernelBody& kernel : lowered.bodies)
    if (kernel.body->use_empty()) kernel.body->eraseFromParent();
  lowered.bodies.clear();
  return kernels;
}

}  // namespace

Result<image::KernelImage> build(std::unique_ptr<llvm::Module> module, const BuildOptions& options) {
  const CollectedErrors errors(module->getContext());
  TRY(const std::unique_ptr<llvm::TargetMachine> machine, machine_for(options.target));
  TRY(retarget(*module, *machine));
  TRY(Lowered lowered, lower(*module));
  image::KernelImage image;
  image.target = options.target;
  if (options.later) image.kernels = take_units(*module, lowered);
  GeneratedCode code;
  if (!options.later || !lowered.data.descriptors.empty()) {
    const CodeOptions all{
        .exports_functions = true, .constant_bytes = lowered.data.constant_bytes, .keep = options.keep};
    TRY(code, generate_code(*module, lowered.bodies, all, *machine));
  }
  if (!errors.text().empty()) return fail(ErrorCode::NotSupported, "cpu: code generation failed: {}", errors.text());
  if (!options.later) image.kernels = std::move(code.kernels);
  for (size_t i = 0; i < lowered.kernels.size(); ++i) image.kernels[i].info = std::move(lowered.kernels[i]);
  take_data(image, std::move(lowered.data), code.segment);
  take_segment(image, std::move(code.segment));
  return image;
}

Result<image::KernelImage> build_unit(KernelUnit unit, const image::BlocksOfCode& blocks, const BuildOptions& options) {
  const CollectedErrors errors(unit.module->getContext());
  TRY(const std::unique_ptr<llvm::TargetMachine> machine, machine_for(options.target));
  const CodeOptions wanted{.blocks = blocks,
                           .constant_bytes = unit.constant_bytes,
                           .keep = options.keep,
                           .report = options.report,
                           .given_up = options.given_up};
  TRY(GeneratedCode code, generate_code(*unit.module, std::span(&unit.kernel, 1), wanted, *machine));
  if (!errors.text().empty()) return fail(ErrorCode::NotSupported, "cpu: code generation failed: {}", errors.text());
  image::KernelImage image;
  image.target = options.target;
  image.kernels = std::move(code.kernels);
  image.kernels[0].info.name = unit.kernel.name;
  take_segment(image, std::move(code.segment));
  return image;
}

}  // namespace cupola::cpu::build
