// Expressions of single instructions: arithmetic, comparisons, conversions, memory.

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include "backend/metal/build/msl/function_printer.h"
#include "backend/metal/build/raise/spaces.h"
#include "base/format.h"

namespace cupola::metal::build {
namespace {

bool is_bool(const llvm::Type* type) {
  return type->isIntegerTy(1);
}

bool is_narrow(const llvm::Type* type) {
  return type->isIntegerTy(8) || type->isIntegerTy(16);
}

}  // namespace

Result<std::string> FunctionPrinter::expression(const llvm::Instruction& instruction) {
  switch (instruction.getOpcode()) {
    case llvm::Instruction::FNeg: {
      TRY(const std::string value, operand(*instruction.getOperand(0)));
      return formatted("(-{})", value);
    }
    case llvm::Instruction::ICmp:
    case llvm::Instruction::FCmp:
      return comparison(instruction);
    case llvm::Instruction::Select: {
      TRY(const std::string condition, operand(*instruction.getOperand(0)));
      TRY(const std::string yes, operand(*instruction.getOperand(1)));
      TRY(const std::string no, operand(*instruction.getOperand(2)));
      return formatted("({} ? {} : {})", condition, yes, no);
    }
    case llvm::Instruction::Freeze:
      return operand(*instruction.getOperand(0));
    case llvm::Instruction::ExtractValue: {
      const auto& extract = llvm::cast<llvm::ExtractValueInst>(instruction);
      if (extract.getNumIndices() != 1) return refuse(instruction, "structs in structs are not supported");
      TRY(const std::string whole, operand(*extract.getAggregateOperand()));
      return formatted("{}.f{}", whole, extract.getIndices()[0]);
    }
    case llvm::Instruction::GetElementPtr:
      return offset(instruction);
    case llvm::Instruction::Load: {
      const auto& load = llvm::cast<llvm::LoadInst>(instruction);
      if (load.isAtomic()) return atomic_load(load);
      return place(*load.getPointerOperand(), load.getType(), load.isVolatile(), instruction);
    }
    case llvm::Instruction::AtomicRMW:
    case llvm::Instruction::AtomicCmpXchg:
    case llvm::Instruction::Fence:
      return atomic(instruction);
    case llvm::Instruction::Call:
      return call(llvm::cast<llvm::CallInst>(instruction));
    default:
      break;
  }
  if (llvm::isa<llvm::BinaryOperator>(instruction)) return arithmetic(instruction);
  if (llvm::isa<llvm::CastInst>(instruction)) return conversion(instruction);
  return refuse(instruction, formatted("'{}' is not supported", instruction.getOpcodeName()));
}

Result<std::string> FunctionPrinter::arithmetic(const llvm::Instruction& instruction) {
  llvm::Type* type = instruction.getType();
  TRY(const std::string word, typed(type, instruction));
  TRY(const std::string a, operand(*instruction.getOperand(0)));
  TRY(const std::string b, operand(*instruction.getOperand(1)));
  const auto plain = [&](const char* sign) { return formatted("({} {} {})", a, sign, b); };
  const auto wrapped = [&](const char* sign) {
    return is_narrow(type) ? formatted("{}(uint({}) {} uint({}))", word, a, sign, b) : plain(sign);
  };
  const unsigned bits = type->isIntegerTy() ? type->getIntegerBitWidth() : 0;
  const char* is_signed = signed_name(bits);
  switch (instruction.getOpcode()) {
    case llvm::Instruction::FAdd:
      return plain("+");
    case llvm::Instruction::FSub:
      return plain("-");
    case llvm::Instruction::FMul:
      return plain("*");
    case llvm::Instruction::FDiv:
      return plain("/");
    case llvm::Instruction::FRem:
      return formatted("fmod({}, {})", a, b);
    default:
      break;
  }
  if (is_bool(type)) {
    switch (instruction.getOpcode()) {
      case llvm::Instruction::And:
      case llvm::Instruction::Mul:
        return plain("&&");
      case llvm::Instruction::Or:
        return plain("||");
      case llvm::Instruction::Xor:
      case llvm::Instruction::Add:
      case llvm::Instruction::Sub:
        return plain("!=");
      default:
        return refuse(instruction, formatted("'{}' of single bits is not supported", instruction.getOpcodeName()));
    }
  }
  switch (instruction.getOpcode()) {
    case llvm::Instruction::Add:
      return wrapped("+");
    case llvm::Instruction::Sub:
      return wrapped("-");
    case llvm::Instruction::Mul:
      return wrapped("*");
    case llvm::Instruction::UDiv:
      return wrapped("/");
    case llvm::Instruction::URem:
      return wrapped("%");
    case llvm::Instruction::SDiv:
      return formatted("{}({}({}) / {}({}))", word, is_signed, a, is_signed, b);
    case llvm::Instruction::SRem:
      return formatted("{}({}({}) % {}({}))", word, is_signed, a, is_signed, b);
    case llvm::Instruction::Shl:
      return wrapped("<<");
    case llvm::Instruction::LShr:
      return wrapped(">>");
    case llvm::Instruction::AShr:
      return formatted("{}({}({}) >> {})", word, is_signed, a, b);
    case llvm::Instruction::And:
      return wrapped("&");
    case llvm::Instruction::Or:
      return wrapped("|");
    case llvm::Instruction::Xor:
      return wrapped("^");
    default:
      return refuse(instruction, formatted("'{}' is not supported", instruction.getOpcodeName()));
  }
}

Result<std::string> FunctionPrinter::comparison(const llvm::Instruction& instruction) {
  const auto& compare = llvm::cast<llvm::CmpInst>(instruction);
  TRY(const std::string a, operand(*compare.getOperand(0)));
  TRY(const std::string b, operand(*compare.getOperand(1)));
  const auto with = [&](const char* sign) { return formatted("({} {} {})", a, sign, b); };
  const auto not_with = [&](const char* sign) { return formatted("(!({} {} {}))", a, sign, b); };
  const char* word = compare.isSigned() ? signed_name(compare.getOperand(0)->getType()->getIntegerBitWidth()) : nullptr;
  if (compare.isSigned() && !word) return refuse(instruction, "signed single bits are not supported");
  const auto as_signed = [&](const char* sign) { return formatted("({}({}) {} {}({}))", word, a, sign, word, b); };
  switch (compare.getPredicate()) {
    case llvm::CmpInst::ICMP_EQ:
    case llvm::CmpInst::FCMP_OEQ:
      return with("==");
    case llvm::CmpInst::ICMP_NE:
    case llvm::CmpInst::FCMP_UNE:
      return with("!=");
    case llvm::CmpInst::ICMP_UGT:
    case llvm::CmpInst::FCMP_OGT:
      return with(">");
    case llvm::CmpInst::ICMP_UGE:
    case llvm::CmpInst::FCMP_OGE:
      return with(">=");
    case llvm::CmpInst::ICMP_ULT:
    case llvm::CmpInst::FCMP_OLT:
      return with("<");
    case llvm::CmpInst::ICMP_ULE:
    case llvm::CmpInst::FCMP_OLE:
      return with("<=");
    case llvm::CmpInst::ICMP_SGT:
      return as_signed(">");
    case llvm::CmpInst::ICMP_SGE:
      return as_signed(">=");
    case llvm::CmpInst::ICMP_SLT:
      return as_signed("<");
    case llvm::CmpInst::ICMP_SLE:
      return as_signed("<=");
    case llvm::CmpInst::FCMP_ONE:
      return formatted("({} < {} || {} > {})", a, b, a, b);
    case llvm::CmpInst::FCMP_UEQ:
      return formatted("(!({} < {} || {} > {}))", a, b, a, b);
    case llvm::CmpInst::FCMP_ORD:
      return formatted("(!isnan({}) && !isnan({}))", a, b);
    case llvm::CmpInst::FCMP_UNO:
      return formatted("(isnan({}) || isnan({}))", a, b);
    case llvm::CmpInst::FCMP_UGT:
      return not_with("<=");
    case llvm::CmpInst::FCMP_UGE:
      return not_with("<");
    case llvm::CmpInst::FCMP_ULT:
      return not_with(">=");
    case llvm::CmpInst::FCMP_ULE:
      return not_with(">");
    case llvm::CmpInst::FCMP_TRUE:
      return std::string("true");
    default:
      return std::string("false");
  }
}

Result<std::string> FunctionPrinter::conversion(const llvm::Instruction& instruction) {
  const llvm::Value& from = *instruction.getOperand(0);
  llvm::Type* source = from.getType();
  llvm::Type* target = instruction.getType();
  TRY(const std::string word, typed(target, instruction));
  TRY(const std::string value, operand(from));
  const char* is_signed = source->isIntegerTy() ? signed_name(source->getIntegerBitWidth()) : nullptr;
  const char* target_signed = target->isIntegerTy() ? signed_name(target->getIntegerBitWidth()) : nullptr;
  switch (instruction.getOpcode()) {
    case llvm::Instruction::Trunc:
      return is_bool(target) ? formatted("(({} & 1) != 0)", value) : formatted("{}({})", word, value);
    case llvm::Instruction::ZExt:
    case llvm::Instruction::UIToFP:
    case llvm::Instruction::FPTrunc:
    case llvm::Instruction::FPExt:
      return formatted("{}({})", word, value);
    case llvm::Instruction::FPToUI:
      if (is_bool(target)) return formatted("({} != 0)", value);
      return formatted("{}({})", word, value);
    case llvm::Instruction::SExt:
      if (is_bool(source)) return formatted("({} ? {}(-1) : {}(0))", value, word, word);
      return formatted("{}({}({}({})))", word, target_signed, is_signed, value);
    case llvm::Instruction::SIToFP:
      if (is_bool(source)) return formatted("({} ? {}(-1) : {}(0))", value, word, word);
      return formatted("{}({}({}))", word, is_signed, value);
    case llvm::Instruction::FPToSI:
      return formatted("{}({}({}))", word, target_signed, value);
    case llvm::Instruction::BitCast:
      return source == target || (source->isBFloatTy() && target->isIntegerTy()) ||
                     (source->isIntegerTy() && target->isBFloatTy())
                 ? value
                 : formatted("as_type<{}>({})", word, value);
    default:
      return refuse(instruction, formatted("'{}' is not supported", instruction.getOpcodeName()));
  }
}

// -- memory --

/// "long(int(i))" for an index that is extended: as a number with a sign.
Result<std::string> FunctionPrinter::index_text(const llvm::Value& index) {
  const auto* extended = llvm::dyn_cast<llvm::CastInst>(&index);
  const bool is_signed = extended && extended->getOpcode() == llvm::Instruction::SExt;
  if (extended && folds(index) && extended->getSrcTy()->isIntegerTy() && !is_bool(extended->getSrcTy()) &&
      (is_signed || extended->getOpcode() == llvm::Instruction::ZExt)) {
    TRY(const std::string narrow, operand(*extended->getOperand(0)));
    if (!is_signed) return formatted("long({})", narrow);
    return formatted("long({}({}))", signed_name(extended->getSrcTy()->getIntegerBitWidth()), narrow);
  }
  TRY(const std::string whole, operand(index));
  if (index.getType()->isIntegerTy(64)) return formatted("long({})", whole);
  return formatted("long({}({}))", signed_name(index.getType()->getIntegerBitWidth()), whole);
}

/// "x + long(i) * 4": bytes behind a pointer to bytes.
Result<std::string> FunctionPrinter::offset(const llvm::Instruction& instruction) {
  const auto& gep = llvm::cast<llvm::GetElementPtrInst>(instruction);
  TRY(const std::string base, operand(*gep.getPointerOperand()));
  const uint64_t size = function_.getDataLayout().getTypeAllocSize(gep.getSourceElementType());
  const llvm::Value& index = **gep.idx_begin();
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(&index)) {
    const int64_t bytes = constant->getSExtValue() * static_cast<int64_t>(size);
    return bytes < 0 ? formatted("({} - {})", base, -bytes) : formatted("({} + {})", base, bytes);
  }
  TRY(const std::string wide, index_text(index));
  return size == 1 ? formatted("({} + {})", base, wide) : formatted("({} + {} * {})", base, wide, size);
}

