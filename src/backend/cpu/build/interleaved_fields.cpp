#include "backend/cpu/build/interleaved_fields.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/Local.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "backend/cpu/build/lane_by_lane.h"

// Field f of structure i, of a row of `width` structures of `count` fields, is number f + count * i of what lies beside
// each other: lane (f + count * i) % width of register (f + count * i) / width. To do the same to all fields is to do
// it to all registers.

namespace cupola::cpu::build {
namespace {

using llvm::Instruction;
using llvm::Value;

/// A value for each field, or a register of those that lie beside each other in its place.
using Fields = std::vector<Value*>;

constexpr unsigned kMostFields = 8;

/// What a lane of a vector was made of by shuffles and known choices: another vector's lane, or a number. Null:
/// nothing.
struct Origin {
  Value* value = nullptr;
  unsigned lane = 0;
  bool operator==(const Origin&) const = default;
};

Origin origin_of(Value* vector, unsigned lane) {
  for (;;) {
    if (auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(vector)) {
      const int from = shuffle->getMaskValue(lane);
      if (from < 0) return {};
      const unsigned width = lanes_of(*shuffle->getOperand(0)), at = static_cast<unsigned>(from);
      vector = shuffle->getOperand(at < width ? 0 : 1);
      lane = at % width;
    } else if (auto* insert = llvm::dyn_cast<llvm::InsertElementInst>(vector)) {
      const auto* index = llvm::dyn_cast<llvm::ConstantInt>(insert->getOperand(2));
      if (!index) return {vector, lane};
      if (index->getZExtValue() == lane) return {insert->getOperand(1), 0};
      vector = insert->getOperand(0);
    } else if (auto* select = llvm::dyn_cast<llvm::SelectInst>(vector);
               select && llvm::isa<llvm::ConstantVector, llvm::ConstantDataVector>(select->getCondition())) {
      const llvm::Constant* which = llvm::cast<llvm::Constant>(select->getCondition())->getAggregateElement(lane);
      vector = which->isOneValue() ? select->getTrueValue() : select->getFalseValue();
      if (!llvm::isa<llvm::ConstantInt>(which)) return {};
    } else if (auto* constant = llvm::dyn_cast<llvm::Constant>(vector)) {
      llvm::Constant* number = constant->getAggregateElement(lane);
      return number && !llvm::isa<llvm::UndefValue>(number) ? Origin{number, 0} : Origin{};
    } else {
      return {vector, lane};
    }
  }
}

/// All lanes of each register of `width` have the same.
bool is_even(Value* vector, unsigned width) {
  for (unsigned lane = 0; lane < lanes_of(*vector); ++lane) {
    const Origin origin = origin_of(vector, lane);
    if (!origin.value || origin != origin_of(vector, lane / width * width)) return false;
  }
  return true;
}

/// It does the same in each lane, whatever the others are.
bool may_change_order(const Instruction& instruction) {
  return is_lane_by_lane(instruction) && !llvm::isa<llvm::CmpInst, llvm::SelectInst>(instruction) &&
         llvm::isSafeToSpeculativelyExecute(&instruction);
}

/// And to the same numbers, if they are.
bool is_same_operation(const Instruction& a, const Instruction& b) {
  llvm::SmallVector<std::pair<unsigned, llvm::MDNode*>, 4> known_of_a, known_of_b;
  a.getAllMetadataOtherThanDebugLoc(known_of_a);
  b.getAllMetadataOtherThanDebugLoc(known_of_b);
  const auto called = [](const Instruction& one) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&one);
    return call ? call->getCalledOperand() : nullptr;
  };
  return a.getParent() == b.getParent() && a.isSameOperationAs(&b) && called(a) == called(b) &&
         a.hasSameSubclassOptionalData(&b) && known_of_a == known_of_b;
}

/// Registers of which the fields of structures are taken apart.
struct Source {
  unsigned width;    ///< lanes of a register
  Fields fields;     ///< all of them
  Fields registers;  ///< for each `width` lanes of a field as many as there are fields
};

