#include "backend/metal/air/function_writer.h"

#include <llvm/Bitcode/LLVMBitCodes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>
#include <llvm/Support/raw_ostream.h>

#include "backend/metal/air/left_out.h"

// Records are those of LLVM 14's writer (llvm/lib/Bitcode/Writer/BitcodeWriter.cpp), for the instructions that AIR has.

namespace cupola::air {

using namespace llvm::bitc;

namespace {

/// log2 and one more; 0 is "none".
uint64_t encoded(llvm::Align alignment) {
  return llvm::Log2(alignment) + 1;
}

uint64_t fast_flags(const llvm::Instruction& instruction) {
  if (!llvm::isa<llvm::FPMathOperator>(instruction)) return 0;
  const llvm::FastMathFlags flags = instruction.getFastMathFlags();
  return (flags.noNaNs() ? NoNaNs : 0) | (flags.noInfs() ? NoInfs : 0) | (flags.noSignedZeros() ? NoSignedZeros : 0) |
         (flags.allowReciprocal() ? AllowReciprocal : 0) | (flags.allowContract() ? AllowContract : 0) |
         (flags.approxFunc() ? ApproxFunc : 0) | (flags.allowReassoc() ? AllowReassoc : 0);
}

/// The flags of an operation that LLVM 14 has too: not `disjoint`, `nneg`, `samesign` and other later ones.
uint64_t operation_flags(const llvm::Instruction& instruction) {
  if (const auto* wraps = llvm::dyn_cast<llvm::OverflowingBinaryOperator>(&instruction))
    return (wraps->hasNoUnsignedWrap() ? 1 << OBO_NO_UNSIGNED_WRAP : 0) |
           (wraps->hasNoSignedWrap() ? 1 << OBO_NO_SIGNED_WRAP : 0);
  if (const auto* exact = llvm::dyn_cast<llvm::PossiblyExactOperator>(&instruction))
    return exact->isExact() ? 1 << PEO_EXACT : 0;
  return fast_flags(instruction);
}

void push_flags(Values& record, uint64_t flags) {
  if (flags) record.push_back(flags);
}

}  // namespace

FunctionWriter::FunctionWriter(const llvm::Function& function, TypeTable& types, Pointees& pointees,
                               ConstantTable& constants, AttributeTable& attributes)
    : function_(function), types_(types), pointees_(pointees), constants_(constants), attributes_(attributes) {}

void FunctionWriter::plan_phi(const llvm::PHINode& phi) {
  const TypeId wanted = pointees_.type_of(phi);
  for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
    const llvm::Value* value = phi.getIncomingValue(i);
    if (llvm::isa<llvm::Constant>(value) || pointees_.type_of(*value) == wanted) continue;
    const llvm::Instruction* end = phi.getIncomingBlock(i)->getTerminator();
    std::vector<Bitcast>& there = before_[end];
    size_t at = 0;  // a block that comes in twice must bring the same value
    while (at < there.size() && (there[at].value != value || there[at].type != wanted)) ++at;
    if (at == there.size()) there.push_back({value, wanted});
    casts_[{&phi, i}] = {end, at};
  }
}

void FunctionWriter::plan_operands(const llvm::Instruction& instruction) {
  for (unsigned i = 0; i < instruction.getNumOperands(); ++i) {
    const llvm::Value* value = instruction.getOperand(i);
    if (!value->getType()->isPointerTy() || llvm::isa<llvm::Constant>(value)) continue;
    const TypeId wanted = pointees_.wanted(instruction, i);
    if (pointees_.type_of(*value) == wanted) continue;
    before_[&instruction].push_back({value, wanted});
    casts_[{&instruction, i}] = {&instruction, before_[&instruction].size() - 1};
  }
}

