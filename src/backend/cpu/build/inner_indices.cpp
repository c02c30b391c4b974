#include "backend/cpu/build/inner_indices.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>

#include <limits>

#include "backend/cpu/build/value_copy.h"

// Why it is enough to look at corners. An index is f + p, where f is what is the same for the block, within 2^52, and p
// what threads add: within 2^25, and for each product a factor of 32 bits times what moves by 2^16 at most, or times a
// sum with a product of its own that is found within 32 bits. So threads of a block are less than 2^64 - 2^32 apart. Of
// two numbers that near, both within 32 bits but for multiples of 2^64, the multiple is the same one; and an index lies
// between those of the corners, as it is linear in each of threadIdx, or in such sums.

namespace cupola::cpu::build {
namespace {

using namespace llvm::PatternMatch;
using llvm::Instruction;
using llvm::Value;

/// Of constants and of what places add in a block: by far less than 32 bits hold.
constexpr int64_t kMostReach = 1 << 24;
/// How often something is in a sum, and by how much a product's factor moves in a block.
constexpr int64_t kMostTimes = 1 << 16;
constexpr size_t kMostAddends = 16;
/// Of an index, each of which doubles its corners; and of corners that a block is asked for.
constexpr size_t kMostProducts = 2, kMostCorners = 16;
/// Of what is made of an extension.
constexpr size_t kMostUsers = 16;

bool is_sum(const Instruction& instruction) {
  const auto* bits = llvm::dyn_cast<llvm::PossiblyDisjointInst>(&instruction);
  return instruction.getOpcode() == Instruction::Add || (bits && bits->isDisjoint());
}

/// Whether an address is made of it, by sums and products.
bool makes_address(const llvm::SExtInst& extension) {
  llvm::SmallPtrSet<const llvm::User*, kMostUsers> seen;
  llvm::SmallVector<const Value*, kMostUsers> left{&extension};
  while (!left.empty())
    for (const llvm::User* user : left.pop_back_val()->users()) {
      if (llvm::isa<llvm::GetElementPtrInst, llvm::IntToPtrInst>(user)) return true;
      const auto* made = llvm::dyn_cast<llvm::BinaryOperator>(user);
      if (!made || seen.size() == kMostUsers || !seen.insert(made).second) continue;
      const unsigned opcode = made->getOpcode();
      if (is_sum(*made) || opcode == Instruction::Sub || opcode == Instruction::Mul || opcode == Instruction::Shl)
        left.push_back(made);
    }
  return false;
}

struct Reach {
  int64_t least = 0, most = 0;
};

/// From a block's first thread to all others.
Reach reach_of(const Slope& slope, const Dim3& shape) {
  const int64_t last[] = {shape.x - 1, shape.y - 1, shape.z - 1};
  Reach reach;
  for (size_t d = 0; d < slope.size(); ++d) {
    const int64_t distance = slope[d] * last[d];
    (distance < 0 ? reach.least : reach.most) += distance;
  }
  return reach;
}

}  // namespace

struct InnerIndices::Product {
  Form moving;  ///< of a product at most, and is the only one then
  Value* factor;
  bool is_negated;

  static bool are_same(const std::vector<Product>& one, const std::vector<Product>& other) {
    return llvm::equal(one, other, [](const Product& a, const Product& b) {
      return a.factor == b.factor && a.is_negated == b.is_negated && a.moving.fixed == b.moving.fixed &&
             a.moving.slope == b.moving.slope && a.moving.constant == b.moving.constant &&
             are_same(a.moving.products, b.moving.products);
    });
  }

  static size_t corners(const std::vector<Product>& products) {
    size_t count = 1;
    for (const Product& product : products) count *= 2 * corners(product.moving.products);
    return count;
  }
};

/// Takes an index apart.
class InnerIndices::Reader {
 public:
  explicit Reader(const Dim3& shape) : shape_(shape) {}

  /// Nothing: it takes something else, or is the same for all threads.
  std::optional<Index> read(llvm::SExtInst& extension) {
    Value* narrow = extension.getOperand(0);
    if (!narrow->getType()->isIntegerTy(32) || !extension.getType()->isIntegerTy(64) || is_fixed(narrow) ||
        !makes_address(extension))
      return std::nullopt;
    Index index{&extension, {}};
    addends_ = 0;
    if (!add(narrow, 1, index.form) || !is_near(index.form)) return std::nullopt;
    const auto is_nested = [](const Product& product) { return !product.moving.products.empty(); };
    if (index.form.products.size() > 1 && llvm::any_of(index.form.products, is_nested)) return std::nullopt;
    return index;
  }

