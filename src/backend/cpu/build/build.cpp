#include "backend/cpu/build/build.h"

#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <fstream>

#include "backend/cpu/build/call_reach.h"
#include "backend/cpu/build/context_parameter.h"
#include "backend/cpu/build/expand_constants.h"
#include "backend/cpu/build/float_atomics.h"
#include "backend/cpu/build/intrinsics.h"
#include "backend/cpu/build/kernel_entry.h"
#include "backend/cpu/build/line_table.h"
#include "backend/cpu/build/memory_scopes.h"
#include "backend/cpu/build/module_data.h"
#include "backend/cpu/build/narrow_floats.h"
#include "backend/cpu/build/object_file.h"
#include "backend/cpu/build/polling.h"
#include "backend/cpu/build/segment.h"
#include "backend/cpu/build/shared_atomics.h"
#include "backend/cpu/build/shared_memory.h"
#include "backend/cpu/build/stack_size.h"
#include "backend/cpu/build/thread_context.h"
#include "backend/cpu/build/vector_rung.h"
#include "backend/cpu/build/whole_block.h"
#include "base/log.h"

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

Result<> verify(const llvm::Module& module, const char* after) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (!llvm::verifyModule(module, &out)) return {};
  return fail(ErrorCode::InvalidSource, "cpu: the module is malformed after {}: {}", after, text);
}

void take_launch_bounds(const kir::LaunchBounds& bounds, KernelInfo& info) {
  const uint64_t most = bounds.required_block.count() ? bounds.required_block.count() : bounds.max_block.count();
  if (most != 0) info.max_threads_per_block = static_cast<uint32_t>(std::min<uint64_t>(1024, most));
  info.required_block = bounds.required_block;
}

struct Waiting {
  bool suspends = false, polls = false;
};

