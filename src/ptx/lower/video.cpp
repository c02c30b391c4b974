#include "ptx/lower/comparisons.h"

// PTX ISA, "Video Instructions". The scalar ones work on a word, half or byte of each source, with more bits than 32 in
// between; the result is saturated to the part of the destination that is written. The SIMD ones work on two halves or
// four bytes at once, which a selector picks out of both sources together; a mask says which lanes of the result count.

namespace cupola::ptx::emit {
namespace {

struct Part {
  unsigned shift = 0, bits = 32;
};

/// The part of a word that an operand's selector names: .b0 to .b3, .h0, .h1.
Part part_of(const Operand& operand) {
  if (operand.component >= 1 && operand.component <= 4) return {8 * (operand.component - 1u), 8};
  if (operand.component == 5 || operand.component == 6) return {16 * (operand.component - 5u), 16};
  return {};
}

Operand without_part(Operand operand) {
  if (operand.component < 7 || operand.component > 10) operand.component = 0;
  operand.negated = false;
  return operand;
}

Value* extended(Emission& e, Value* value, Type by, llvm::Type* to) {
  return is_signed(by) ? e.b.CreateSExt(value, to) : e.b.CreateZExt(value, to);
}

/// Source i's part, extended by its type.
Value* source(Emission& e, size_t i, Type type, llvm::Type* wide) {
  const Part part = part_of(e.operand(i));
  Value* word = e.b.CreateLShr(e.read(without_part(e.operand(i)), Type::B32), part.shift);
  return extended(e, e.b.CreateTrunc(word, e.b.getIntNTy(part.bits)), type, wide);
}

/// The nearest number of `bits` bits, for a signed `value` that has more.
Value* clamp(Emission& e, Value* value, unsigned bits, bool as_signed) {
  const unsigned width = value->getType()->getIntegerBitWidth();
  const llvm::APInt least = as_signed ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt::getZero(bits);
  const llvm::APInt most = as_signed ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits);
  const auto constant = [&](const llvm::APInt& n) {
    return llvm::ConstantInt::get(value->getType(), as_signed ? n.sext(width) : n.zext(width));
  };
  value = e.b.CreateBinaryIntrinsic(Id::smax, value, constant(least));
  return e.b.CreateBinaryIntrinsic(Id::smin, value, constant(most));
}

/// .add, .min or .max with the third source, by the destination's type. Real devices drop what does not fit 32 bits
/// first, but not of a distance.
Value* second_operation(Emission& e, Value* wide, Type type) {
  if (e.opcode() != "vabsdiff") wide = extended(e, e.b.CreateTrunc(wide, e.b.getInt32Ty()), type, wide->getType());
  Value* y = extended(e, e.read(3, Type::B32), type, wide->getType());
  if (e.has(Modifier::Add)) return e.b.CreateAdd(wide, y);
  return e.b.CreateBinaryIntrinsic(e.has(Modifier::Min) ? Id::smin : Id::smax, wide, y);
}

/// Saturates, applies the second operation or merges into the third source, and writes.
void finish(Emission& e, Value* wide, Type type) {
  const Operand& destination = e.operand(0);
  const Part part = part_of(destination);
  const bool operates = e.any(Modifier::Add, Modifier::Min, Modifier::Max), merges = part.bits < 32;
  if (operates && merges) return e.refuse("a second operation and a part of the destination exclude each other");
  if ((e.count() == 4) != (operates || merges))
    return e.refuse("a third source goes with .add, .min, .max or a part of the destination");
  if (e.has(Modifier::Sat)) wide = clamp(e, wide, part.bits, is_signed(type));
  if (operates) wide = second_operation(e, wide, type);
  Value* result = e.b.CreateTrunc(wide, e.b.getInt32Ty());
  if (merges) {
    const uint32_t mask = ((1u << part.bits) - 1) << part.shift;
    Value* rest = e.b.CreateAnd(e.read(3, Type::B32), e.i32(~mask));
    result = e.b.CreateOr(rest, e.b.CreateAnd(e.b.CreateShl(result, part.shift), e.i32(mask)));
  }
  e.write(without_part(destination), result, type);
}

/// 1 where it holds, else 0. Numbers wide enough to be signed.
Value* compared(Emission& e, Value* x, Value* y) {
  return e.b.CreateZExt(e.b.CreateICmp(predicate_of(e, Type::S64), x, y), x->getType());
}

/// vadd, vsub, vmin, vmax, vabsdiff and their SIMD kin, on numbers that have bits to spare.
Value* combined(Emission& e, std::string_view operation, Value* x, Value* y) {
  if (operation == "vadd") return e.b.CreateAdd(x, y);
  if (operation == "vsub") return e.b.CreateSub(x, y);
  if (operation == "vmin") return e.b.CreateBinaryIntrinsic(Id::smin, x, y);
  if (operation == "vmax") return e.b.CreateBinaryIntrinsic(Id::smax, x, y);
  if (operation == "vabsdiff") return e.b.CreateBinaryIntrinsic(Id::abs, e.b.CreateSub(x, y), e.b.getFalse());
  // vavrg: halves are rounded away from zero.
  Value* sum = e.b.CreateAdd(x, y);
  Value* positive = e.b.CreateICmpSGE(sum, llvm::Constant::getNullValue(sum->getType()));
  return e.b.CreateAShr(e.b.CreateAdd(sum, e.b.CreateZExt(positive, sum->getType())), 1);
}

}  // namespace