/// What is accessed as an lvalue: "((device float*)x)[long(i)]", "*(threadgroup uint*)p".
Result<std::string> FunctionPrinter::place(const llvm::Value& pointer, llvm::Type* type, bool is_volatile,
                                           const llvm::Instruction& access) {
  const llvm::DataLayout& layout = function_.getDataLayout();
  const unsigned space = pointer.getType()->getPointerAddressSpace();
  TRY(const std::string word, typed(type, access));
  const std::string cast = formatted("({}{} {}*)", is_volatile ? "volatile " : "", space_name(space), word);
  const auto* gep = llvm::dyn_cast<llvm::GetElementPtrInst>(&pointer);
  if (gep && folds(*gep) && gep->getSourceElementType() == type && !type->isIntegerTy(8) &&
      layout.getTypeAllocSize(type) == layout.getTypeStoreSize(type) &&
      gep->idx_begin()->get()->getType()->isIntegerTy(64)) {
    TRY(const std::string base, operand(*gep->getPointerOperand()));
    if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(gep->idx_begin()->get()))
      return formatted("({}{})[{}]", cast, base, constant->getSExtValue());
    TRY(const std::string index, index_text(**gep->idx_begin()));
    return formatted("({}{})[{}]", cast, base, index);
  }
  TRY(const std::string address, operand(pointer));
  return formatted("*{}{}", cast, address);
}