Waiting waiting_of(llvm::Function* body, const CallReach& reach) {
  Waiting result;
  for (llvm::Function* function : reach.from(body))
    for (const llvm::Instruction& instruction : llvm::instructions(*function)) {
      result.suspends |= suspends(instruction);
      result.polls |= polls(instruction);
    }
  return result;
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// What is known of the kernels and the data before code is generated.
struct Lowered {
  std::vector<image::Kernel> kernels;
  struct WideSymbol {
    std::string symbol;  ///< empty: none
    bool runs_block = false;
  };
  struct Entries {
    std::string thread;
    image::ByBlockClass<WideSymbol> wide;
  };
  std::vector<Entries> entries;
  ModuleData data;
};

WarpBodies vectorise_if_it_can(const KernelBody& kernel, uint64_t constant_bytes, const CallReach& reach,
                               const llvm::TargetMachine& machine) {
  auto bodies = vectorise(kernel, constant_bytes, reach, machine);
  log::line(log::Topic::Compile, "kernel {}: {}", kernel.name,
            !bodies                                  ? "runs a thread at a time: " + bodies.error().message
            : (*bodies)[image::BlockClass::Any].code ? "runs a warp at a time"
                                                     : "runs a warp at a time where blockDim.x is a multiple of 32");
  return bodies ? *bodies : WarpBodies{};
}

Result<Lowered::WideSymbol> make_wide_entry(llvm::Module& module, const WideBody& body) {
  Lowered::WideSymbol made{.runs_block = body.runs_block};
  if (!body.code) return made;
  KernelInfo of_thread;  // known already
  TRY(made.symbol, make_kernel_entry(module, {body.code->getName().str(), body.code, {}}, of_thread));
  return made;
}

void run_whole_blocks_where_they_can(llvm::Module& module, std::vector<WarpBodies>& warps,
                                     llvm::TargetMachine& machine) {
  llvm::SmallVector<WideBody*, 8> bodies;
  for (WarpBodies& kernel : warps)
    for (WideBody& body : kernel)
      if (body.code) bodies.push_back(&body);
  run_whole_blocks(module, bodies, machine);
}

Result<Lowered> lower(llvm::Module& module, llvm::TargetMachine& machine) {
  expand_constants(module);
  expand_float_atomics(module);  // what they compute is expanded next
  TRY(expand_narrow_floats(module));
  lower_memory_scopes(module);
  TRY(const std::vector<KernelBody> bodies, add_context_parameter(module));
  CallReach reach(module);
  TRY(ModuleData data, lay_out_module_data(module, reach));
  llvm::SmallVector<llvm::Function*, 8> functions;
  for (const KernelBody& kernel : bodies) functions.push_back(kernel.body);
  TRY(const SharedLayout shared, lay_out_shared(module, functions, reach));
  TRY(lower_shared(module, shared));
  mark_shared_atomics(module);
  std::vector<WarpBodies> warps;
  for (const KernelBody& kernel : bodies)
    warps.push_back(vectorise_if_it_can(kernel, data.constant_bytes, reach, machine));
  TRY(lower_intrinsics(module, data.constant_bytes));
  instrument_polling(module, reach);
  lower_shared_atomics(module);
  run_whole_blocks_where_they_can(module, warps, machine);

  Lowered lowered{.data = std::move(data)};
  for (const KernelBody& body : bodies) {
    image::Kernel kernel;
    kernel.info.name = body.name;
    kernel.info.static_shared_bytes = static_cast<uint32_t>(shared.static_bytes.lookup(body.body));
    kernel.info.local_bytes = static_cast<uint32_t>(local_bytes(*body.body, reach));
    kernel.info.registers = 32;  // no such limit here; a middling value for cudaFuncGetAttributes
    take_launch_bounds(body.bounds, kernel.info);
    const Waiting waiting = waiting_of(body.body, reach);
    kernel.polls = waiting.polls;
    kernel.rung = waiting.suspends ? image::Rung::ThreadFibres : image::Rung::ThreadLoop;
    lowered.kernels.push_back(std::move(kernel));
  }
  for (llvm::Function* function : reach.address_taken()) {  // the loader must find them
    function->setLinkage(llvm::GlobalValue::ExternalLinkage);
    function->setDSOLocal(true);
  }
  for (size_t i = 0; i < bodies.size(); ++i) {
    Lowered::Entries entries;
    TRY(entries.thread, make_kernel_entry(module, bodies[i], lowered.kernels[i].info));
    for (const image::BlockClass blocks : image::kBlockClasses) {
      TRY(entries.wide[blocks], make_wide_entry(module, warps[i][blocks]));
    }
    lowered.entries.push_back(std::move(entries));
  }
  return lowered;
}

Result<image::KernelImage> assemble(Lowered lowered, Segment segment) {
  image::KernelImage image;
  for (size_t i = 0; i < lowered.kernels.size(); ++i) {
    const auto wide_entry = [&](const Lowered::WideSymbol& wide) -> image::WideEntry {
      if (wide.symbol.empty()) return {};
      return {segment.symbols.at(wide.symbol), wide.runs_block};
    };
    image::Kernel& kernel = lowered.kernels[i];
    kernel.entry = segment.symbols.at(lowered.entries[i].thread);
    for (const image::BlockClass blocks : image::kBlockClasses)
      kernel.wide_entries[blocks] = wide_entry(lowered.entries[i].wide[blocks]);
  }
  image.kernels = std::move(lowered.kernels);
  image.symbols = std::move(lowered.data.symbols);
  image.data = std::move(lowered.data.bytes);
  image.data_alignment = lowered.data.alignment;
  image.relocations = std::move(lowered.data.relocations);
  for (const ModuleData::FunctionAddress& word : lowered.data.function_addresses)
    image.relocations.push_back(
        {word.offset, image::DataRelocation::Kind::CodeAddress, segment.symbols.at(word.symbol)});
  image.segment = std::move(segment.bytes);
  image.slots_offset = segment.slots_offset;
  image.imports = std::move(segment.imports);
  image.lines = std::move(segment.lines);
  return image;
}

}  // namespace

Result<image::KernelImage> build(std::unique_ptr<llvm::Module> module, const BuildOptions& options) {
  const CollectedErrors errors(module->getContext());
  TRY(const std::unique_ptr<llvm::TargetMachine> machine, host_machine());
  TRY(retarget(*module, *machine));
  TRY(Lowered lowered, lower(*module, *machine));
  keep_line_numbers(*module);
  TRY(verify(*module, "lowering for the cpu"));
  clean_up(*module, *machine);
  if (!options.keep.empty()) {
    std::string text;
    llvm::raw_string_ostream(text) << *module;
    write_file(options.keep + ".host.ll", text);
    write_file(options.keep + ".s", emit_assembly(*module, *machine));
  }
  TRY(const std::unique_ptr<llvm::MemoryBuffer> object, emit_object(*module, *machine));
  if (!errors.text().empty()) return fail(ErrorCode::NotSupported, "cpu: code generation failed: {}", errors.text());
  TRY(Segment segment, pack_segment(object->getMemBufferRef()));
  TRY(image::KernelImage image, assemble(std::move(lowered), std::move(segment)));
  image.target = options.target;
  return image;
}

}  // namespace cupola::cpu::build
