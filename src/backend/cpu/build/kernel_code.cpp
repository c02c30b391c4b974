#include "backend/cpu/build/kernel_code.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "backend/cpu/build/approximations.h"
#include "backend/cpu/build/context_parameter.h"
#include "backend/cpu/build/inner_blocks.h"
#include "backend/cpu/build/intrinsics.h"
#include "backend/cpu/build/keep_file.h"
#include "backend/cpu/build/kernel_entry.h"
#include "backend/cpu/build/line_table.h"
#include "backend/cpu/build/mask_registers.h"
#include "backend/cpu/build/object_file.h"
#include "backend/cpu/build/polling.h"
#include "backend/cpu/build/shared_atomics.h"
#include "backend/cpu/build/stages.h"
#include "backend/cpu/build/straight_code.h"
#include "backend/cpu/build/thread_context.h"
#include "backend/cpu/build/vector_rung.h"
#include "backend/cpu/build/whole_block.h"
#include "base/log.h"
#include "kir/call_reach.h"
#include "kir/float_atomics.h"
#include "kir/kir.h"

namespace cupola::cpu::build {
namespace {

using image::BlockClass;

/// A kernel's bodies, and the symbols of the entries that are made of them; empty: none.
struct Bodies {
  explicit Bodies(const KernelBody& of) : kernel(of), most_instructions(build::most_instructions(*of.body)) {}

