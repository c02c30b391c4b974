#include "backend/cpu/build/row_tables.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/Local.h>

#include <numeric>

#include "backend/cpu/build/bit_tests.h"
#include "backend/cpu/build/mask_registers.h"

namespace cupola::cpu::build {
namespace {

using llvm::APInt;
using llvm::Instruction;
using llvm::Value;
using namespace llvm::PatternMatch;

/// How tables are looked up: a register of words, of which each word of another names one by its lowest bits.
struct Table {
  unsigned bits;  ///< that name one
  llvm::Intrinsic::ID look_up;

  unsigned words() const { return 1u << bits; }
};

std::optional<Table> table_of(const llvm::TargetMachine& machine) {
  if (has_mask_registers(machine)) return Table{4, llvm::Intrinsic::x86_avx512_permvar_si_512};
  if (machine.getMCSubtargetInfo()->checkFeatures("+avx2")) return Table{3, llvm::Intrinsic::x86_avx2_permd};
  return std::nullopt;
}

/// A row of a number in the lanes where a bit is set and of its complement in the others, or the other way round.
struct Choice {
  Value* row;
  Value* number;               ///< that all lanes know
  bool where_set;              ///< the number is that of lanes whose bit is set
  std::optional<LaneBit> bit;  ///< if it is known where the bit is
  Value* mask = nullptr;       ///< else: the lanes where it is set
};

/// All ones where the choice's bit is set (`set`) or where it is not.
bool take_signs(Value* signs, Choice& choice, bool& set) {
  Value* mask = nullptr;
  if (match(signs, m_Not(m_Value(mask))) && take_signs(mask, choice, set)) {
    set = !set;
    return true;
  }
  if (match(signs, m_SExt(m_Value(mask))) && mask->getType()->isIntOrIntVectorTy(1)) {
    set = true;
    Value* inverted = nullptr;
    if (match(mask, m_Not(m_Value(inverted)))) {
      mask = inverted;
      set = false;
    }
    if (const auto clear = bit_clear_in(mask)) {
      choice.bit = clear;
      set = !set;
      return true;
    }
    choice.bit = bit_set_in(mask);
    choice.mask = mask;
    return true;
  }
  choice.bit = bit_missing_from(signs);
  set = false;
  return choice.bit.has_value();
}

std::optional<Choice> choice_of(Value* row) {
  Value *a = nullptr, *b = nullptr;
  if (!match(row, m_OneUse(m_Xor(m_Value(a), m_Value(b))))) return std::nullopt;
  for (int turn = 0; turn < 2; ++turn, std::swap(a, b)) {
    Choice choice{.row = row, .number = llvm::getSplatValue(a), .where_set = false, .bit = {}};
    bool set = false;
    if (!choice.number || !take_signs(b, choice, set)) continue;
    if (choice.bit && choice.bit->row->getType() != row->getType()) choice.bit.reset();
    choice.where_set = !set;
    if (choice.bit || choice.mask) return choice;
  }
  return std::nullopt;
}

/// What a product (`and`) of a row is made of.
struct Product {
  llvm::SmallVector<Choice, 16> choices;
  llvm::SmallVector<Value*, 4> others;
  bool is_frozen = false;  ///< a part of it is
};

void take_factors(Value* row, Product& product, const llvm::BasicBlock* block) {
  Value *a = nullptr, *b = nullptr;
  auto* instruction = llvm::dyn_cast<Instruction>(row);
  const bool is_inner = instruction && instruction->getParent() == block && row->hasOneUse();
  if (is_inner && match(row, m_And(m_Value(a), m_Value(b)))) {
    take_factors(a, product, block);
    take_factors(b, product, block);
  } else if (is_inner && match(row, m_Freeze(m_And(m_Value(a), m_Value(b)))) &&
             instruction->getOperand(0)->hasOneUse()) {
    product.is_frozen = true;
    take_factors(a, product, block);
    take_factors(b, product, block);
  } else if (auto choice = choice_of(row)) {
    product.choices.push_back(*choice);
  } else {
    product.others.push_back(row);
  }
}

class Lookups {
 public:
  Lookups(const Table& table, Instruction& product)
      : table_(table), builder_(&product), type_(llvm::cast<llvm::FixedVectorType>(product.getType())) {}