void video_scalar(Emission& e) {
  const bool shifts = e.opcode() == "vshl" || e.opcode() == "vshr";
  llvm::Type* wide = shifts ? e.b.getInt128Ty() : e.b.getInt64Ty();
  Value* x = source(e, 1, e.type(1), wide);
  Value* y = source(e, 2, e.type(2), wide);
  if (!shifts) return finish(e, combined(e, e.opcode(), x, y), e.type(0));
  y = e.has(Modifier::Wrap) ? e.b.CreateAnd(y, 31)
                            : e.b.CreateBinaryIntrinsic(Id::umin, y, llvm::ConstantInt::get(wide, 32));
  finish(e, e.opcode() == "vshl" ? e.b.CreateShl(x, y) : e.b.CreateAShr(x, y), e.type(0));
}

/// vmad: a * b + c, where one of product and c may be negated, or (.po) one is added; then 7 or 15 bits go.
void video_multiply_add(Emission& e) {
  llvm::Type* wide = e.b.getInt128Ty();
  const bool negates_product = e.operand(1).negated != e.operand(2).negated, negates_c = e.operand(3).negated;
  const bool as_signed = is_signed(e.type(1)) || is_signed(e.type(2)) || negates_product || negates_c;
  Value* product = e.b.CreateMul(source(e, 1, e.type(1), wide), source(e, 2, e.type(2), wide));
  Value* c = extended(e, e.read(without_part(e.operand(3)), Type::B32), as_signed ? Type::S32 : Type::U32, wide);
  if (negates_product) product = e.b.CreateNeg(product);
  if (negates_c) c = e.b.CreateNeg(c);
  Value* sum = e.b.CreateAdd(product, c);
  if (e.has(Modifier::Po)) sum = e.b.CreateAdd(sum, llvm::ConstantInt::get(wide, 1));
  if (e.has(Modifier::Shr7)) sum = e.b.CreateAShr(sum, 7);
  if (e.has(Modifier::Shr15)) sum = e.b.CreateAShr(sum, 15);
  if (e.has(Modifier::Sat)) sum = clamp(e, sum, 32, as_signed);
  e.write(0, e.b.CreateTrunc(sum, e.b.getInt32Ty()));
}

void video_compare(Emission& e) {
  llvm::Type* wide = e.b.getInt64Ty();
  const bool as_signed = is_signed(e.type(0)) || is_signed(e.type(1));
  finish(e, compared(e, source(e, 1, e.type(0), wide), source(e, 2, e.type(1), wide)),
         as_signed ? Type::S32 : Type::U32);
}

namespace {

/// Two halves or four bytes, as numbers of 32 bits.
class Lanes {
 public:
  explicit Lanes(Emission& e) : e_(e), count_(e.opcode().back() - '0'), bits_(32 / count_) {
    Value* a = e.b.CreateZExt(e.read(without_part(e.operand(1)), Type::B32), e.b.getInt64Ty());
    Value* b = e.b.CreateZExt(e.read(without_part(e.operand(2)), Type::B32), e.b.getInt64Ty());
    both_ = e.b.CreateOr(a, e.b.CreateShl(b, 32));
  }
  unsigned count() const { return count_; }

