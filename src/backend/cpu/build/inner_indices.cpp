#include "backend/cpu/build/inner_indices.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>

#include <limits>

#include "backend/cpu/build/place_slopes.h"
#include "backend/cpu/build/value_copy.h"

namespace cupola::cpu::build {
namespace {

using namespace llvm::PatternMatch;
using llvm::Instruction;
using llvm::Value;

/// What is added, of constants and of threads' places: by far less than 32 bits hold.
constexpr int64_t kMostReach = 1 << 24;
/// Of a product's factor that moves, over a block: times 32 bits it is far from what 64 hold.
constexpr int64_t kMostFactor = 1 << 16;
/// Of an index: each doubles what is asked.
constexpr size_t kMostProducts = 2;

bool is_sum(const Instruction& instruction) {
  const auto* bits = llvm::dyn_cast<llvm::PossiblyDisjointInst>(&instruction);
  return instruction.getOpcode() == Instruction::Add || (bits && bits->isDisjoint());
}

/// Of a value of 32 bits whose slope is known; to where the builder stands. Exact where no place in it wraps, else
/// apart by a multiple of what 32 bits hold.
Value* in_64_bits(Value* value, Slopes& slopes, llvm::IRBuilder<>& builder) {
  llvm::Type* wide = builder.getInt64Ty();
  const auto* instruction = llvm::dyn_cast<Instruction>(value);
  const bool is_leaf = !instruction || kir::intrinsic_of(*instruction);
  if (const auto slope = slopes.of(value); is_leaf || (slope && is_flat(*slope)))
    return builder.CreateSExt(value, wide);
  const auto operand = [&](unsigned i) { return in_64_bits(instruction->getOperand(i), slopes, builder); };
  if (is_sum(*instruction)) return builder.CreateAdd(operand(0), operand(1));
  switch (instruction->getOpcode()) {
    case Instruction::Sub:
      return builder.CreateSub(operand(0), operand(1));
    case Instruction::Mul:
      return builder.CreateMul(operand(0), operand(1));
    case Instruction::Shl:
      return builder.CreateShl(operand(0), operand(1));
    default:
      return builder.CreateSExt(value, wide);
  }
}

}  // namespace

struct InnerIndices::Product {
  Form moving;  ///< of a product at most, which is the only one then
  Value* factor;
  bool is_negated;
};

/// Takes an index apart.
class InnerIndices::Reader {
 public:
  explicit Reader(const Dim3& shape) : last_{shape.x - 1, shape.y - 1, shape.z - 1} {}

  /// Nothing: it takes something else, or is the same for all threads.
  std::optional<Index> read(llvm::SExtInst& extension) {
    Value* narrow = extension.getOperand(0);
    if (!narrow->getType()->isIntegerTy(32) || !extension.getType()->isIntegerTy(64)) return std::nullopt;
    if (const auto slope = slopes_.of(narrow); slope && is_flat(*slope)) return std::nullopt;
    Index index{&extension, {}};
    if (!add(narrow, /*is_negated=*/false, index.form)) return std::nullopt;
    const auto is_nested = [](const Product& product) { return !product.moving.products.empty(); };
    if (index.form.products.size() > 1 && llvm::any_of(index.form.products, is_nested)) return std::nullopt;
    return index;
  }