void FunctionWriter::plan() {
  for (const llvm::BasicBlock& block : function_)
    for (const llvm::Instruction& instruction : block) {
      if (is_left_out(instruction)) continue;
      if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) {
        if (phi->getType()->isPointerTy()) plan_phi(*phi);
      } else {
        plan_operands(instruction);
      }
    }
}

/// Values are numbered in their order: arguments, then what instructions make.
void FunctionWriter::number() {
  ValueId next = constants_.count();
  for (const llvm::Argument& argument : function_.args()) values_[&argument] = next++;
  next_ = next;
  for (const llvm::BasicBlock& block : function_) {
    blocks_.emplace(&block, blocks_.size());
    for (const llvm::Instruction& instruction : block) {
      for (Bitcast& bitcast : before_[&instruction]) bitcast.id = next++;
      if (!is_left_out(instruction) && !instruction.getType()->isVoidTy()) values_[&instruction] = next++;
    }
  }
}

ValueId FunctionWriter::id_of(const llvm::Value& value, TypeId wanted) {
  if (const auto* constant = llvm::dyn_cast<llvm::Constant>(&value)) return constants_.id(*constant, wanted);
  return values_.at(&value);
}

ValueId FunctionWriter::operand_id(const llvm::Instruction& user, unsigned operand) {
  if (const auto cast = casts_.find({&user, operand}); cast != casts_.end())
    return before_.at(cast->second.first)[cast->second.second].id;
  const llvm::Value& value = *user.getOperand(operand);
  return id_of(value, llvm::isa<llvm::Constant>(value) ? pointees_.wanted(user, operand) : 0);
}

/// Operands are counted backwards from the value that comes next, in 32 bits: one that comes later is a large number.
void FunctionWriter::push(Values& record, const llvm::Instruction& user, unsigned operand) {
  record.push_back(next_ - operand_id(user, operand));
}

/// Of a value that is not there yet the type must be told.
void FunctionWriter::push_with_type(Values& record, const llvm::Instruction& user, unsigned operand) {
  const ValueId id = operand_id(user, operand);
  record.push_back(next_ - id);
  if (id >= next_) record.push_back(pointees_.wanted(user, operand));
}

void FunctionWriter::write_bitcast(llvm::BitstreamWriter& out, const Bitcast& bitcast) {
  const ValueId id = values_.at(bitcast.value);
  Values record = {next_ - id};
  if (id >= next_) record.push_back(pointees_.type_of(*bitcast.value));
  record.append({bitcast.type, CAST_BITCAST});
  out.EmitRecord(FUNC_CODE_INST_CAST, record);
  ++next_;
}

uint32_t FunctionWriter::branch(const llvm::Instruction& instruction, Values& record) {
  const auto& jump = llvm::cast<llvm::BranchInst>(instruction);
  record.push_back(block_id(jump.getSuccessor(0)));
  if (jump.isConditional()) {
    record.push_back(block_id(jump.getSuccessor(1)));
    push(record, jump, 0);
  }
  return FUNC_CODE_INST_BR;
}

uint32_t FunctionWriter::switch_record(const llvm::SwitchInst& chosen, Values& record) {
  const TypeId type = types_.of(chosen.getCondition()->getType());
  record.push_back(type);
  push(record, chosen, 0);
  record.push_back(block_id(chosen.getDefaultDest()));
  for (const auto& row : chosen.cases()) {
    record.push_back(constants_.id(*row.getCaseValue(), type));
    record.push_back(block_id(row.getCaseSuccessor()));
  }
  return FUNC_CODE_INST_SWITCH;
}

uint32_t FunctionWriter::phi_record(const llvm::PHINode& phi, Values& record) {
  record.push_back(pointees_.type_of(phi));
  for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
    record.push_back(with_sign_below(int64_t{next_} - int64_t{operand_id(phi, i)}));
    record.push_back(block_id(phi.getIncomingBlock(i)));
  }
  push_flags(record, fast_flags(phi));
  return FUNC_CODE_INST_PHI;
}