namespace {

/// The operations of the helper `locked`.
struct LockedOperation {
  llvm::AtomicRMWInst::BinOp operation;
  unsigned number;
};
constexpr unsigned kLockedExchange = 0, kLockedCompare = 1, kLockedOr = 5;
constexpr LockedOperation kLocked[] = {
    {llvm::AtomicRMWInst::Xchg, kLockedExchange},
    {llvm::AtomicRMWInst::Add, 2},
    {llvm::AtomicRMWInst::Sub, 3},
    {llvm::AtomicRMWInst::And, 4},
    {llvm::AtomicRMWInst::Or, kLockedOr},
    {llvm::AtomicRMWInst::Xor, 6},
    {llvm::AtomicRMWInst::Min, 7},
    {llvm::AtomicRMWInst::Max, 8},
    {llvm::AtomicRMWInst::UMin, 9},
    {llvm::AtomicRMWInst::UMax, 10},
};

}  // namespace

/// Of 64 bits: under one of the launch's locks, whose fences need MSL 3.2.
std::string FunctionPrinter::use_locked(const std::string& word, unsigned operation, const std::string& value,
                                        const std::string& expected) {
  module_.helpers.use("locked");
  module_.version = std::max<uint32_t>(module_.version, 32);
  return formatted("locked(t, {}, {}, {}, {})", word, operation, value, expected);
}