  /// Lane `lane` of source i, 1 or 2: its selector says which of the parts of both sources it is.
  Value* source(size_t i, unsigned lane, Type type) {
    uint64_t digits = (count_ == 2 ? 0x10u : 0x3210u) + (i == 2 ? (count_ == 2 ? 0x22u : 0x4444u) : 0u);
    if (e_.operand(i).component) {
      if (!selects(e_.operand(i)) || e_.operand(i).count != count_)
        e_.refuse("a selector names one part for each lane");
      digits = static_cast<uint64_t>(e_.operand(i).value);
    }
    const unsigned part = digits >> (4 * lane) & (2 * count_ - 1);
    return extended(e_, e_.b.CreateTrunc(e_.b.CreateLShr(both_, uint64_t{part} * bits_), e_.b.getIntNTy(bits_)), type,
                    e_.b.getInt32Ty());
  }

  /// Puts the results together, or adds them up (.add); lanes outside the mask are those of the third source or
  /// nothing.
  void finish(llvm::ArrayRef<Value*> results, Type type) {
    Value* c = e_.read(3, Type::B32);
    const uint32_t mask = lane_mask(), lane_bits = (1u << bits_) - 1;
    uint32_t kept = 0;
    Value* sum = e_.has(Modifier::Add) ? c : e_.i32(0);
    for (unsigned lane = 0; lane < count_; ++lane) {
      if (!(mask >> lane & 1)) {
        kept |= lane_bits << (lane * bits_);
      } else if (e_.has(Modifier::Add)) {
        sum = e_.b.CreateAdd(sum, results[lane]);
      } else {
        sum = e_.b.CreateOr(sum, e_.b.CreateShl(e_.b.CreateAnd(results[lane], lane_bits), uint64_t{lane} * bits_));
      }
    }
    if (!e_.has(Modifier::Add)) sum = e_.b.CreateOr(sum, e_.b.CreateAnd(c, kept));
    e_.write(without_part(e_.operand(0)), sum, type);
  }
  Value* saturated(Value* value, Type type) { return clamp(e_, value, bits_, is_signed(type)); }

 private:
  bool selects(const Operand& operand) const {
    return operand.component == (count_ == 2 ? Operand::kHalves : Operand::kBytes);
  }
  /// ".h1", ".b310": bit i for lane i.
  uint32_t lane_mask() {
    const Operand& destination = e_.operand(0);
    if (destination.component == 0) return (1u << count_) - 1;
    if (const Part part = part_of(destination); part.bits == bits_) return 1u << (part.shift / bits_);
    if (!selects(destination)) e_.refuse("a mask names lanes of the destination");
    uint32_t mask = 0;
    for (unsigned digit = 0; digit < destination.count; ++digit)
      mask |= 1u << (static_cast<uint64_t>(destination.value) >> (4 * digit) & 7);
    if (mask >> count_) e_.refuse("a mask names lanes of the destination");
    return mask;
  }

  Emission& e_;
  unsigned count_, bits_;
  Value* both_;
};

}  // namespace

void video_simd(Emission& e) {
  Lanes lanes(e);
  llvm::SmallVector<Value*, 4> results;
  for (unsigned lane = 0; lane < lanes.count(); ++lane) {
    Value* x = lanes.source(1, lane, e.type(1));
    Value* y = lanes.source(2, lane, e.type(2));
    Value* result = combined(e, e.opcode().substr(0, e.opcode().size() - 1), x, y);
    results.push_back(e.has(Modifier::Sat) ? lanes.saturated(result, e.type(0)) : result);
  }
  lanes.finish(results, e.type(0));
}

void video_simd_compare(Emission& e) {
  Lanes lanes(e);
  llvm::SmallVector<Value*, 4> results;
  for (unsigned lane = 0; lane < lanes.count(); ++lane)
    results.push_back(compared(e, lanes.source(1, lane, e.type(0)), lanes.source(2, lane, e.type(1))));
  lanes.finish(results, Type::U32);
}

}  // namespace cupola::ptx::emit