/// What some vector is of a source.
struct Part {
  unsigned width, count, field;
  Fields registers;
};

std::optional<Part> part_of(Value* vector) {
  const unsigned lanes = lanes_of(*vector);
  const Origin first = origin_of(vector, 0), second = lanes > 1 ? origin_of(vector, 1) : Origin{};
  if (!first.value || first.value != second.value || second.lane <= first.lane) return std::nullopt;
  Part part{lanes_of(*first.value), second.lane - first.lane, first.lane, {}};
  const auto [width, count, field, _] = part;
  if (width < 2 || lanes % width != 0 || !llvm::has_single_bit(count) || count < 2 || count > kMostFields ||
      count > width / 2 || field >= count)
    return std::nullopt;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const unsigned number = field + count * (lane % width);
    const Origin origin = origin_of(vector, lane);
    if (!origin.value || lanes_of(*origin.value) != width || origin.lane != number % width) return std::nullopt;
    const size_t at = lane / width * count + number / width;
    if (at == part.registers.size())
      part.registers.push_back(origin.value);
    else if (at > part.registers.size() || part.registers[at] != origin.value)
      return std::nullopt;
  }
  return part;
}

std::vector<Source> sources_in(llvm::Function& code) {
  std::map<Fields, size_t> known;  // by their registers
  std::vector<Source> all;
  for (Instruction& instruction : llvm::instructions(code)) {
    if (!llvm::isa<llvm::ShuffleVectorInst>(instruction)) continue;
    const auto part = part_of(&instruction);
    if (!part) continue;
    const auto [at, is_new] = known.try_emplace(part->registers, all.size());
    if (is_new) all.push_back({part->width, Fields(part->count), part->registers});
    Source& source = all[at->second];
    if (source.fields.size() == part->count && !source.fields[part->field]) source.fields[part->field] = &instruction;
  }
  std::erase_if(all, [](const Source& source) { return llvm::is_contained(source.fields, nullptr); });
  return all;
}

/// What may be computed in the order of memory with some source, and with others beside it.
class Web {
 public:
  Web(const Source& source, const std::vector<Source>& all, const llvm::LoopInfo& loops)
      : width_(source.width), all_(all), loops_(loops), depth_(depth_of(source)) {
    belongs(source.fields);
    for (size_t next = 0; next < members_.size(); ++next) follow(Fields(members_[next]));
  }

  /// Whether all that is made of the sources within their loops is in it.
  bool pays() const {
    unsigned depth = depth_;
    for (const Source& source : all_)
      if (is_member(source.fields[0])) depth = std::min(depth, depth_of(source));
    return llvm::all_of(members_, [&](const Fields& fields) {
      return llvm::all_of(fields, [&](Value* field) {
        return llvm::all_of(field->uses(), [&](const llvm::Use& use) {
          return is_member(use.getUser()) || depth_of(*place_of(use)) < depth;
        });
      });
    });
  }

  void keep() {
    for (const Fields& fields : members_)
      if (!source_of(fields)) take_apart(fields);
    for (const Source& source : all_)
      if (is_member(source.fields[0])) put_rows(source);
  }

 private:
  // ---- who belongs to it ----

  void add(const Fields& fields) {
    members_.push_back(fields);
    for (Value* field : fields) of_[field] = members_.size() - 1;
  }
  bool is_member(const Value* value) const { return of_.contains(value); }
  const Source* source_of(const Fields& fields) const {
    const auto found =
        llvm::find_if(all_, [&](const Source& one) { return one.fields == fields && one.width == width_; });
    return found == all_.end() ? nullptr : &*found;
  }
  unsigned depth_of(const Instruction& instruction) const { return loops_.getLoopDepth(instruction.getParent()); }
  unsigned depth_of(const Source& source) const { return depth_of(*llvm::cast<Instruction>(source.fields[0])); }
  /// Outside of the loop only what is handed on: one field may be read there before the next one is computed, and to
  /// take one out of the registers all must be there.
  bool may_belong(const Instruction& instruction) const {
    return llvm::isa<llvm::PHINode>(instruction) || (depth_of(instruction) >= depth_ && may_change_order(instruction));
  }

