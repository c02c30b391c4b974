#include "backend/cpu/build/vector_report.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <map>
#include <optional>
#include <tuple>

#include "backend/cpu/build/vector_groups.h"
#include "backend/cpu/build/vector_shapes.h"
#include "base/format.h"

namespace cupola::cpu::build {
namespace {

/// What an instruction does, and to how many bytes of a thread.
struct Transfer {
  const char* verb;
  const llvm::Value* address;
  uint64_t bytes;
};

std::optional<Transfer> transfer_of(const llvm::Instruction& instruction) {
  const llvm::DataLayout& layout = instruction.getDataLayout();
  const auto size = [&](llvm::Type* type) { return layout.getTypeStoreSize(type).getFixedValue(); };
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    if (load->hasMetadata(llvm::LLVMContext::MD_invariant_load)) return std::nullopt;  // of the context
    return Transfer{"reads", load->getPointerOperand(), size(load->getType())};
  }
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
    return Transfer{"writes", store->getPointerOperand(), size(store->getValueOperand()->getType())};
  if (const auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
    return Transfer{"updates", update->getPointerOperand(), size(update->getType())};
  if (const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction))
    return Transfer{"exchanges", exchange->getPointerOperand(), size(exchange->getNewValOperand()->getType())};
  return std::nullopt;
}

/// The lanes' places.
std::string places_of(const llvm::Instruction& instruction, Access way, BlockClass blocks, Shape shape,
                      const Groups& groups) {
  switch (way) {
    case Access::Once:
      return "one place for all lanes";
    case Access::Together:
      return "one place for all lanes, in one update";
    case Access::Segments:
      return formatted("one place for each row of {}", segment_lanes(blocks));
    case Access::Row: {
      const unsigned lanes = shape.lanes_in_step(blocks);
      return formatted("{} of {}{}", lanes == kLanes ? "a row" : "rows", lanes,
                       shape.is_extended ? ", if no index wraps (tested each time)" : "");
    }
    case Access::Structures:
      return formatted("structures of {} bytes beside each other: wide accesses and shuffles",
                       groups.of(&instruction)->stride());
    case Access::FoundRuns:
      return formatted("a row, or runs of one, where the running code finds them; else {}", kOneByOne);
    case Access::LaneByLane:
      if (instruction.isAtomic()) return "one lane after the other";
      [[fallthrough]];
    case Access::Gather:
      if (!shape.has_steps() || shape.stride == 0) return formatted("places without a known pattern, {}", kOneByOne);
      return formatted("places {} bytes apart, {}", shape.stride, kOneByOne);
  }
}

}  // namespace

std::string report_accesses(const llvm::Function& function, image::BlockClass blocks, const Shapes& shapes,
                            const Groups& groups, const llvm::LoopInfo& loops, const Accesses& accesses) {
  std::map<std::tuple<std::string, unsigned, std::string>, int> lines;  // by file, line and text
  for (const llvm::Instruction& instruction : llvm::instructions(function)) {
    const auto transfer = transfer_of(instruction);
    const auto way = accesses.find(&instruction);
    if (!transfer || way == accesses.end()) continue;
    const Shape shape = shapes.at(transfer->address, instruction.getParent());
    const llvm::DILocation* location = instruction.getDebugLoc();
    std::string text = formatted("{} {} bytes{}{}: {}", transfer->verb, transfer->bytes,
                                 loops.getLoopDepth(instruction.getParent()) ? " in a loop" : "",
                                 shapes.is_masked(instruction.getParent()) ? " where lanes may be elsewhere" : "",
                                 places_of(instruction, way->second, blocks, shape, groups));
    const std::string file = location ? location->getFilename().str() : "";
    ++lines[{file, location ? location->getLine() : 0, std::move(text)}];
  }
  std::string report;
  for (const auto& [key, count] : lines) {
    const auto& [file, line, text] = key;
    const std::string where = line ? formatted("{}:{} ", file, line) : "";
    report += formatted("{}{}{}\n", where, text, count > 1 ? formatted(" ({} times)", count) : "");
  }
  return report;
}

}  // namespace cupola::cpu::build