Result<std::string> FunctionPrinter::atomic_word(const llvm::Value& pointer) {
  TRY(const std::string address, operand(pointer));
  return formatted("({} atomic_uint*){}", space_name(pointer.getType()->getPointerAddressSpace()), address);
}

/// Bytes and halves of words are read and written whole by any access.
Result<std::string> FunctionPrinter::atomic_load(const llvm::LoadInst& load) {
  const uint64_t bits = load.getType()->getPrimitiveSizeInBits();
  if (bits < 32) return place(*load.getPointerOperand(), load.getType(), true, load);
  TRY(const std::string word, atomic_word(*load.getPointerOperand()));
  if (bits == 64) return use_locked(word, kLockedOr, "0ul");
  const std::string value = formatted("atomic_load_explicit({}, memory_order_relaxed)", word);
  return load.getType()->isFloatTy() ? formatted("as_type<float>({})", value) : value;
}

Result<std::string> FunctionPrinter::atomic_store(const llvm::StoreInst& store, const std::string& value) {
  llvm::Type* type = store.getValueOperand()->getType();
  const uint64_t bits = type->getPrimitiveSizeInBits();
  if (bits < 32) {
    TRY(const std::string where, place(*store.getPointerOperand(), type, true, store));
    return formatted("{} = {}", where, value);
  }
  TRY(const std::string word, atomic_word(*store.getPointerOperand()));
  if (bits == 64) return use_locked(word, kLockedExchange, value);
  return formatted("atomic_store_explicit({}, {}, memory_order_relaxed)", word,
                   type->isFloatTy() ? formatted("as_type<uint>({})", value) : value);
}

