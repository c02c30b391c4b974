#include "backend/cpu/build/object_file.h"

#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/TypeFinder.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/SubtargetFeature.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/DeadStoreElimination.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "backend/cpu/build/bit_tests.h"
#include "backend/cpu/build/crowded_loops.h"
#include "backend/cpu/build/divided_rows.h"
#include "backend/cpu/build/early_clears.h"
#include "backend/cpu/build/first_lanes.h"
#include "backend/cpu/build/gather_addresses.h"
#include "backend/cpu/build/gathered_strips.h"
#include "backend/cpu/build/idle_updates.h"
#include "backend/cpu/build/known_numbers.h"
#include "backend/cpu/build/known_shifts.h"
#include "backend/cpu/build/mask_numbers.h"
#include "backend/cpu/build/narrow_masks.h"
#include "backend/cpu/build/narrow_products.h"
#include "backend/cpu/build/place_notes.h"
#include "backend/cpu/build/row_tables.h"
#include "backend/cpu/build/stored_rows.h"
#include "backend/cpu/build/sunk_stores.h"
#include "backend/cpu/build/unread_shared_memory.h"
#include "backend/cpu/build/vote_bytes.h"
#include "backend/cpu/build/whole_rows.h"
#include "backend/cpu/build/whole_turns.h"
#include "backend/cpu/build/written_out_gathers.h"
#include "backend/cpu/build/written_out_loops.h"
#include "backend/cpu/build/zero_rows.h"
#include "kir/combine.h"
#include "kir/pass_analyses.h"

namespace cupola::cpu::build {
namespace {

/// Instructions that flush denormals of bfloat. narrow_floats.cpp writes such operations out; these would come back
/// with what later passes make (atomic updates).
bool flushes_denormals(llvm::StringRef feature) {
  return feature == "avx512bf16" || feature == "avxneconvert" || feature == "avx10.2";
}

/// A processor as LLVM knows it.
struct Processor {
  std::string name, features;
};

/// A warp has 32 numbers to gather, under masks that a loop over lanes would ask one by one: worth the instruction also
/// where LLVM takes it for slow.
constexpr const char* kGathers = "fast-gather";

Processor this_processor() {
  llvm::SubtargetFeatures features;
  const auto present = llvm::sys::getHostCPUFeatures();
  for (const auto& [name, is_present] : present) features.AddFeature(name, is_present && !flushes_denormals(name));
  if (llvm::Triple(llvm::sys::getDefaultTargetTriple()).isX86()) {
    features.AddFeature("prefer-256-bit", false);  // a warp fills registers of any width
    if (present.lookup("avx2")) features.AddFeature(kGathers);
  }
  return {llvm::sys::getHostCPUName().str(), features.getString()};
}

/// Where the target ends in a level of the instruction set, that; else this one with all it has.
Processor processor_of(llvm::StringRef target) {
  const llvm::StringRef last = target.rsplit(':').second;
  if (last == "x86-64-v3") return {last.str(), std::string("+") + kGathers};
  if (last.starts_with("x86-64")) return {last.str(), ""};
  static const auto* const here = new Processor(this_processor());  // leaked: threads may compile when a process ends
  return *here;
}

/// LLVM 22 moves arithmetic on masks' bits to mask registers (its pass "x86-domain-reassignment"), where a number that
/// is cut to 8 or 16 bits becomes a move between two of them, which it later takes for a copy: the other bits stay. The
/// pass has no switch but this one, which is the process's.
void leave_mask_bits_where_they_are() {
  const auto& options = llvm::cl::getRegisteredOptions();
  const auto found = options.find("disable-x86-domain-reassignment");
  if (found != options.end()) found->second->addOccurrence(0, found->first, "true");
}

bool initialize_llvm() {
  leave_mask_bits_where_they_are();
  return !llvm::InitializeNativeTarget() && !llvm::InitializeNativeTargetAsmPrinter();
}

}  // namespace

Result<std::unique_ptr<llvm::TargetMachine>> machine_for(const std::string& image_target) {
  static const bool ready = initialize_llvm();
  if (!ready) return fail(ErrorCode::NotSupported, "cpu: LLVM was built without this machine's processor");
  const llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) return fail(ErrorCode::NotSupported, "cpu: {}", error);