uint32_t FunctionWriter::call_record(const llvm::CallBase& call, Values& record) {
  const uint64_t flags = fast_flags(call);
  const auto& plain = llvm::cast<llvm::CallInst>(call);
  record.push_back(attributes_.id(call.getAttributes()));
  record.push_back(uint64_t{call.getCallingConv()} << CALL_CCONV | uint64_t{plain.isTailCall()} << CALL_TAIL |
                   uint64_t{plain.isMustTailCall()} << CALL_MUSTTAIL | uint64_t{1} << CALL_EXPLICIT_TYPE |
                   uint64_t{plain.isNoTailCall()} << CALL_NOTAIL | uint64_t{flags != 0} << CALL_FMF);
  push_flags(record, flags);
  record.push_back(pointees_.signature_of(call).type);
  push_with_type(record, call, call.getNumOperands() - 1);
  const unsigned parameters = call.getFunctionType()->getNumParams();
  for (unsigned i = 0; i < call.arg_size(); ++i)
    i < parameters ? push(record, call, i) : push_with_type(record, call, i);
  return FUNC_CODE_INST_CALL;
}

uint32_t FunctionWriter::memory_record(const llvm::Instruction& instruction, Values& record) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    push_with_type(record, *load, 0);
    record.append({pointees_.type_of(*load), encoded(load->getAlign()), load->isVolatile()});
    return FUNC_CODE_INST_LOAD;
  }
  const auto& store = llvm::cast<llvm::StoreInst>(instruction);
  push_with_type(record, store, 1);
  push_with_type(record, store, 0);
  record.append({encoded(store.getAlign()), store.isVolatile()});
  return FUNC_CODE_INST_STORE;
}

uint32_t FunctionWriter::room_record(const llvm::AllocaInst& room, Values& record) {
  constexpr uint64_t kExplicitType = 1 << 6;  // llvm::AllocaPackedValues
  const TypeId count_type = types_.of(room.getArraySize()->getType());
  const uint64_t alignment = encoded(room.getAlign());
  record.append({types_.of(room.getAllocatedType()), count_type, id_of(*room.getArraySize(), count_type),
                 (alignment & 31) | kExplicitType | alignment >> 5 << 8});
  if (room.getAddressSpace()) record.push_back(room.getAddressSpace());
  return FUNC_CODE_INST_ALLOCA;
}

