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

/// What an access does, and to how many bytes of a thread.
struct Access {
  const char* verb;
  const llvm::Value* address;
  uint64_t bytes;
};

std::optional<Access> access_of(const llvm::Instruction& instruction) {
  const llvm::DataLayout& layout = instruction.getDataLayout();
  const auto size = [&](const llvm::Type* type) {
    return layout.getTypeStoreSize(const_cast<llvm::Type*>(type)).getFixedValue();
  };
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    if (load->hasMetadata(llvm::LLVMContext::MD_invariant_load)) return std::nullopt;  // of the context
    return Access{"reads", load->getPointerOperand(), size(load->getType())};
  }
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
    return Access{"writes", store->getPointerOperand(), size(store->getValueOperand()->getType())};
  if (const auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
    return Access{"updates", update->getPointerOperand(), size(update->getType())};
  if (const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction))
    return Access{"exchanges", exchange->getPointerOperand(), size(exchange->getNewValOperand()->getType())};
  return std::nullopt;
}

/// The lanes' places.
std::string way_of(const llvm::Instruction& instruction, const Access& access, BlockClass blocks, const Shapes& shapes,
                   const Groups& groups) {
  if (instruction.isAtomic()) return "one lane after the other";
  if (const Group* group = groups.of(&instruction))
    return formatted("structures of {} bytes beside each other: wide accesses and shuffles", group->stride());
  const Shape shape = shapes.at(access.address, instruction.getParent());
  if (shape.is_uniform()) return "one place for all lanes";
  const std::string tested = shape.is_extended ? ", if no index wraps (tested each time)" : "";
  if (shape.has_steps() && shape.stride == static_cast<int64_t>(access.bytes)) {
    if (shape.lanes_in_step(blocks) == kLanes) return "a row of 32" + tested;
    return formatted("rows of {}{}", shape.lanes_in_step(blocks), tested);
  }
  if (shape.has_steps() && shape.stride != 0)
    return formatted("places {} bytes apart, {}{}", shape.stride, kOneByOne, tested);
  return formatted("places without a known pattern, {}", kOneByOne);
}

}  // namespace

std::string report_accesses(llvm::Function& function, image::BlockClass blocks, const Shapes& shapes,
                            const Groups& groups, const llvm::LoopInfo& loops) {
  std::map<std::tuple<std::string, unsigned, std::string>, int> lines;  // by file, line and text
  for (const llvm::Instruction& instruction : llvm::instructions(function)) {
    const auto access = access_of(instruction);
    if (!access) continue;
    const llvm::DILocation* location = instruction.getDebugLoc();
    std::string text = formatted("{} {} bytes{}{}: {}", access->verb, access->bytes,
                                 loops.getLoopDepth(instruction.getParent()) ? " in a loop" : "",
                                 shapes.is_masked(instruction.getParent()) ? " where lanes may be elsewhere" : "",
                                 way_of(instruction, *access, blocks, shapes, groups));
    const std::string file = location ? location->getFilename().str() : "";
    ++lines[{file, location ? location->getLine() : 0, std::move(text)}];
  }
  std::string report;
  for (const auto& [key, count] : lines) {
    const auto& [file, line, text] = key;
    const std::string where = line ? formatted("{}:{} ", file, line) : "";
    report += formatted("    {}{}{}\n", where, text, count > 1 ? formatted(" ({} times)", count) : "");
  }
  return report;
}

}  // namespace cupola::cpu::build
