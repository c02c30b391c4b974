#include "backend/metal/build/raise/soft_operations.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include "kir/refusal.h"

namespace cupola::metal::build {
namespace {

using llvm::Type;
using llvm::Value;

bool is_double(const Type* type) {
  return type->getScalarType()->isDoubleTy();
}

/// An intrinsic whose operands and result are doubles, and the function that computes it.
struct SoftIntrinsic {
  llvm::Intrinsic::ID id;
  const char* function;
};
constexpr SoftIntrinsic kSoftIntrinsics[] = {
    {llvm::Intrinsic::fma, "fma"},
    {llvm::Intrinsic::sqrt, "sqrt"},
    {llvm::Intrinsic::floor, "floor"},
    {llvm::Intrinsic::ceil, "ceil"},
    {llvm::Intrinsic::trunc, "trunc"},
    {llvm::Intrinsic::rint, "rint"},
    {llvm::Intrinsic::nearbyint, "rint"},
    {llvm::Intrinsic::roundeven, "rint"},
    {llvm::Intrinsic::round, "round"},
    {llvm::Intrinsic::minnum, "minimumnum"},
    {llvm::Intrinsic::maxnum, "maximumnum"},
    {llvm::Intrinsic::minimumnum, "minimumnum"},
    {llvm::Intrinsic::maximumnum, "maximumnum"},
    {llvm::Intrinsic::minimum, "minimum"},
    {llvm::Intrinsic::maximum, "maximum"},
};

/// A comparison by a function, of the operands as they stand or exchanged, and whether the answer is the opposite.
struct SoftComparison {
  const char* function;
  bool exchanged = false, opposite = false;
};

/// Of those that compare: not of false and true.
SoftComparison comparison(llvm::CmpInst::Predicate predicate) {
  switch (predicate) {
    case llvm::CmpInst::FCMP_OEQ:
      return {"equal"};
    case llvm::CmpInst::FCMP_ONE:
      return {"different"};
    case llvm::CmpInst::FCMP_OGT:
      return {"less", true};
    case llvm::CmpInst::FCMP_OGE:
      return {"less_equal", true};
    case llvm::CmpInst::FCMP_OLT:
      return {"less"};
    case llvm::CmpInst::FCMP_OLE:
      return {"less_equal"};
    case llvm::CmpInst::FCMP_UNO:
      return {"unordered"};
    default:
      SoftComparison inverse = comparison(llvm::CmpInst::getInversePredicate(predicate));
      inverse.opposite = true;
      return inverse;
  }
}

/// Replaces one instruction. Values of vectors are computed element by element.
class Softener {
 public:
  explicit Softener(llvm::Instruction& instruction)
      : instruction_(instruction), b_(&instruction), module_(*instruction.getModule()) {}

  /// Null where the instruction may stay.
  Result<Value*> value() {
    if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction_)) return intrinsic(*call);
    Type* type = instruction_.getType();
    const bool makes = is_double(type);
    const bool takes = instruction_.getNumOperands() != 0 && is_double(operand(0)->getType());
    switch (instruction_.getOpcode()) {
      case llvm::Instruction::FAdd:
        return makes ? computed("add", {operand(0), operand(1)}) : nullptr;
      case llvm::Instruction::FSub:  // of a NaN the sign may change
        return makes ? computed("add", {operand(0), negated(operand(1))}) : nullptr;
      case llvm::Instruction::FMul:
        return makes ? computed("mul", {operand(0), operand(1)}) : nullptr;
      case llvm::Instruction::FDiv:
        return makes ? computed("div", {operand(0), operand(1)}) : nullptr;
      case llvm::Instruction::FRem:
        return makes ? computed("rem", {operand(0), operand(1)}) : nullptr;
      case llvm::Instruction::FNeg:
        return makes ? negated(operand(0)) : nullptr;
      case llvm::Instruction::FCmp:
        return takes ? compared(llvm::cast<llvm::FCmpInst>(instruction_)) : nullptr;
      case llvm::Instruction::FPTrunc:
      case llvm::Instruction::FPExt:
        return makes || takes ? converted(operand(0), type) : nullptr;
      case llvm::Instruction::SIToFP:
      case llvm::Instruction::UIToFP:
        return makes ? from_integer(operand(0), instruction_.getOpcode() == llvm::Instruction::SIToFP) : nullptr;
      case llvm::Instruction::FPToSI:
      case llvm::Instruction::FPToUI:
        return takes ? to_integer(operand(0), instruction_.getOpcode() == llvm::Instruction::FPToSI) : nullptr;
      default:
        return nullptr;
    }
  }

 private:
  using Values = llvm::ArrayRef<Value*>;