Result<uint32_t> FunctionWriter::record_of(const llvm::Instruction& instruction, Values& record) {
  const auto with_types = [&](std::initializer_list<unsigned> operands) {
    for (const unsigned operand : operands) push_with_type(record, instruction, operand);
  };
  if (const auto number = cast_number(instruction.getOpcode())) {
    with_types({0});
    record.append({pointees_.type_of(instruction), *number});
    return FUNC_CODE_INST_CAST;
  }
  if (const auto number = binary_number(instruction.getOpcode())) {
    with_types({0});
    push(record, instruction, 1);
    record.push_back(*number);
    push_flags(record, operation_flags(instruction));
    return FUNC_CODE_INST_BINOP;
  }
  switch (instruction.getOpcode()) {
    case llvm::Instruction::FNeg:
      with_types({0});
      record.push_back(UNOP_FNEG);
      push_flags(record, fast_flags(instruction));
      return FUNC_CODE_INST_UNOP;
    case llvm::Instruction::Load:
    case llvm::Instruction::Store:
      if (instruction.isAtomic()) break;
      return memory_record(instruction, record);
    case llvm::Instruction::Alloca:
      return room_record(llvm::cast<llvm::AllocaInst>(instruction), record);
    case llvm::Instruction::GetElementPtr: {
      const auto& address = llvm::cast<llvm::GetElementPtrInst>(instruction);
      record.append({address.isInBounds(), types_.of(address.getSourceElementType())});
      for (unsigned i = 0; i < address.getNumOperands(); ++i) push_with_type(record, address, i);
      return FUNC_CODE_INST_GEP;
    }
    case llvm::Instruction::ExtractValue:
      with_types({0});
      for (const unsigned index : llvm::cast<llvm::ExtractValueInst>(instruction).indices()) record.push_back(index);
      return FUNC_CODE_INST_EXTRACTVAL;
    case llvm::Instruction::InsertValue:
      with_types({0, 1});
      for (const unsigned index : llvm::cast<llvm::InsertValueInst>(instruction).indices()) record.push_back(index);
      return FUNC_CODE_INST_INSERTVAL;
    case llvm::Instruction::Select:
      with_types({1});
      push(record, instruction, 2);
      with_types({0});
      push_flags(record, fast_flags(instruction));
      return FUNC_CODE_INST_VSELECT;
    case llvm::Instruction::ExtractElement:
      with_types({0, 1});
      return FUNC_CODE_INST_EXTRACTELT;
    case llvm::Instruction::InsertElement:
      with_types({0});
      push(record, instruction, 1);
      with_types({2});
      return FUNC_CODE_INST_INSERTELT;
    case llvm::Instruction::ShuffleVector: {
      const llvm::Constant& mask = *llvm::cast<llvm::ShuffleVectorInst>(instruction).getShuffleMaskForBitcode();
      with_types({0});
      push(record, instruction, 1);
      record.push_back(next_ - constants_.id(mask, types_.of(mask.getType())));
      return FUNC_CODE_INST_SHUFFLEVEC;
    }
    case llvm::Instruction::ICmp:
    case llvm::Instruction::FCmp:
      with_types({0});
      push(record, instruction, 1);
      record.push_back(llvm::cast<llvm::CmpInst>(instruction).getPredicate());
      push_flags(record, fast_flags(instruction));
      return FUNC_CODE_INST_CMP2;
    case llvm::Instruction::Freeze:
      with_types({0});
      return FUNC_CODE_INST_FREEZE;
    case llvm::Instruction::PHI:
      return phi_record(llvm::cast<llvm::PHINode>(instruction), record);
    case llvm::Instruction::Call:
      return call_record(llvm::cast<llvm::CallInst>(instruction), record);
    case llvm::Instruction::Br:
      return branch(instruction, record);
    case llvm::Instruction::Switch:
      return switch_record(llvm::cast<llvm::SwitchInst>(instruction), record);
    case llvm::Instruction::Ret:
      if (instruction.getNumOperands()) with_types({0});
      return FUNC_CODE_INST_RET;
    case llvm::Instruction::Unreachable:
      return FUNC_CODE_INST_UNREACHABLE;
    default:
      break;
  }
  std::string text;
  llvm::raw_string_ostream(text) << instruction;
  return fail(ErrorCode::NotSupported, "air: function '{}': AIR has no such instruction:{}", function_.getName().str(),
              text);
}

Result<> FunctionWriter::write_instruction(llvm::BitstreamWriter& out, const llvm::Instruction& instruction) {
  for (const Bitcast& bitcast : before_[&instruction]) write_bitcast(out, bitcast);
  if (is_left_out(instruction)) return {};
  Values record;
  TRY(const uint32_t code, record_of(instruction, record));
  out.EmitRecord(code, record);
  if (!instruction.getType()->isVoidTy()) ++next_;
  return {};
}

Result<> FunctionWriter::write(llvm::BitstreamWriter& out) {
  plan();
  number();
  out.EnterSubblock(FUNCTION_BLOCK_ID, 4);
  out.EmitRecord(FUNC_CODE_DECLAREBLOCKS, llvm::ArrayRef<uint64_t>{function_.size()});
  Result<> written;
  for (const llvm::BasicBlock& block : function_)
    for (const llvm::Instruction& instruction : block)
      if (written) written = write_instruction(out, instruction);
  out.ExitBlock();
  return written;
}

}  // namespace cupola::air