  const KernelBody& kernel;
  const uint32_t most_instructions;
  WarpBodies warps;
  std::optional<InnerBody> inner;
  std::string why_not;   ///< it runs a thread at a time
  std::string accesses;  ///< see report_accesses; empty where nobody asks
  std::string entry;
  image::ByBlockClass<std::string> wide_entries;
};

/// How the kernel runs, for people.
std::string rung_of(const Bodies& bodies) {
  if (!bodies.why_not.empty()) return "a thread at a time: " + bodies.why_not;
  for (const WideBody& body : bodies.warps) {
    if (!body.code) continue;
    if (body.is_alone) return "a block at a time, thread after thread: in step each of its accesses would be a gather";
    return body.why_not.empty() ? "a warp at a time" : "a warp at a time, with a stack for each: " + body.why_not;
  }
  return "a thread at a time";
}

/// Somebody wants to know how memory is read and written; of all kinds of blocks at once nobody does.
bool says_accesses(const CodeOptions& options) {
  return options.blocks && (options.report || log::enabled(log::Topic::Compile));
}

void vectorise_if_it_can(Bodies& bodies, const CodeOptions& options, const kir::CallReach& reach,
                         const llvm::TargetMachine& machine) {
  if (options.blocks && options.blocks->blocks == BlockClass::One) return;
  std::string* const report = says_accesses(options) ? &bodies.accesses : nullptr;
  auto rung = vectorise(bodies.kernel, options.blocks, options.constant_bytes, reach, machine, report);
  if (!rung) {
    bodies.why_not = rung.error().message;
    return;
  }
  bodies.warps = std::move(rung->warps);
  bodies.inner = std::move(rung->inner);
}

/// For people, behind a kernel's name.
std::string which_blocks(const CodeOptions& options) {
  return options.blocks ? formatted(" (blocks {})", words_of(*options.blocks)) : "";
}

/// How many inner blocks are run apart from the others, where they are in a row: memory takes long pieces faster, where
/// blocks beside each other continue each other's rows.
uint32_t least_in_row(const WideBody& all) {
  return all.order == WarpOrder::RowAfterRow ? 16 : 1;
}

std::string indented(unsigned spaces, llvm::StringRef lines) {
  std::string text;
  for (const llvm::StringRef line : llvm::split(lines, '\n'))
    if (!line.empty()) text += std::string(spaces, ' ') + line.str() + "\n";
  return text;
}

/// In which order blocks run, and how they read and write memory, for people: a line each.
std::string ways_of(const WideBody& body, const std::string& accesses) {
  std::string text;
  if (const char* order = words_of(body.order)) text += formatted("{}\n", order);
  if (body.meets_in_grid_turns) text += "several turns of loops over the grid at a time\n";
  return text + accesses;
}

/// For which blocks a kernel has code of its own; `all`: what the others have.
std::string words_of(const InnerBody& inner, const WideBody& all) {
  const std::string which =
      inner.least_blocks == 0 ? "blocks" : formatted("in grids of {} blocks and more, those", inner.least_blocks);
  const std::string beside =
      !inner.is_taken_in() && least_in_row(all) > 1 ? formatted(" and are {} or more in a row", least_in_row(all)) : "";
  return formatted("{} that lie within the arrays in all their threads{}, by code that does not ask:", which, beside);
}

/// After join_inner_blocks.
std::string ways_of(const Bodies& bodies) {
  const auto* all = llvm::find_if(bodies.warps, [](const WideBody& body) { return body.code != nullptr; });
  if (all == bodies.warps.end()) return "";
  const std::string ways = ways_of(*all, bodies.accesses);
  if (!bodies.inner) return indented(4, ways);
  return indented(4, words_of(*bodies.inner, *all)) + indented(6, ways_of(bodies.inner->body, bodies.inner->accesses)) +
         indented(4, "all others:") + indented(6, ways);
}

void say_how_it_runs(const Bodies& bodies, const CodeOptions& options) {
  if (!options.report && !log::enabled(log::Topic::Compile)) return;
  std::string text = rung_of(bodies) + "\n";
  if (options.blocks) text += ways_of(bodies);
  if (options.report) *options.report += text;
  text.pop_back();
  log::line(log::Topic::Compile, "kernel {}{}: {}", bodies.kernel.name, which_blocks(options), text);
}

llvm::SmallVector<WideCode, 8> wide_code(std::vector<Bodies>& all) {
  llvm::SmallVector<WideCode, 8> wide;
  for (Bodies& bodies : all)
    for (WideBody& body : bodies.warps)
      if (body.code) wide.push_back({&body, bodies.inner ? &*bodies.inner : nullptr});  // of which there is one then
  return wide;
}

/// After run_whole_blocks, which may have left code as it was: that runs all blocks, and there is no other.
void join_inner_blocks(std::vector<Bodies>& all) {
  for (Bodies& bodies : all) {
    if (!bodies.inner || bodies.inner->is_taken_in()) continue;
    WideBody &inner = bodies.inner->body, &body = bodies.warps[inner.blocks];
    if (!body.runs_block() || !inner.runs_block()) {
      bodies.inner.reset();
      continue;
    }
    body.code = run_inner_blocks_apart(*body.code, *inner.code, *bodies.inner->are_inner,
                                       {least_in_row(body), bodies.inner->least_blocks});
  }
}

/// How the code waits.
void take_waiting(llvm::Function* code, const kir::CallReach& reach, image::Kernel& kernel) {
  bool suspending = false;
  for (llvm::Function* function : reach.from(code))
    for (const llvm::Instruction& instruction : llvm::instructions(*function)) {
      suspending |= suspends(instruction);
      kernel.polls |= polls(instruction);
    }
  kernel.rung = suspending ? image::Rung::ThreadFibres : image::Rung::ThreadLoop;
}

/// One block after the other: loops over its warps that are worth to be written out.
bool is_in_pieces(const WideBody& body) {
  return body.order == WarpOrder::Pieces;
}

/// Loops over the warps of blocks for each of several pieces are written out in hot code alone.
Effort effort_for(const std::vector<Bodies>& all, const CodeOptions& options) {
  if (!options.blocks || !options.blocks->hot) return {};
  const bool has_pieces = llvm::any_of(all, [](const Bodies& bodies) {
    return (bodies.inner && is_in_pieces(bodies.inner->body)) || llvm::any_of(bodies.warps, is_in_pieces);
  });
  return {.writes_out = has_pieces, .strips = 8};
}

/// Hot code would be other code than this: it would write out what this does not, or know sizes.
bool is_improvable(const Bodies& bodies, const CodeOptions& options) {
  if (!options.blocks || options.blocks->hot) return false;
  return llvm::any_of(bodies.warps, [&](const WideBody& body) {
    return body.code && (body.leaves_out || (!body.is_alone && (is_in_pieces(body) || !options.blocks->shape)));
  });
}

/// The code whose waiting is the kernel's: where there is some for one thread, that.
llvm::Function* main_code(const Bodies& bodies, bool has_thread) {
  if (!has_thread)
    for (const WideBody& body : bodies.warps)
      if (body.code) return body.code;
  return bodies.kernel.body;
}

Result<> verify(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (!llvm::verifyModule(module, &out)) return {};
  return fail(ErrorCode::InvalidSource, "cpu: the module is malformed after lowering for the cpu: {}", text);
}

Result<> go_on(const CodeOptions& options) {
  if (!options.given_up || !options.given_up->load(std::memory_order_relaxed)) return {};
  return fail(ErrorCode::Deinitialized, "cpu: the process ends");
}

/// Where there are registers for masks there are 32 for vectors, and both orders are as good.
Result<Emitted> emit(llvm::Module& module, const CodeOptions& options, llvm::TargetMachine& machine) {
  if (options.blocks && options.blocks->hot && !has_mask_registers(machine))
    return emit_shorter_object(module, machine, [&] { return go_on(options); });
  TRY(auto object, emit_object(module, machine));
  return Emitted{std::move(object), Order::Scheduled};
}

/// `flushes`: the processor flushes denormals in all of it, which LLVM must know.
Result<Segment> emit_segment(llvm::Module& module, bool flushes, const Effort& effort, const CodeOptions& options,
                             llvm::TargetMachine& machine, Stages& stages) {
  keep_line_numbers(module);
  TRY(verify(module));
  if (flushes)
    for (llvm::Function& function : module)
      if (!function.isDeclaration()) kir::say_flushing(function);
  approximate(module, machine);
  clean_up(module, effort, machine);
  stages.end("passes");
  TRY(go_on(options));
  const std::string& keep = options.keep;
  std::unique_ptr<llvm::Module> kept;
  if (!keep.empty()) {
    std::string text;
    llvm::raw_string_ostream(text) << module;
    keep_file(keep + ".host.ll", text);
    kept = llvm::CloneModule(module);
  }
  TRY(const Emitted emitted, emit(module, options, machine));
  stages.end("instructions");
  if (kept) keep_file(keep + ".s", emit_assembly(*kept, machine, emitted.order));
  return pack_segment(emitted.object->getMemBufferRef());
}

}  // namespace

Result<GeneratedCode> generate_code(llvm::Module& module, std::span<const KernelBody> kernels,
                                    const CodeOptions& options, llvm::TargetMachine& machine) {
  Stages stages;
  const kir::CallReach reach(module);
  std::vector<Bodies> all;
  for (const KernelBody& kernel : kernels) vectorise_if_it_can(all.emplace_back(kernel), options, reach, machine);
  stages.end("in step");
  TRY(lower_intrinsics(module, options.constant_bytes));
  instrument_polling(module, reach);
  lower_shared_atomics(module);
  stages.end("lowering");
  run_whole_blocks(module, wide_code(all), machine);
  join_inner_blocks(all);
  kir::expand_float_sums(module);
  for (llvm::Function& function : module) lower_address_questions(function, options.constant_bytes);
  stages.end("blocks");
  TRY(go_on(options));
  for (const Bodies& bodies : all) say_how_it_runs(bodies, options);

  GeneratedCode code;
  const kir::CallReach lowered(module);
  const auto has_thread = [&](const Bodies& bodies) {
    return !options.blocks || llvm::none_of(bodies.warps, [](const WideBody& body) { return body.code; });
  };
  for (Bodies& bodies : all) {
    image::Kernel& kernel = code.kernels.emplace_back();
    kernel.flush_denormals = kir::flushes_denormals(*bodies.kernel.body);
    take_waiting(main_code(bodies, has_thread(bodies)), lowered, kernel);
    kernel.improvable = is_improvable(bodies, options);
    kernel.most_instructions = bodies.most_instructions;
    if (has_thread(bodies)) bodies.entry = make_kernel_entry(*bodies.kernel.body);
    for (const BlockClass blocks : image::kBlockClasses)
      if (llvm::Function* body = bodies.warps[blocks].code) bodies.wide_entries[blocks] = make_kernel_entry(*body);
  }
  if (options.exports_functions)
    for (llvm::Function* function : reach.address_taken()) {  // the loader must find them
      function->setLinkage(llvm::GlobalValue::ExternalLinkage);
      function->setDSOLocal(true);
    }
  const bool flushes =
      !all.empty() && llvm::all_of(code.kernels, [](const image::Kernel& kernel) { return kernel.flush_denormals; });
  TRY(code.segment, emit_segment(module, flushes, effort_for(all, options), options, machine, stages));
  if (!all.empty())
    log::line(log::Topic::Compile, "kernel {}{} took, in ms: {}", all.front().kernel.name,
              all.size() > 1 ? formatted(" and {} more", all.size() - 1) : which_blocks(options), stages.text());

  const auto place_of = [&](const std::string& symbol) {
    return symbol.empty() ? image::kNoEntry : code.segment.symbols.at(symbol);
  };
  for (size_t i = 0; i < all.size(); ++i) {
    code.kernels[i].entry = place_of(all[i].entry);
    for (const BlockClass blocks : image::kBlockClasses)
      code.kernels[i].wide_entries[blocks] = {place_of(all[i].wide_entries[blocks]), all[i].warps[blocks].runs_block()};
  }
  return code;
}

}  // namespace cupola::cpu::build