  Value* operand(unsigned i) const { return instruction_.getOperand(i); }
  llvm::IntegerType* word() { return b_.getInt64Ty(); }
  Value* bits_of(Value* value) {  // of a float of any width, or vectors of them
    Type* type = value->getType();
    return b_.CreateBitCast(value, type->getWithNewType(b_.getIntNTy(type->getScalarSizeInBits())));
  }
  Value* bits_to(Value* bits, Type* type) { return b_.CreateBitCast(bits, type); }
  llvm::Constant* sign_of(Type* type) {
    return llvm::ConstantInt::get(type->getWithNewType(word()), llvm::APInt::getSignMask(64));
  }
  Value* negated(Value* value) {
    return bits_to(b_.CreateXor(bits_of(value), sign_of(value->getType())), value->getType());
  }

  /// A call of one of soft_doubles.cu's functions.
  Value* call(const char* name, Type* result, Values arguments) {
    llvm::SmallVector<Type*, 3> types;
    for (Value* argument : arguments) types.push_back(argument->getType());
    const llvm::FunctionCallee callee = module_.getOrInsertFunction(
        (kSoftPrefix + llvm::Twine(name)).str(), llvm::FunctionType::get(result, types, /*isVarArg=*/false));
    return b_.CreateCall(callee, arguments);
  }

  /// `compute` of the operands' elements one after another, whose results are of `element`.
  template <typename Compute>
  Value* each(Type* element, Values operands, Compute compute) {
    auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(operands[0]->getType());
    if (!vector) return compute(operands);
    Value* whole = llvm::PoisonValue::get(vector->getWithNewType(element));
    for (unsigned i = 0; i < vector->getNumElements(); ++i) {
      llvm::SmallVector<Value*, 3> parts;
      for (Value* one : operands) parts.push_back(one->getType()->isVectorTy() ? b_.CreateExtractElement(one, i) : one);
      whole = b_.CreateInsertElement(whole, compute(parts), i);
    }
    return whole;
  }

  /// A function from doubles to a double.
  Value* computed(const char* function, std::initializer_list<Value*> operands) {
    return each(b_.getDoubleTy(), operands, [&](Values parts) {
      llvm::SmallVector<Value*, 3> words;
      for (Value* part : parts) words.push_back(bits_of(part));
      return bits_to(call(function, word(), words), b_.getDoubleTy());
    });
  }

  Value* compared(llvm::FCmpInst& compare) {
    if (compare.getPredicate() == llvm::CmpInst::FCMP_FALSE) return llvm::ConstantInt::getFalse(compare.getType());
    if (compare.getPredicate() == llvm::CmpInst::FCMP_TRUE) return llvm::ConstantInt::getTrue(compare.getType());
    const SoftComparison how = comparison(compare.getPredicate());
    Value* answer = each(b_.getInt1Ty(), {operand(how.exchanged), operand(!how.exchanged)}, [&](Values parts) {
      return call(how.function, b_.getInt1Ty(), {bits_of(parts[0]), bits_of(parts[1])});
    });
    return how.opposite ? b_.CreateNot(answer) : answer;
  }

  std::unexpected<Error> refused(const std::string& what) const {
    return fail(ErrorCode::NotSupported, "metal: {}: {} is not supported for doubles", kir::place_of(instruction_),
                what);
  }

  /// Between double and narrower formats.
  Result<Value*> converted(Value* value, Type* type) {
    const bool widens = is_double(type);
    Type* narrow = (widens ? value->getType() : type)->getScalarType();
    const char* function = nullptr;
    if (narrow->isFloatTy()) function = widens ? "from_f32" : "to_f32";
    if (narrow->isHalfTy()) function = widens ? "from_f16" : "to_f16";
    if (narrow->isBFloatTy()) function = widens ? "from_bf16" : "to_bf16";
    if (!function) return refused("a conversion of another format than float, half and bfloat");
    Type* bits = b_.getIntNTy(narrow->getScalarSizeInBits());
    return each(type->getScalarType(), {value}, [&](Values parts) {
      if (widens)
        return bits_to(call(function, word(), {b_.CreateZExt(bits_of(parts[0]), b_.getInt32Ty())}), b_.getDoubleTy());
      return bits_to(b_.CreateTrunc(call(function, b_.getInt32Ty(), {bits_of(parts[0])}), bits), narrow);
    });
  }