  /// The users of the fields that do the same to each.
  void follow(const Fields& fields) {
    llvm::SmallPtrSet<const Value*, 16> taken;
    for (llvm::User* user : fields[0]->users()) {
      auto* first = llvm::dyn_cast<Instruction>(user);
      if (!first || is_member(first) || !may_belong(*first)) continue;
      Fields users{first};
      for (size_t field = 1; field < fields.size(); ++field) {
        const auto is_alike = [&](llvm::User* other) {
          return !taken.contains(other) && !is_member(other) &&
                 is_same(*first, *llvm::cast<Instruction>(other), fields[0], fields[field]);
        };
        const auto found = llvm::find_if(fields[field]->users(), is_alike);
        if (found == fields[field]->user_end()) break;
        users.push_back(*found);
      }
      if (users.size() != fields.size()) continue;
      const size_t before = members_.size();
      if (belongs(users))
        taken.insert(users.begin(), users.end());
      else
        forget(before);
    }
  }

  void forget(size_t from) {
    while (members_.size() > from) {
      for (Value* field : members_.back()) of_.erase(field);
      members_.pop_back();
    }
  }

  /// They do the same with fields of theirs, and with what all lanes share.
  bool is_same(const Instruction& a, const Instruction& b, const Value* of_a, const Value* of_b) const {
    if (&a == &b || !is_same_operation(a, b)) return false;
    if (llvm::isa<llvm::PHINode>(a)) return true;
    for (unsigned i = 0; i < a.getNumOperands(); ++i) {
      Value *mine = a.getOperand(i), *theirs = b.getOperand(i);
      if ((mine == of_a) != (theirs == of_b)) return false;
      if (mine != of_a && lanes_of(*mine) > 0 && is_even(mine, width_) && mine != theirs) return false;
    }
    return true;
  }