 private:
  bool add(Value* value, bool is_negated, Form& form) {
    if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value)) {
      const int64_t number = is_negated ? -constant->getSExtValue() : constant->getSExtValue();
      return add_reach({number, number}, form);
    }
    const auto* instruction = llvm::dyn_cast<Instruction>(value);
    if (instruction && is_sum(*instruction))
      return add(instruction->getOperand(0), is_negated, form) && add(instruction->getOperand(1), is_negated, form);
    if (instruction && instruction->getOpcode() == Instruction::Sub)
      return add(instruction->getOperand(0), is_negated, form) && add(instruction->getOperand(1), !is_negated, form);
    if (const auto slope = slopes_.of(value)) {
      if (!is_made_of_sums(value)) return false;
      const std::optional<Reach> reach = reach_of(*slope);
      form.addends.push_back({value, is_negated});
      return reach && add_reach(is_negated ? Reach{-reach->most, -reach->least} : *reach, form);
    }
    return add_product(value, is_negated, form);
  }

  bool add_product(Value* value, bool is_negated, Form& form) {
    Value *moving, *factor;
    if (form.products.size() == kMostProducts || !match(value, m_Mul(m_Value(moving), m_Value(factor)))) return false;
    const auto is_same_for_all = [&](Value* one) {
      const auto slope = slopes_.of(one);
      return slope && is_flat(*slope);
    };
    if (!is_same_for_all(factor)) std::swap(moving, factor);
    if (!is_same_for_all(factor)) return false;
    Product product{{}, factor, is_negated};
    if (!add(moving, /*is_negated=*/false, product.moving)) return false;
    const std::vector<Product>& inner = product.moving.products;
    if (inner.size() > 1 || (inner.empty() && !is_within(product.moving.reach, kMostFactor))) return false;
    if (!inner.empty() && !inner.front().moving.products.empty()) return false;
    form.products.push_back(std::move(product));
    return true;
  }

  static bool is_within(const Reach& reach, int64_t most) { return -reach.least <= most && reach.most <= most; }

  static bool add_reach(const Reach& more, Form& form) {
    form.reach.least += more.least;
    form.reach.most += more.most;
    return is_within(form.reach, kMostReach);
  }

  /// Whether in_64_bits finds the places that it moves by.
  bool is_made_of_sums(Value* value) {
    if (const auto slope = slopes_.of(value); !slope || is_flat(*slope)) return slope.has_value();
    const auto* instruction = llvm::cast<Instruction>(value);
    if (kir::intrinsic_of(*instruction)) return true;
    const unsigned opcode = instruction->getOpcode();
    const bool is_known =
        is_sum(*instruction) || opcode == Instruction::Sub || opcode == Instruction::Mul || opcode == Instruction::Shl;
    return is_known && llvm::all_of(instruction->operands(), [&](Value* operand) { return is_made_of_sums(operand); });
  }

  /// Nothing: it goes far.
  std::optional<Reach> reach_of(const Slope& slope) const {
    Reach reach;
    for (size_t d = 0; d < slope.size(); ++d) {
      if (slope[d] > kMostFactor || slope[d] < -kMostFactor) return std::nullopt;
      const int64_t distance = slope[d] * last_[d];
      (distance < 0 ? reach.least : reach.most) += distance;
    }
    return reach;
  }

  Slopes slopes_;
  const int64_t last_[3];
};

/// Asks whether indices wrap. Numbers are of 64 bits, exact but for multiples of what 32 hold: an index that is found
/// within 32 bits is what it would be without any wrap, whatever its parts are.
class InnerIndices::Look {
 public:
  Look(llvm::IRBuilder<>& builder, ValueCopy& copy) : builder_(builder), copy_(copy) {}

  void see(llvm::ArrayRef<Index> indices) {
    std::vector<const Index*> left;
    for (const Index& index : indices) left.push_back(&index);
    while (!left.empty()) {  // those together whose products are the same
      const Form& form = left.front()->form;
      Value *least = nullptr, *most = nullptr;
      llvm::erase_if(left, [&](const Index* index) {
        if (!are_same(index->form.products, form.products)) return false;
        Value* sum = sum_of(index->form.addends);
        const Reach& reach = index->form.reach;
        least = lesser(least, builder_.CreateAdd(sum, number(reach.least)), llvm::Intrinsic::smin);
        most = lesser(most, builder_.CreateAdd(sum, number(reach.most)), llvm::Intrinsic::smax);
        return true;
      });
      for (Value* corner : corners_of(form.products))
        see(builder_.CreateAdd(corner, least), builder_.CreateAdd(corner, most));
    }
  }