  Result<Value*> from_integer(Value* value, bool is_signed) {
    const unsigned width = value->getType()->getScalarSizeInBits();
    if (width > 64) return refused(formatted("an integer of {} bits", width));
    Type* taken = width > 32 ? b_.getInt64Ty() : b_.getInt32Ty();
    const char* function = width > 32 ? (is_signed ? "from_i64" : "from_u64") : (is_signed ? "from_i32" : "from_u32");
    return each(b_.getDoubleTy(), {value}, [&](Values parts) {
      Value* wide = is_signed ? b_.CreateSExt(parts[0], taken) : b_.CreateZExt(parts[0], taken);
      return bits_to(call(function, word(), {wide}), b_.getDoubleTy());
    });
  }
  Result<Value*> to_integer(Value* value, bool is_signed) {
    Type* type = instruction_.getType()->getScalarType();
    if (type->getIntegerBitWidth() > 64) return refused(formatted("an integer of {} bits", type->getIntegerBitWidth()));
    return each(type, {value}, [&](Values parts) {
      return b_.CreateTrunc(call(is_signed ? "to_i64" : "to_u64", word(), {bits_of(parts[0])}), type);
    });
  }

  Value* pair(Type* type, Value* first, Value* second) {
    Value* both = b_.CreateInsertValue(llvm::PoisonValue::get(type), first, 0);
    return b_.CreateInsertValue(both, second, 1);
  }

  static bool has_double(const llvm::IntrinsicInst& call) {
    if (auto* several = llvm::dyn_cast<llvm::StructType>(call.getType()))
      return llvm::any_of(several->elements(), is_double);
    return is_double(call.getType()) ||
           llvm::any_of(call.args(), [](Value* value) { return is_double(value->getType()); });
  }

  Result<Value*> intrinsic(llvm::IntrinsicInst& call) {
    if (!has_double(call)) return nullptr;
    Value* x = call.getArgOperand(0);
    for (const SoftIntrinsic& soft : kSoftIntrinsics) {
      if (soft.id != call.getIntrinsicID()) continue;
      if (call.arg_size() == 1) return computed(soft.function, {x});
      if (call.arg_size() == 2) return computed(soft.function, {x, operand(1)});
      return computed(soft.function, {x, operand(1), operand(2)});
    }
    switch (call.getIntrinsicID()) {
      case llvm::Intrinsic::fabs:
        return bits_to(b_.CreateAnd(bits_of(x), b_.CreateNot(sign_of(x->getType()))), x->getType());
      case llvm::Intrinsic::copysign: {
        llvm::Constant* sign = sign_of(x->getType());
        Value* size = b_.CreateAnd(bits_of(x), b_.CreateNot(sign));
        return bits_to(b_.CreateOr(size, b_.CreateAnd(bits_of(operand(1)), sign)), x->getType());
      }
      case llvm::Intrinsic::is_fpclass:
        return each(b_.getInt1Ty(), {x}, [&](Values parts) {
          Value* kind = this->call("class", b_.getInt32Ty(), {bits_of(parts[0])});
          return b_.CreateICmpNE(b_.CreateAnd(kind, operand(1)), b_.getInt32(0));
        });
      case llvm::Intrinsic::ldexp:
        if (operand(1)->getType()->getScalarSizeInBits() > 32)
          return refused("ldexp by an integer of more than 32 bits");
        return each(b_.getDoubleTy(), {x, operand(1)}, [&](Values parts) {
          Value* power = b_.CreateSExt(parts[1], b_.getInt32Ty());
          return bits_to(this->call("ldexp", word(), {bits_of(parts[0]), power}), b_.getDoubleTy());
        });
      case llvm::Intrinsic::frexp: {
        Type* exponent = call.getType()->getStructElementType(1)->getScalarType();
        return pair(call.getType(), computed("frexp_fraction", {x}), each(exponent, {x}, [&](Values parts) {
                      Value* power = this->call("frexp_exponent", b_.getInt32Ty(), {bits_of(parts[0])});
                      return b_.CreateSExtOrTrunc(power, exponent);
                    }));
      }
      case llvm::Intrinsic::modf:
        return pair(call.getType(), computed("fraction", {x}), computed("trunc", {x}));
      default:
        return refused(call.getCalledFunction()->getName().str());
    }
  }

  llvm::Instruction& instruction_;
  llvm::IRBuilder<> b_;
  llvm::Module& module_;
};

}  // namespace

Result<> call_soft_operations(llvm::Module& module) {
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    llvm::SmallVector<llvm::Instruction*, 64> work;
    for (llvm::Instruction& instruction : llvm::instructions(function)) work.push_back(&instruction);
    for (llvm::Instruction* instruction : work) {
      TRY(Value * value, Softener(*instruction).value());
      if (!value) continue;
      instruction->replaceAllUsesWith(value);
      instruction->eraseFromParent();
    }
  }
  return {};
}

}  // namespace cupola::metal::build