  /// The product of the next choices that one table has room for, which are taken from `choices`.
  Value* next(llvm::SmallVectorImpl<Choice>& choices) {
    llvm::SmallVector<Choice, 4> mine;
    const std::optional<LaneBit> first = choices.front().bit;
    if (first)
      llvm::erase_if(choices, [&](const Choice& choice) {
        if (!choice.bit || choice.bit->row != first->row) return false;
        const bool fits = choice.bit->number - first->number < table_.bits;
        if (fits) mine.push_back(choice);
        return fits;
      });
    uint32_t used = 0;  // places of a lane's number
    Value* table = nullptr;
    const auto take = [&](const Choice& choice, unsigned place) {
      used |= 1u << place;
      Value* entries = builder_.CreateXor(builder_.CreateVectorSplat(table_.words(), choice.number),
                                          complements(place, choice.where_set));
      table = table ? builder_.CreateAnd(table, entries) : entries;
    };
    Value* number = nullptr;
    for (const Choice& choice : mine) take(choice, choice.bit->number - first->number);
    if (first) {
      number = builder_.CreateLShr(first->row, uint64_t{first->number});
      if (used != table_.words() - 1 && !choices.empty()) number = builder_.CreateAnd(number, words(used));
    }
    for (unsigned place = 0; place < table_.bits && !choices.empty(); ++place) {
      if (used >> place & 1) continue;
      const Choice choice = choices.pop_back_val();
      take(choice, place);
      Value* mask = choice.mask ? choice.mask : is_set(*choice.bit);
      Value* bit = builder_.CreateSelect(mask, words(1u << place), llvm::Constant::getNullValue(type_));
      number = number ? builder_.CreateOr(number, bit) : bit;
    }
    return look_up(table, number);
  }

  llvm::IRBuilder<>& builder() { return builder_; }

 private:
  llvm::Constant* words(uint32_t value) const { return llvm::ConstantInt::get(type_, value); }

  Value* is_set(const LaneBit& bit) {
    return builder_.CreateICmpNE(builder_.CreateAnd(bit.row, words(1u << bit.number)),
                                 llvm::Constant::getNullValue(type_));
  }

  /// All ones in the table's words whose number has not (`where_set`) or has the bit at `place`.
  llvm::Constant* complements(unsigned place, bool where_set) {
    llvm::SmallVector<uint32_t, 16> of_words;
    for (uint32_t word = 0; word < table_.words(); ++word)
      of_words.push_back((word >> place & 1) == uint32_t{where_set} ? 0 : ~0u);
    return llvm::ConstantDataVector::get(builder_.getContext(), of_words);
  }

  Value* look_up(Value* table, Value* numbers) {
    llvm::SmallVector<Value*, 4> pieces;
    for (unsigned first = 0; first < type_->getNumElements(); first += table_.words()) {
      llvm::SmallVector<int, 16> order(table_.words());
      std::iota(order.begin(), order.end(), static_cast<int>(first));
      pieces.push_back(
          builder_.CreateIntrinsic(table_.look_up, {}, {table, builder_.CreateShuffleVector(numbers, order)}));
    }
    return llvm::concatenateVectors(builder_, pieces);
  }

  const Table& table_;
  llvm::IRBuilder<> builder_;
  llvm::FixedVectorType* type_;
};

/// Of as many choices a table is worth its look-ups.
constexpr size_t kLeastChoices = 3;

/// The product by tables; null: it has too few choices.
Value* by_tables(Instruction& instruction, const Table& table) {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(instruction.getType());
  if (!type || !type->getElementType()->isIntegerTy(32) || type->getNumElements() % table.words() != 0) return nullptr;
  Product product;
  for (Value* factor : instruction.operands()) take_factors(factor, product, instruction.getParent());
  if (product.choices.size() < kLeastChoices) return nullptr;
  llvm::SmallVector<const Value*, 16> rows;  // as they come
  for (const Choice& choice : product.choices)
    if (choice.bit && !llvm::is_contained(rows, choice.bit->row)) rows.push_back(choice.bit->row);
  // Bits that lie beside each other come one after the other, and those that are nowhere last.
  const auto place = [&](const Choice& choice) {
    if (!choice.bit) return std::pair(rows.size(), 0u);
    return std::pair(static_cast<size_t>(llvm::find(rows, choice.bit->row) - rows.begin()), choice.bit->number);
  };
  llvm::sort(product.choices, [&](const Choice& a, const Choice& b) { return place(a) < place(b); });
  Lookups lookups(table, instruction);
  llvm::IRBuilder<>& builder = lookups.builder();
  Value* result = nullptr;
  const auto join = [&](Value* factor) {
    if (product.is_frozen) factor = builder.CreateFreeze(factor);
    result = result ? builder.CreateAnd(result, factor) : factor;
  };
  while (product.choices.size() >= kLeastChoices) join(lookups.next(product.choices));
  for (const Choice& choice : product.choices) join(choice.row);
  for (Value* other : product.others) join(other);
  return result;
}

}  // namespace

void look_up_in_tables(llvm::Function& function, const llvm::TargetMachine& machine) {
  const std::optional<Table> table = table_of(machine);
  if (!table) return;
  llvm::SmallVector<llvm::WeakVH, 16> products;
  for (Instruction& instruction : llvm::instructions(function))
    if (instruction.getOpcode() == Instruction::And && instruction.getType()->isVectorTy())
      products.push_back(&instruction);
  for (Value* product : llvm::reverse(products)) {  // the last one has all factors
    if (!product) continue;
    auto* instruction = llvm::cast<Instruction>(product);
    Value* same = by_tables(*instruction, *table);
    if (!same) continue;
    instruction->replaceAllUsesWith(same);
    llvm::RecursivelyDeleteTriviallyDeadInstructions(instruction);
  }
}

}  // namespace cupola::cpu::build
