#include "ptx/lower/float_values.h"

#include <algorithm>

#include "kir/expansion.h"

namespace cupola::ptx {
namespace {

const llvm::fltSemantics& semantics(llvm::Type* type) {
  return type->getScalarType()->getFltSemantics();
}

llvm::Constant* zero(llvm::Type* type) {
  return llvm::ConstantFP::get(type, 0.0);
}

}  // namespace

llvm::Type* bits_type(llvm::Type* type) {
  return type->getWithNewType(llvm::IntegerType::get(type->getContext(), type->getScalarSizeInBits()));
}

Value* absolute(Emission& e, Value* value) {
  llvm::Type* type = value->getType();
  if (!type->getScalarType()->isBFloatTy()) return e.b.CreateUnaryIntrinsic(Id::fabs, value);
  Value* bits = e.b.CreateBitCast(value, bits_type(type));  // LLVM folds little of bfloat
  return e.b.CreateBitCast(e.b.CreateAnd(bits, llvm::ConstantInt::get(bits->getType(), 0x7fff)), type);
}

Value* flush(Emission& e, Value* value) {
  llvm::Type* type = value->getType();
  if (type->getScalarType()->isFloatTy()) return kir::flush(e.b, value);
  llvm::Type* bits_of = bits_type(type);
  const unsigned width = type->getScalarSizeInBits();
  Value* bits = e.b.CreateBitCast(value, bits_of);
  const auto infinity = llvm::APFloat::getInf(semantics(type)).bitcastToAPInt();  // all exponent bits
  Value* exponent = e.b.CreateAnd(bits, llvm::ConstantInt::get(bits_of, infinity));
  Value* sign = e.b.CreateAnd(bits, llvm::ConstantInt::get(bits_of, llvm::APInt::getSignMask(width)));
  Value* small = e.b.CreateICmpEQ(exponent, llvm::Constant::getNullValue(bits_of));
  return e.b.CreateBitCast(e.b.CreateSelect(small, sign, bits), type);
}

Value* saturate(Emission& e, Value* value) {
  llvm::Type* type = value->getType();
  Value* one = llvm::ConstantFP::get(type, 1.0);
  Value* positive = e.b.CreateSelect(e.b.CreateFCmpOGT(value, zero(type)), value, zero(type));
  return e.b.CreateSelect(e.b.CreateFCmpOLT(positive, one), positive, one);
}

Value* canonical_nan(Emission& e, Value* value) {
  llvm::Type* type = value->getType();
  const unsigned width = type->getScalarSizeInBits();
  const llvm::APInt bits = width == 64 ? llvm::APInt(64, 0xfff8000000000000) : llvm::APInt::getSignedMaxValue(width);
  Value* nan = llvm::ConstantFP::get(type, llvm::APFloat(semantics(type), bits));
  return e.b.CreateSelect(e.b.CreateFCmpUNO(value, value), nan, value);
}

Value* relu(Emission& e, Value* value) {
  llvm::Type* type = value->getType();
  return canonical_nan(e, e.b.CreateSelect(e.b.CreateFCmpUGT(value, zero(type)), value, zero(type)));
}

Value* satfinite(Emission& e, Value* value) {
  llvm::Type* type = value->getType();
  const auto greatest = llvm::APFloat::getLargest(semantics(type));
  Value* infinite = e.b.CreateFCmpOEQ(e.b.CreateUnaryIntrinsic(Id::fabs, value), llvm::ConstantFP::getInfinity(type));
  Value* limit = e.b.CreateBinaryIntrinsic(Id::copysign, llvm::ConstantFP::get(type, greatest), value);
  return e.b.CreateSelect(infinite, limit, value);
}

namespace {

/// Instructions that become one of LLVM's, which kir flushes around or the processor does.
bool is_arithmetic(const Form& form) {
  constexpr std::string_view kArithmetic[] = {"add", "sub", "mul", "mad", "fma", "div", "rcp", "sqrt", "rsqrt",
                                              "min", "max", "ex2", "lg2", "sin", "cos", "set", "setp"};
  return std::ranges::find(kArithmetic, form.row->opcode) != std::end(kArithmetic) &&
         !form.any(Modifier::Rz, Modifier::Rm, Modifier::Rp);
}

/// Whether denormals of f32 are the same to the instruction as zeros, or it hands them on as bits.
bool knows_no_denormals(const Form& form) {
  const std::string_view opcode = form.row->opcode;
  if (opcode == "abs" || opcode == "neg") return true;
  const auto is_other = [](Type type) { return type == Type::F16 || is_integer(type); };
  return opcode == "cvt" && std::ranges::any_of(form.types, is_other) &&
         !form.any(Modifier::Rmi, Modifier::Rpi, Modifier::Rm, Modifier::Rp);
}

/// There is an .ftz form.
bool can_flush(const Form& form) {
  return std::ranges::any_of(form.row->slots, [](const Slot& slot) {
    return std::ranges::find(slot.modifiers, Modifier::Ftz) != slot.modifiers.end();
  });
}

/// `.ftz` is not the function's to say, for all its arithmetic.
bool flushes_here(Emission& e, Value* value) {
  const bool is_whole = e.flushes_as_a_whole && is_arithmetic(e.form());
  return e.has(Modifier::Ftz) && !(is_whole && value->getType()->getScalarType()->isFloatTy());
}

}  // namespace

bool flushes_as_a_whole(const Module& module) {
  bool some = false;
  for (const Function& function : module.functions)
    for (const Instruction& instruction : function.instructions) {
      const Form& form = *instruction.form;
      if (std::ranges::find(form.types, Type::F32) == form.types.end()) continue;
      if (form.row->opcode == "testp") return false;  // asks for denormals
      if (form.has(Modifier::Ftz))
        some |= is_arithmetic(form);
      else if ((can_flush(form) || is_arithmetic(form)) && !knows_no_denormals(form))
        return false;
    }
  return some;
}

Value* read_operand(Emission& e, size_t i) {
  Value* value = e.read(i);
  return flushes_here(e, value) ? flush(e, value) : value;
}

namespace {

void write_flushed(Emission& e, Value* value) {
  if (e.has(Modifier::Relu)) value = relu(e, value);
  if (e.has(Modifier::Sat)) value = saturate(e, value);
  e.write(0, value);
}

}  // namespace

void write_result(Emission& e, Value* value) {
  write_flushed(e, flushes_here(e, value) ? flush(e, value) : value);
}

void write_result(Emission& e, Value* first, llvm::function_ref<Value*(Value*)> compute) {
  Value* value = compute(first);
  if (!flushes_here(e, value)) return write_flushed(e, value);
  // Enough that what was denormal has all its digits. Where this overflows the result is far from denormal.
  llvm::Type* type = value->getType();
  const llvm::fltSemantics& format = semantics(type);
  const int digits = static_cast<int>(llvm::APFloat::semanticsPrecision(format));
  const auto scaled = [&](const llvm::APFloat& number) {
    return llvm::ConstantFP::get(type, scalbn(number, digits, llvm::APFloat::rmNearestTiesToEven));
  };
  Value* look = absolute(e, compute(e.b.CreateFMul(first, scaled(llvm::APFloat(format, 1)))));
  Value* tiny = e.b.CreateFCmpOLT(look, scaled(llvm::APFloat::getSmallestNormalized(format)));
  Value* zero = e.b.CreateBinaryIntrinsic(Id::copysign, llvm::ConstantFP::get(type, 0.0), value);
  write_flushed(e, e.b.CreateSelect(tiny, zero, value));
}

llvm::StringRef directed_rounding(Emission& e) {
  if (e.has(Modifier::Rz)) return "rz";
  if (e.has(Modifier::Rm)) return "rm";
  if (e.has(Modifier::Rp)) return "rp";
  return {};
}

Value* rounded_call(Emission& e, llvm::StringRef operation, llvm::ArrayRef<Value*> arguments, llvm::StringRef suffix) {
  const std::string name = ("llvm.nvvm." + operation + "." + directed_rounding(e) + suffix).str();
  const Id::ID id = llvm::Intrinsic::lookupIntrinsicID(name);
  if (id != Id::not_intrinsic) return e.call(id, arguments);
  e.refuse("this rounding is not supported");
  return llvm::PoisonValue::get(arguments[0]->getType());
}

}  // namespace cupola::ptx