  const Processor processor = processor_of(image_target);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;  // kir decided what is fused
  options.ExceptionModel = llvm::ExceptionHandling::None;
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, processor.name, processor.features, options, llvm::Reloc::PIC_,
                                  llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
  if (!machine) return fail(ErrorCode::NotSupported, "cpu: LLVM cannot generate code for {}", triple.str());
  return machine;
}

Result<> retarget(llvm::Module& module, const llvm::TargetMachine& machine) {
  const llvm::DataLayout from = module.getDataLayout(), to = machine.createDataLayout();
  llvm::TypeFinder types;
  types.run(module, /*onlyNamed=*/false);
  for (llvm::StructType* type : types) {
    if (!type->isSized()) continue;
    const llvm::StructLayout &a = *from.getStructLayout(type), &b = *to.getStructLayout(type);
    if (a.getSizeInBytes() != b.getSizeInBytes() || a.getAlignment() != b.getAlignment() ||
        a.getMemberOffsets() != b.getMemberOffsets())
      return fail(ErrorCode::NotSupported, "cpu: '{}' is laid out differently on this machine",
                  type->hasName() ? type->getName().str() : "a structure");
  }
  module.setDataLayout(to);
  module.setTargetTriple(machine.getTargetTriple());
  return {};
}

void clean_up(llvm::Module& module, const Effort& effort, llvm::TargetMachine& machine) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    // A frame larger than the page below the stack is touched page by page, so that an overflow faults there.
    function.addFnAttr("probe-stack", "inline-asm");
    function.removeFnAttr(llvm::Attribute::UWTable);
    shift_by_known_distances(function);
    divide_rows(function, machine);
  }
  llvm::TargetLibraryInfoImpl no_library(machine.getTargetTriple());
  no_library.disableAllFunctions();
  kir::PassAnalyses analyses(&machine, std::move(no_library));

  llvm::FunctionPassManager simplify;
  simplify.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
  simplify.addPass(llvm::ADCEPass());  // counters that only count
  if (effort.writes_out) {
    constexpr int kOptLevel = 3;  // how much more code it may become
    simplify.addPass(llvm::SimplifyCFGPass());
    simplify.addPass(MarkLoopsToWriteOut());
    simplify.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LoopFullUnrollPass(kOptLevel)));
    kir::add_combine(simplify);       // frames of a known size
    simplify.addPass(ShortenRows());  // by masks that are known
    simplify.addPass(llvm::SimplifyCFGPass());
    simplify.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
    simplify.addPass(TakeKnownNumbers());  // what one warp leaves in shared memory for the next
    simplify.addPass(TakeRowsOfRows());
    simplify.addPass(TakeStoredRows());
    simplify.addPass(llvm::DSEPass());
    simplify.addPass(llvm::createFunctionToLoopPassAdaptor(SinkStores(), /*UseMemorySSA=*/true));
  }
  simplify.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  kir::add_combine(simplify);
  simplify.addPass(llvm::SimplifyCFGPass());
  simplify.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  kir::add_combine(simplify);
  simplify.addPass(llvm::SimplifyCFGPass());
  llvm::ModulePassManager pipeline;
  pipeline.addPass(llvm::GlobalDCEPass());
  pipeline.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(simplify)));
  pipeline.run(module, analyses.modules);
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    drop_unread_shared_stores(function);
    drop_overwritten_notes(function, analyses.functions);
    clear_early(function);
    leave_out_idle_updates(function);
    take_strips(function, analyses.functions, machine.getTargetTransformInfo(function), effort.strips);
    make_addresses_beside_gathers(function);
    ask_for_whole_turns(function);
    move_masks_as_numbers(function, machine);
    ask_for_whole_rows(function);
    narrow_crowded_loops(function, machine.getTargetTransformInfo(function));
    write_out_gathers(function, machine);
    look_up_in_tables(function, machine);
    test_bits_in_place(function, machine);
    vote_by_bytes(function, machine);
    widen_narrow_masks(function, machine);
    hide_zeros_in_rows(function, machine);
    hide_shifts_of_products(function);
  }
}