 private:
  bool is_fixed(const Value* value) {
    const auto slope = slopes_.of(value);
    return slope && is_flat(*slope);
  }

  /// False: it is made of something else, or of much.
  bool add(Value* value, int64_t times, Form& form) {
    if (++addends_ > kMostAddends || times > kMostTimes || times < -kMostTimes) return false;
    if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value)) {
      form.constant += times * constant->getSExtValue();
      return true;
    }
    if (is_fixed(value)) {
      form.fixed.push_back({value, times});
      return true;
    }
    auto* instruction = llvm::dyn_cast<Instruction>(value);
    if (!instruction) return false;
    if (kir::intrinsic_of(*instruction)) return add_place(*instruction, times, form);
    Value *one, *other;
    uint64_t by;
    if (is_sum(*instruction))
      return add(instruction->getOperand(0), times, form) && add(instruction->getOperand(1), times, form);
    if (match(value, m_Sub(m_Value(one), m_Value(other)))) return add(one, times, form) && add(other, -times, form);
    if (match(value, m_Shl(m_Value(one), m_ConstantInt(by))))
      return by < 16 && add(one, times * (int64_t{1} << by), form);
    const llvm::APInt* constant;
    if (match(value, m_Mul(m_Value(one), m_APInt(constant))))
      return constant->abs().ule(kMostTimes) && add(one, times * constant->getSExtValue(), form);
    return match(value, m_Mul(m_Value(one), m_Value(other))) && (times == 1 || times == -1) &&
           (is_fixed(other) ? add_product(one, *other, times < 0, form)
                            : is_fixed(one) && add_product(other, *one, times < 0, form));
  }

  bool add_place(Instruction& place, int64_t times, Form& form) {
    const auto slope = slopes_.of(&place);
    if (!slope) return false;
    for (size_t d = 0; d < slope->size(); ++d) {
      if ((*slope)[d] == 0) continue;
      form.slope[d] += times;
      form.places[d] = &place;
    }
    return true;
  }

  bool add_product(Value* moving, Value& factor, bool is_negated, Form& form) {
    Product product{{}, &factor, is_negated};
    if (form.products.size() == kMostProducts || !add(moving, 1, product.moving) || !is_near(product.moving))
      return false;
    const std::vector<Product>& inner = product.moving.products;
    const Reach reach = reach_of(product.moving.slope, shape_);
    if (inner.empty() ? reach.most - reach.least > kMostTimes
                      : inner.size() > 1 || !inner.front().moving.products.empty())
      return false;
    form.products.push_back(std::move(product));
    return true;
  }

  bool is_near(const Form& form) const {
    const Reach reach = reach_of(form.slope, shape_);
    return reach.least + form.constant >= -kMostReach && reach.most + form.constant <= kMostReach;
  }

  const Dim3 shape_;
  Slopes slopes_;
  size_t addends_ = 0;
};

/// Asks whether indices wrap.
class InnerIndices::Look {
 public:
  Look(const Dim3& shape, llvm::IRBuilder<>& builder, ValueCopy& copy)
      : shape_(shape), builder_(builder), copy_(copy) {}

