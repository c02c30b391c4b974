#include "backend/cpu/build/vector_groups.h"

#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/BasicAliasAnalysis.h>
#include <llvm/Analysis/ScopedNoAliasAA.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/TargetParser/Triple.h>

#include <algorithm>
#include <bit>

#include "backend/cpu/build/vector_shapes.h"

namespace cupola::cpu::build {
namespace {

using llvm::Instruction;

/// What wide accesses of few fields read in vain, or shuffle, is worth less than gathers up to there.
constexpr unsigned kMostFields = 8, kMostSparseFields = 4;

/// Groups of a block. A group is open as long as an access may join it.
class BlockGroups {
 public:
  BlockGroups(llvm::BasicBlock& block, const Shapes& shapes, llvm::AAResults& aliases)
      : block_(block), shapes_(shapes), aliases_(aliases), layout_(block.getDataLayout()) {}

  std::vector<std::unique_ptr<Group>> find() {
    for (Instruction& instruction : block_) visit(instruction);
    std::vector<std::unique_ptr<Group>> result;
    for (std::unique_ptr<Open>& one : all_)
      if (is_worth(*one->group)) result.push_back(std::move(one->group));
    return result;
  }

 private:
  struct Open {
    std::unique_ptr<Group> group = std::make_unique<Group>();
    const llvm::Value* base = nullptr;
    int64_t last = 0;                           ///< the highest offset
    llvm::SmallVector<Instruction*, 8> writes;  ///< that come after the first load
    bool is_open = true;
  };

  void visit(Instruction& instruction) {
    if (llvm::isa<llvm::DbgInfoIntrinsic>(instruction)) return;
    if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction); call && call->isAssumeLikeIntrinsic())
      return;
    const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    if ((load && load->isSimple()) || (store && store->isSimple())) return access(instruction);
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    if (instruction.mayReadOrWriteMemory() || instruction.mayHaveSideEffects() || (call && call->isConvergent()))
      for (auto& one : all_) one->is_open = false;
  }

  void access(Instruction& instruction) {
    const bool is_store = llvm::isa<llvm::StoreInst>(instruction);
    // Stores that come before it stay there.
    for (auto& one : all_)
      if (one->is_open && one->group->is_store() && conflicts(*one, instruction)) one->is_open = false;
    Open* joined = join(instruction, is_store);
    if (!is_store) return;
    // Loads that join later go before all that were written up to here, and a store takes those of its group along.
    for (auto& one : all_) {
      if (!one->is_open || one->group->is_store()) continue;
      if (!joined) one->writes.push_back(&instruction);
      for (size_t i = 0; joined && i < joined->group->members.size(); ++i)
        one->writes.push_back(joined->group->members[i].access);
    }
  }

  bool conflicts(const Open& stores, Instruction& access) {
    return llvm::any_of(stores.group->members, [&](const Group::Member& one) { return overlaps(*one.access, access); });
  }
  bool overlaps(Instruction& a, Instruction& b) {
    return !aliases_.isNoAlias(llvm::MemoryLocation::get(&a), llvm::MemoryLocation::get(&b));
  }

  /// Puts the access into an open group or one of its own; null: it is in none.
  Open* join(Instruction& access, bool is_store) {
    const auto bytes = field_bytes(llvm::getLoadStoreType(&access));
    const unsigned fields = bytes ? fields_of(access, bytes) : 0;
    if (!fields) return nullptr;
    const llvm::Value* address = llvm::getLoadStorePointerOperand(&access);
    llvm::APInt distance(layout_.getIndexTypeSizeInBits(address->getType()), 0);
    const llvm::Value* base = address->stripAndAccumulateConstantOffsets(layout_, distance, true);
    const Group::Member member{&access, distance.getSExtValue()};
    for (auto& one : all_)
      if (is_store == one->group->is_store() && one->base == base && one->group->bytes == bytes &&
          one->group->fields == fields && takes(*one, member)) {
        add(*one, member);
        return one.get();
      }
    Open& made = *all_.emplace_back(std::make_unique<Open>());
    made.base = base;
    made.group->bytes = bytes;
    made.group->fields = fields;
    made.group->first = made.last = member.offset;
    add(made, member);
    return &made;
  }