  Value* none_wraps() const { return signs_ ? builder_.CreateICmpSGE(signs_, number(0)) : nullptr; }

 private:
  llvm::ConstantInt* number(int64_t value) const { return builder_.getInt64(static_cast<uint64_t>(value)); }
  Value* first(Value* value) { return builder_.CreateSExt(copy_(value), builder_.getInt64Ty()); }
  Value* plus(Value* sum, Value* addend, bool is_negated) {
    return is_negated ? builder_.CreateSub(sum, addend) : builder_.CreateAdd(sum, addend);
  }
  Value* lesser(Value* one, Value* other, llvm::Intrinsic::ID which) {
    return one ? builder_.CreateBinaryIntrinsic(which, one, other) : other;
  }

  Value* sum_of(llvm::ArrayRef<std::pair<Value*, bool>> addends) {
    Value* sum = number(0);
    for (const auto& [addend, is_negated] : addends) sum = plus(sum, first(addend), is_negated);
    return sum;
  }

  /// The least and the most that products add, of threads at the corners of the block: what lies between them is
  /// between these.
  llvm::SmallVector<Value*, 4> corners_of(const std::vector<Product>& products) {
    llvm::SmallVector<Value*, 4> corners{number(0)};
    for (const Product& product : products) {
      const Form& moving = product.moving;
      Value *sum = sum_of(moving.addends), *factor = first(product.factor);
      llvm::SmallVector<Value*, 4> more;
      for (Value* inner : corners_of(moving.products)) {
        Value* place = builder_.CreateAdd(inner, sum);
        Value* least = builder_.CreateAdd(place, number(moving.reach.least));
        Value* most = builder_.CreateAdd(place, number(moving.reach.most));
        if (!moving.products.empty()) see(least, most);
        for (Value* corner : corners)
          for (Value* end : {least, most})
            more.push_back(plus(corner, builder_.CreateMul(end, factor), product.is_negated));
      }
      corners = std::move(more);
    }
    return corners;
  }

  /// Both are to lie within 32 bits.
  void see(Value* least, Value* most) {
    for (Value* sign : {builder_.CreateSub(least, number(std::numeric_limits<int32_t>::min())),
                        builder_.CreateSub(number(std::numeric_limits<int32_t>::max()), most)})
      signs_ = signs_ ? builder_.CreateOr(signs_, sign) : sign;
  }

  static bool are_same(const std::vector<Product>& one, const std::vector<Product>& other) {
    return llvm::equal(one, other, [](const Product& a, const Product& b) {
      const Reach &of_a = a.moving.reach, &of_b = b.moving.reach;
      return a.factor == b.factor && a.is_negated == b.is_negated && a.moving.addends == b.moving.addends &&
             of_a.least == of_b.least && of_a.most == of_b.most && are_same(a.moving.products, b.moving.products);
    });
  }

  llvm::IRBuilder<>& builder_;
  ValueCopy& copy_;
  Value* signs_ = nullptr;  ///< whose sign is set if one wraps
};

InnerIndices::InnerIndices(llvm::Function& code, const Dim3& shape) {
  Reader reader(shape);
  for (Instruction& instruction : llvm::instructions(code))
    if (auto* extension = llvm::dyn_cast<llvm::SExtInst>(&instruction))
      if (auto index = reader.read(*extension)) indices_.push_back(std::move(*index));
}

InnerIndices::~InnerIndices() = default;

Value* InnerIndices::none_wraps(llvm::IRBuilder<>& builder, ValueCopy& copy) const {
  Look look(builder, copy);
  look.see(indices_);
  return look.none_wraps();
}

void InnerIndices::widen() {
  Slopes slopes;
  for (const Index& index : indices_) {
    llvm::IRBuilder<> builder(index.extension);
    index.extension->replaceAllUsesWith(in_64_bits(index.extension->getOperand(0), slopes, builder));
    index.extension->eraseFromParent();
  }
  indices_.clear();
}

}  // namespace cupola::cpu::build