  void see(llvm::ArrayRef<Index> group) {
    Value *least = nullptr, *most = nullptr;
    for (const Index& index : group) {
      const auto [low, high] = ends_of(index.form, number(0));
      least = least ? builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, least, low) : low;
      most = most ? builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, most, high) : high;
    }
    for (Value* corner : corners_of(group.front().form.products))
      see(builder_.CreateAdd(corner, least), builder_.CreateAdd(corner, most));
  }

  Value* none_wraps() const {
    return beyond_ ? builder_.CreateICmpULE(beyond_, number(std::numeric_limits<uint32_t>::max())) : nullptr;
  }

 private:
  llvm::ConstantInt* number(int64_t value) const { return builder_.getInt64(static_cast<uint64_t>(value)); }
  Value* first(Value* value) { return builder_.CreateSExt(copy_(value), builder_.getInt64Ty()); }

  /// The least and the most that threads have without products, where the sum begins with `begin`.
  std::pair<Value*, Value*> ends_of(const Form& form, Value* begin) {
    Value* sum = begin;
    for (const auto& [value, times] : form.fixed)
      sum = builder_.CreateAdd(sum, builder_.CreateMul(first(value), number(times)));
    const Reach reach = reach_of(form.slope, shape_);
    return {builder_.CreateAdd(sum, number(form.constant + reach.least)),
            builder_.CreateAdd(sum, number(form.constant + reach.most))};
  }

  /// What products add in threads at the corners of the block.
  llvm::SmallVector<Value*, 4> corners_of(const std::vector<Product>& products) {
    llvm::SmallVector<Value*, 4> corners{number(0)};
    for (const Product& product : products) {
      Value* factor = first(product.factor);
      llvm::SmallVector<Value*, 4> more;
      for (Value* inner : corners_of(product.moving.products)) {
        const auto [least, most] = ends_of(product.moving, inner);
        if (!product.moving.products.empty()) see(least, most);
        for (Value* corner : corners)
          for (Value* end : {least, most}) {
            Value* times = builder_.CreateMul(end, factor);
            more.push_back(product.is_negated ? builder_.CreateSub(corner, times) : builder_.CreateAdd(corner, times));
          }
      }
      corners = std::move(more);
    }
    return corners;
  }

  /// Both are to lie within 32 bits.
  void see(Value* least, Value* most) {
    for (Value* end : {least, most}) {
      Value* from_lowest = builder_.CreateSub(end, number(std::numeric_limits<int32_t>::min()));
      beyond_ = beyond_ ? builder_.CreateOr(beyond_, from_lowest) : from_lowest;
    }
  }

  const Dim3 shape_;
  llvm::IRBuilder<>& builder_;
  ValueCopy& copy_;
  Value* beyond_ = nullptr;  ///< has a bit beyond 32 if one wraps
};

InnerIndices::InnerIndices(llvm::Function& code, const Dim3& shape) : shape_(shape) {
  Reader reader(shape);
  size_t corners = 0;
  for (Instruction& instruction : llvm::instructions(code)) {
    auto* extension = llvm::dyn_cast<llvm::SExtInst>(&instruction);
    auto index = extension ? reader.read(*extension) : std::nullopt;
    if (!index) continue;
    const std::vector<Product>& products = index->form.products;
    auto group = llvm::find_if(
        groups_, [&](const std::vector<Index>& one) { return Product::are_same(one.front().form.products, products); });
    if (group == groups_.end()) {
      if (corners + Product::corners(products) > kMostCorners) continue;
      corners += Product::corners(products);
      group = groups_.emplace(group);
    }
    group->push_back(std::move(*index));
  }
}

InnerIndices::~InnerIndices() = default;

Value* InnerIndices::none_wraps(llvm::IRBuilder<>& builder, ValueCopy& copy) const {
  Look look(shape_, builder, copy);
  for (const std::vector<Index>& group : groups_) look.see(group);
  return look.none_wraps();
}

void InnerIndices::widen() {
  const auto wide = [](const Form& form, llvm::IRBuilder<>& builder, const auto& self) -> Value* {
    const auto extended = [&](Value* value) { return builder.CreateSExt(value, builder.getInt64Ty()); };
    const auto number = [&](int64_t value) { return builder.getInt64(static_cast<uint64_t>(value)); };
    Value* sum = number(0);
    for (const Product& product : form.products) {
      Value* times = builder.CreateMul(self(product.moving, builder, self), extended(product.factor));
      sum = product.is_negated ? builder.CreateSub(sum, times) : builder.CreateAdd(sum, times);
    }
    for (const auto& [value, times] : form.fixed)
      sum = builder.CreateAdd(sum, builder.CreateMul(extended(value), number(times)));
    for (size_t d = 0; d < form.slope.size(); ++d)
      if (form.slope[d] != 0)
        sum = builder.CreateAdd(sum, builder.CreateMul(extended(form.places[d]), number(form.slope[d])));
    return builder.CreateAdd(sum, number(form.constant));
  };
  for (const std::vector<Index>& group : groups_)
    for (const Index& index : group) {
      llvm::IRBuilder<> builder(index.extension);
      index.extension->replaceAllUsesWith(wide(index.form, builder, wide));
    }
  for (const std::vector<Index>& group : groups_)
    for (const Index& index : group) index.extension->eraseFromParent();
  groups_.clear();
}

}  // namespace cupola::cpu::build