  void add(Open& to, const Group::Member& member) {
    to.group->first = std::min(to.group->first, member.offset);
    to.last = std::max(to.last, member.offset);
    to.group->members.push_back(member);
    if (to.group->members.size() == 1 || to.group->is_store()) to.group->place = member.access;
  }

  bool takes(const Open& group, const Group::Member& member) {
    const int64_t first = std::min(group.group->first, member.offset), last = std::max(group.last, member.offset);
    return group.is_open && (member.offset - group.group->first) % group.group->bytes == 0 &&
           last - first < group.group->stride() &&
           llvm::getLoadStorePointerOperand(group.group->place)->getType() ==
               llvm::getLoadStorePointerOperand(member.access)->getType() &&
           llvm::none_of(group.writes, [&](Instruction* write) { return overlaps(*write, *member.access); });
  }

  /// 0: not of a size that vectors have.
  unsigned field_bytes(llvm::Type* type) const {
    if (!type->isIntegerTy() && !type->isFloatingPointTy() && !type->isPointerTy()) return 0;
    const uint64_t bits = layout_.getTypeSizeInBits(type).getFixedValue();
    return bits == 8 || bits == 16 || bits == 32 || bits == 64 ? static_cast<unsigned>(bits / 8) : 0;
  }

  /// How many fields there are from lane to lane; 0: lanes' places do not lie so.
  unsigned fields_of(const Instruction& access, unsigned bytes) const {
    const Shape shape = shapes_.at(llvm::getLoadStorePointerOperand(&access), &block_);
    if (!shape.has_steps() || shape.is_flat() || shape.stride % bytes != 0) return 0;
    // Segments that write the same places do so in order.
    if (shape.kind == Shape::Kind::Periodic && llvm::isa<llvm::StoreInst>(access)) return 0;
    const int64_t fields = shape.stride / bytes;
    return fields >= 2 && fields <= kMostFields ? static_cast<unsigned>(fields) : 0;
  }

  static bool is_worth(const Group& group) {
    return group.fields <= kMostSparseFields || 2 * static_cast<unsigned>(std::popcount(group.used())) >= group.fields;
  }

  llvm::BasicBlock& block_;
  const Shapes& shapes_;
  llvm::AAResults& aliases_;
  const llvm::DataLayout& layout_;
  std::vector<std::unique_ptr<Open>> all_;
};

}  // namespace

bool Group::is_store() const {
  return llvm::isa<llvm::StoreInst>(place);
}

unsigned Group::used() const {
  unsigned result = 0;
  for (const Member& member : members) result |= 1u << field_of(member);
  return result;
}

unsigned Group::used_fields() const {
  return static_cast<unsigned>(std::bit_width(used()));
}

Groups::Groups(llvm::Function& function, const Shapes& shapes, llvm::DominatorTree& dominators) {
  const llvm::TargetLibraryInfoImpl libraries{llvm::Triple(function.getParent()->getTargetTriple())};
  const llvm::TargetLibraryInfo library(libraries);
  llvm::AssumptionCache assumptions(function);
  llvm::BasicAAResult basic(function.getDataLayout(), function, library, assumptions, &dominators);
  llvm::ScopedNoAliasAAResult scopes;
  llvm::AAResults aliases(library);
  aliases.addAAResult(basic);
  aliases.addAAResult(scopes);
  for (llvm::BasicBlock& block : function)
    for (std::unique_ptr<Group>& group : BlockGroups(block, shapes, aliases).find()) {
      for (const Group::Member& member : group->members) of_[member.access] = group.get();
      groups_.push_back(std::move(group));
    }
}

}  // namespace cupola::cpu::build
