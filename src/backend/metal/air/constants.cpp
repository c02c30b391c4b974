#include "backend/metal/air/constants.h"

#include <llvm/Bitcode/LLVMBitCodes.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Operator.h>

#include "backend/metal/air/left_out.h"

namespace cupola::air {

using namespace llvm::bitc;

std::optional<unsigned> cast_number(unsigned opcode) {
  switch (opcode) {
    case llvm::Instruction::Trunc:
      return CAST_TRUNC;
    case llvm::Instruction::ZExt:
      return CAST_ZEXT;
    case llvm::Instruction::SExt:
      return CAST_SEXT;
    case llvm::Instruction::FPToUI:
      return CAST_FPTOUI;
    case llvm::Instruction::FPToSI:
      return CAST_FPTOSI;
    case llvm::Instruction::UIToFP:
      return CAST_UITOFP;
    case llvm::Instruction::SIToFP:
      return CAST_SITOFP;
    case llvm::Instruction::FPTrunc:
      return CAST_FPTRUNC;
    case llvm::Instruction::FPExt:
      return CAST_FPEXT;
    case llvm::Instruction::PtrToInt:
      return CAST_PTRTOINT;
    case llvm::Instruction::IntToPtr:
      return CAST_INTTOPTR;
    case llvm::Instruction::BitCast:
      return CAST_BITCAST;
    case llvm::Instruction::AddrSpaceCast:
      return CAST_ADDRSPACECAST;
    default:
      return std::nullopt;
  }
}

std::optional<unsigned> binary_number(unsigned opcode) {
  switch (opcode) {
    case llvm::Instruction::Add:
    case llvm::Instruction::FAdd:
      return BINOP_ADD;
    case llvm::Instruction::Sub:
    case llvm::Instruction::FSub:
      return BINOP_SUB;
    case llvm::Instruction::Mul:
    case llvm::Instruction::FMul:
      return BINOP_MUL;
    case llvm::Instruction::UDiv:
      return BINOP_UDIV;
    case llvm::Instruction::SDiv:
    case llvm::Instruction::FDiv:
      return BINOP_SDIV;
    case llvm::Instruction::URem:
      return BINOP_UREM;
    case llvm::Instruction::SRem:
    case llvm::Instruction::FRem:
      return BINOP_SREM;
    case llvm::Instruction::Shl:
      return BINOP_SHL;
    case llvm::Instruction::LShr:
      return BINOP_LSHR;
    case llvm::Instruction::AShr:
      return BINOP_ASHR;
    case llvm::Instruction::And:
      return BINOP_AND;
    case llvm::Instruction::Or:
      return BINOP_OR;
    case llvm::Instruction::Xor:
      return BINOP_XOR;
    default:
      return std::nullopt;
  }
}

uint64_t with_sign_below(uint64_t value) {
  return static_cast<int64_t>(value) >= 0 ? value << 1 : (~value + 1) << 1 | 1;
}

void emit_text(llvm::BitstreamWriter& out, unsigned code, llvm::StringRef text) {
  out.EmitRecord(code, std::vector<uint64_t>(text.bytes_begin(), text.bytes_end()));
}

ConstantTable::ConstantTable(const llvm::Module& module, TypeTable& types, Pointees& pointees)
    : types_(types), pointees_(pointees) {
  for (const llvm::GlobalVariable& variable : module.globals()) globals_[&variable] = first_++;
  for (const llvm::Function& function : module)
    if (!is_left_out(function)) globals_[&function] = first_++;
}

ValueId ConstantTable::add(const llvm::Constant& constant, TypeId type, Entry entry) {
  entries_.push_back(std::move(entry));
  return known_[{&constant, type}] = count() - 1;
}

ValueId ConstantTable::add_bitcast(const llvm::Constant& constant, TypeId from, ValueId value, TypeId wanted) {
  return add(constant, wanted, {wanted, CST_CODE_CE_CAST, {CAST_BITCAST, from, value}});
}

ValueId ConstantTable::id(const llvm::Constant& constant, TypeId wanted) {
  if (const auto found = known_.find({&constant, wanted}); found != known_.end()) return found->second;
  if (const auto* global = llvm::dyn_cast<llvm::GlobalValue>(&constant)) {
    const auto found = globals_.find(global);
    if (found == globals_.end()) {  // an alias
      unknown_ = &constant;
      return 0;
    }
    const TypeId own = pointees_.type_of(constant);
    return own == wanted ? found->second : add_bitcast(constant, own, found->second, wanted);
  }
  if (llvm::isa<llvm::GEPOperator>(constant))
    if (const TypeId own = pointees_.type_of(constant); own != wanted)
      return add_bitcast(constant, own, id(constant, own), wanted);
  return add(constant, wanted, entry_of(constant, wanted));
}

ConstantTable::Entry ConstantTable::number(const llvm::ConstantInt& integer, TypeId type) {
  if (integer.getBitWidth() <= 64) return {type, CST_CODE_INTEGER, {with_sign_below(integer.getSExtValue())}};
  Entry entry = {type, CST_CODE_WIDE_INTEGER, {}};
  for (unsigned i = 0; i < integer.getValue().getActiveWords(); ++i)
    entry.values.push_back(with_sign_below(integer.getValue().getRawData()[i]));
  return entry;
}

ConstantTable::Entry ConstantTable::entry_of(const llvm::Constant& constant, TypeId type) {
  if (constant.isNullValue()) return {type, CST_CODE_NULL, {}};
  if (llvm::isa<llvm::PoisonValue>(constant)) return {type, CST_CODE_POISON, {}};
  if (llvm::isa<llvm::UndefValue>(constant)) return {type, CST_CODE_UNDEF, {}};
  if (const auto* integer = llvm::dyn_cast<llvm::ConstantInt>(&constant)) return number(*integer, type);
  if (const auto* real = llvm::dyn_cast<llvm::ConstantFP>(&constant))
    return {type, CST_CODE_FLOAT, {real->getValueAPF().bitcastToAPInt().getZExtValue()}};
  if (const auto* data = llvm::dyn_cast<llvm::ConstantDataSequential>(&constant)) {
    Entry entry = {type, CST_CODE_DATA, {}};
    for (unsigned i = 0; i < data->getNumElements(); ++i)
      entry.values.push_back(data->getElementType()->isIntegerTy()
                                 ? data->getElementAsInteger(i)
                                 : data->getElementAsAPFloat(i).bitcastToAPInt().getZExtValue());
    return entry;
  }
  if (llvm::isa<llvm::ConstantAggregate>(constant)) {
    Entry entry = {type, CST_CODE_AGGREGATE, {}};
    for (unsigned i = 0; i < constant.getNumOperands(); ++i)
      entry.values.push_back(id(*llvm::cast<llvm::Constant>(constant.getOperand(i)), types_.element(type, i)));
    return entry;
  }
  if (const auto* computed = llvm::dyn_cast<llvm::ConstantExpr>(&constant)) return expression(*computed, type);
  unknown_ = &constant;
  return {type, CST_CODE_UNDEF, {}};
}

ConstantTable::Entry ConstantTable::expression(const llvm::ConstantExpr& expression, TypeId type) {
  const auto operand = [&](unsigned i) -> const llvm::Constant& { return *expression.getOperand(i); };
  if (const auto number = cast_number(expression.getOpcode())) {
    const TypeId from = pointees_.type_of(operand(0));
    return {type, CST_CODE_CE_CAST, {*number, from, id(operand(0), from)}};
  }
  if (const auto number = binary_number(expression.getOpcode()))
    return {type, CST_CODE_CE_BINOP, {*number, id(operand(0), type), id(operand(1), type)}};
  const auto* address = llvm::dyn_cast<llvm::GEPOperator>(&expression);
  if (!address || address->getType()->isVectorTy()) {
    unknown_ = &expression;
    return {type, CST_CODE_UNDEF, {}};
  }
  const TypeId source = types_.of(address->getSourceElementType());
  Entry entry = {type, address->isInBounds() ? CST_CODE_CE_INBOUNDS_GEP : CST_CODE_CE_GEP_OLD, {source}};
  for (unsigned i = 0; i < expression.getNumOperands(); ++i) {
    const TypeId wanted =
        i == 0 ? types_.pointer_to(source, address->getPointerAddressSpace()) : types_.of(operand(i).getType());
    entry.values.append({wanted, id(operand(i), wanted)});
  }
  return entry;
}

void ConstantTable::write(llvm::BitstreamWriter& out) const {
  if (entries_.empty()) return;
  out.EnterSubblock(CONSTANTS_BLOCK_ID, 4);
  std::optional<TypeId> type;
  for (const Entry& entry : entries_) {
    if (type != entry.type) out.EmitRecord(CST_CODE_SETTYPE, llvm::ArrayRef<uint64_t>{entry.type});
    type = entry.type;
    out.EmitRecord(entry.code, entry.values);
  }
  out.ExitBlock();
}

}  // namespace cupola::air