  /// Whether the values, one for each field, may be in the order of memory; those that are not yet members become some,
  /// also of what turns out not to belong.
  bool belongs(const Fields& fields) {
    if (llvm::all_equal(fields)) return is_even(fields[0], width_);
    if (const auto known = of_.find(fields[0]); known != of_.end()) return members_[known->second] == fields;
    if (source_of(fields)) {
      add(fields);
      return true;
    }
    auto* first = llvm::dyn_cast<Instruction>(fields[0]);
    if (!first || !may_belong(*first)) return false;
    for (Value* field : llvm::drop_begin(fields)) {
      auto* other = llvm::dyn_cast<Instruction>(field);
      if (!other || is_member(other) || !is_same_operation(*first, *other)) return false;
    }
    for (size_t i = 0; i < fields.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        if (fields[i] == fields[j]) return false;
    add(fields);
    for (unsigned i = 0; i < first->getNumOperands(); ++i) {
      if (const auto* call = llvm::dyn_cast<llvm::CallInst>(first); call && i >= call->arg_size()) break;
      Fields operands;
      for (Value* field : fields) {
        const auto* phi = llvm::dyn_cast<llvm::PHINode>(field);
        operands.push_back(phi ? phi->getIncomingValueForBlock(llvm::cast<llvm::PHINode>(first)->getIncomingBlock(i))
                               : llvm::cast<Instruction>(field)->getOperand(i));
      }
      if (!belongs(operands)) return false;
    }
    return true;
  }

  // ---- doing it ----

  /// Where a use reads.
  static Instruction* place_of(const llvm::Use& use) {
    auto* user = llvm::cast<Instruction>(use.getUser());
    const auto* phi = llvm::dyn_cast<llvm::PHINode>(user);
    return phi ? phi->getIncomingBlock(use)->getTerminator() : user;
  }

  /// Registers take the place of fields.
  void put_rows(const Source& source) {
    for (size_t field = 0; field < source.fields.size(); ++field) {
      llvm::IRBuilder<> builder(llvm::cast<Instruction>(source.fields[field]));
      llvm::SmallVector<Value*, 4> parts;
      for (size_t i = field; i < source.registers.size(); i += source.fields.size())
        parts.push_back(source.registers[i]);
      Value* row = parts.size() == 1 ? parts[0] : llvm::concatenateVectors(builder, parts);
      source.fields[field]->replaceUsesWithIf(row, [&](const llvm::Use& use) { return is_member(use.getUser()); });
    }
  }

  /// For those who do not belong to it.
  void take_apart(const Fields& fields) {
    llvm::MapVector<llvm::BasicBlock*, llvm::SmallVector<llvm::Use*, 4>> uses;
    for (Value* field : fields)
      for (llvm::Use& use : field->uses())
        if (!is_member(use.getUser())) uses[place_of(use)->getParent()].push_back(&use);
    for (auto& [block, some] : uses) {
      Instruction* first = place_of(*some[0]);
      for (const llvm::Use* use : some)
        if (place_of(*use)->comesBefore(first)) first = place_of(*use);
      llvm::IRBuilder<> builder(first);
      for (size_t field = 0; field < fields.size(); ++field) {
        Value* taken = nullptr;
        for (llvm::Use* use : some) {
          if (use->get() != fields[field]) continue;
          if (!taken) taken = taken_apart(builder, fields, static_cast<unsigned>(field));
          use->set(taken);
        }
      }
    }
  }

  /// One field of the rows: pairs of them give a half of its lanes each, and so on.
  Value* taken_apart(llvm::IRBuilder<>& builder, Fields rows, unsigned field) const {
    const unsigned width = width_, lanes = lanes_of(*rows[0]);
    for (auto stride = static_cast<unsigned>(rows.size()); rows.size() > 1;) {
      // Each row has, in the first lanes of each register, what it gives; at first it gives each `stride`th lane.
      const unsigned given = width / static_cast<unsigned>(rows.size());
      Fields next;
      for (size_t row = 0; row < rows.size(); row += 2) {
        llvm::SmallVector<int, 64> order;
        for (unsigned lane = 0; lane < lanes; ++lane) {
          const unsigned begin = lane / width * width, i = lane % width;
          const unsigned from = begin + (stride > 0 ? field + stride * (i % given) : i % given);
          order.push_back(i >= 2 * given ? -1 : static_cast<int>(i < given ? from : lanes + from));
        }
        next.push_back(builder.CreateShuffleVector(rows[row], rows[row + 1], order));
      }
      rows = std::move(next);
      stride = 0;
    }
    return rows[0];
  }

  const unsigned width_;
  const std::vector<Source>& all_;
  const llvm::LoopInfo& loops_;
  const unsigned depth_;         ///< of loops that the first source is in
  std::vector<Fields> members_;  ///< a source's fields first
  llvm::DenseMap<const Value*, size_t> of_;
};

/// As shuffles made them.
void take_out_of_structures(llvm::Function& code) {
  llvm::SmallVector<llvm::WeakTrackingVH, 16> dead;
  for (Instruction& instruction : llvm::instructions(code))
    if (auto* extract = llvm::dyn_cast<llvm::ExtractValueInst>(&instruction))
      if (Value* inserted = llvm::FindInsertedValue(extract->getAggregateOperand(), extract->getIndices())) {
        extract->replaceAllUsesWith(inserted);
        dead.push_back(extract);
      }
  llvm::RecursivelyDeleteTriviallyDeadInstructions(dead);
}

}  // namespace

void keep_fields_interleaved(llvm::Function& code) {
  take_out_of_structures(code);
  const std::vector<Source> sources = sources_in(code);
  if (sources.empty()) return;
  llvm::DominatorTree dominators(code);
  const llvm::LoopInfo loops(dominators);
  for (const Source& source : sources)
    if (Web web(source, sources, loops); web.pays()) web.keep();
}

}  // namespace cupola::cpu::build