Result<std::string> FunctionPrinter::atomic(const llvm::Instruction& instruction) {
  constexpr std::string_view kOrder = "memory_order_relaxed";
  if (const auto* fence = llvm::dyn_cast<llvm::FenceInst>(&instruction)) {
    llvm::SmallVector<llvm::StringRef, 8> names;
    fence->getContext().getSyncScopeNames(names);
    const llvm::StringRef scope = names[fence->getSyncScopeID()];
    if (scope == "singlethread") return std::string();
    module_.version = std::max<uint32_t>(module_.version, 32);
    return formatted(
        "atomic_thread_fence(mem_flags::mem_device | mem_flags::mem_threadgroup, memory_order_seq_cst, {})",
        scope == "block" ? "thread_scope_threadgroup" : "thread_scope_device");
  }
  llvm::Type* type = instruction.getOperand(1)->getType();
  if (!type->isIntegerTy(32) && !type->isIntegerTy(64))
    return refuse(instruction, "atomics on other than integers of 32 and 64 bits are not supported");
  TRY(const std::string address, operand(*instruction.getOperand(0)));
  const char* space = space_name(instruction.getOperand(0)->getType()->getPointerAddressSpace());
  TRY(const std::string value, operand(*instruction.getOperand(1)));
  if (type->isIntegerTy(64)) return locked(instruction, formatted("({} atomic_uint*){}", space, address), value);
  if (const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
    TRY(const std::string desired, operand(*exchange->getNewValOperand()));
    TRY(const std::string result, typed(instruction.getType(), instruction));
    const std::string found = formatted("{}(({} atomic_uint*){}, {}, {})", module_.helpers.use("compare_exchange"),
                                        space, address, value, desired);
    module_.helpers.use("exchanged");
    return formatted("exchanged<{}>({}, {})", result, found, value);
  }
  const auto native = [&](const char* operation) {
    return formatted("atomic_{}_explicit(({} atomic_uint*){}, {}, {})", operation, space, address, value, kOrder);
  };
  const auto as_signed = [&](const char* operation) {
    return formatted("uint(atomic_{}_explicit(({} atomic_int*){}, int({}), {}))", operation, space, address, value,
                     kOrder);
  };
  switch (llvm::cast<llvm::AtomicRMWInst>(instruction).getOperation()) {
    case llvm::AtomicRMWInst::Add:
      return native("fetch_add");
    case llvm::AtomicRMWInst::Sub:
      return native("fetch_sub");
    case llvm::AtomicRMWInst::And:
      return native("fetch_and");
    case llvm::AtomicRMWInst::Or:
      return native("fetch_or");
    case llvm::AtomicRMWInst::Xor:
      return native("fetch_xor");
    case llvm::AtomicRMWInst::Xchg:
      return native("exchange");
    case llvm::AtomicRMWInst::UMin:
      return native("fetch_min");
    case llvm::AtomicRMWInst::UMax:
      return native("fetch_max");
    case llvm::AtomicRMWInst::Min:
      return as_signed("fetch_min");
    case llvm::AtomicRMWInst::Max:
      return as_signed("fetch_max");
    default:
      return refuse(
          instruction,
          formatted("atomic '{}' is not supported yet",
                    llvm::AtomicRMWInst::getOperationName(llvm::cast<llvm::AtomicRMWInst>(instruction).getOperation())
                        .str()));
  }
}

Result<std::string> FunctionPrinter::locked(const llvm::Instruction& instruction, const std::string& word,
                                            const std::string& value) {
  if (const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
    TRY(const std::string desired, operand(*exchange->getNewValOperand()));
    TRY(const std::string result, typed(instruction.getType(), instruction));
    module_.helpers.use("exchanged");
    return formatted("exchanged<{}>({}, {})", result, use_locked(word, kLockedCompare, desired, value), value);
  }
  const auto operation = llvm::cast<llvm::AtomicRMWInst>(instruction).getOperation();
  for (const LockedOperation& row : kLocked)
    if (row.operation == operation) return use_locked(word, row.number, value);
  return refuse(instruction, formatted("atomic '{}' of 64 bits is not supported yet",
                                       llvm::AtomicRMWInst::getOperationName(operation).str()));
}

}  // namespace cupola::metal::build