namespace {

/// As TargetMachine::addPassesToEmitFile, without the pass that moves instructions to where their results are used:
/// between rows, each of which is read in one of two ways, it would move arithmetic behind the last of them, so that no
/// register is left for what they read.
bool emit(llvm::Module& module, llvm::TargetMachine& machine, llvm::raw_pwrite_stream& out, llvm::CodeGenFileType kind,
          Order order) {
  llvm::legacy::PassManager passes;
  llvm::TargetPassConfig* config = machine.createPassConfig(passes);
  if (!config) return false;
  config->disablePass(&llvm::MachineSinkingLegacyID);
  if (order == Order::AsWritten) config->disablePass(&llvm::MachineSchedulerID);
  passes.add(config);
  auto* functions = new llvm::MachineModuleInfoWrapperPass(&machine);
  passes.add(functions);
  if (config->addISelPasses()) return false;
  config->addMachinePasses();
  config->setInitialized();
  if (machine.addAsmPrinter(passes, out, nullptr, kind, functions->getMMI().getContext())) return false;
  passes.add(llvm::createFreeMachineFunctionPass());
  passes.run(module);
  return true;
}

/// Of the object's code; 0: it cannot be read.
uint64_t code_bytes(const llvm::MemoryBuffer& object) {
  auto file = llvm::object::ObjectFile::createObjectFile(object.getMemBufferRef());
  if (!file) {
    llvm::consumeError(file.takeError());
    return 0;
  }
  uint64_t bytes = 0;
  for (const llvm::object::SectionRef section : (*file)->sections())
    if (section.isText()) bytes += section.getSize();
  return bytes;
}

}  // namespace

Result<std::unique_ptr<llvm::MemoryBuffer>> emit_object(llvm::Module& module, llvm::TargetMachine& machine,
                                                        Order order) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  if (!emit(module, machine, out, llvm::CodeGenFileType::ObjectFile, order))
    return fail(ErrorCode::NotSupported, "cpu: LLVM cannot write object files for this machine");
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(bytes), "kernels.o", false);
}

Result<Emitted> emit_shorter_object(llvm::Module& module, llvm::TargetMachine& machine,
                                    llvm::function_ref<Result<>()> go_on) {
  // The scheduler hides latencies, which processors that run ahead do themselves, and mostly spares registers too.
  constexpr double kClearly = 0.97;
  constexpr uint64_t kMostEmittedTwice = 64 << 10;  // bytes: of more, emission takes more than half a second
  const std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
  TRY(auto scheduled, emit_object(*copy, machine, Order::Scheduled));
  TRY(go_on());
  if (code_bytes(*scheduled) > kMostEmittedTwice) return Emitted{std::move(scheduled), Order::Scheduled};
  TRY(auto as_written, emit_object(module, machine, Order::AsWritten));
  const auto most = static_cast<uint64_t>(kClearly * static_cast<double>(code_bytes(*scheduled)));
  const uint64_t bytes = code_bytes(*as_written);
  if (bytes != 0 && bytes < most) return Emitted{std::move(as_written), Order::AsWritten};
  return Emitted{std::move(scheduled), Order::Scheduled};
}

std::string emit_assembly(const llvm::Module& module, llvm::TargetMachine& machine, Order order) {
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream out(text);
  const std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
  emit(*copy, machine, out, llvm::CodeGenFileType::AssemblyFile, order);
  return std::string(text);
}

}  // namespace cupola::cpu::build
