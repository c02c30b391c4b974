#include "ptx/lower/emission.h"

#include <llvm/IR/ValueSymbolTable.h>

#include <bit>

#include "ptx/syntax/printer.h"

namespace cupola::ptx {
void Emission::refuse(std::string_view reason) {
  if (failed()) return;
  error_ = {ErrorCode::NotSupported, formatted("ptx: line {}, column {}: '{}': {}", in->location.line,
                                               in->location.column, print(module.m, f, *in), reason)};
}

Type Emission::operand_type(size_t i) const {
  const Row& row = *in->form->row;
  const OperandSpec& spec = row.specs[i];
  Type of_register = Type::B32;
  if (const Operand& o = operand(i); o.kind == Operand::Kind::Register) of_register = f.registers[o.index].type;
  if (const Operand& o = operand(i); o.kind == Operand::Kind::Vector && o.count)
    if (const Operand& first = f.operands[o.index]; first.kind == Operand::Kind::Register)
      of_register = f.registers[first.index].type;
  return in->form->operand_type(spec, of_register);
}

Value* Emission::slot(llvm::Type* type, const llvm::Twine& name, unsigned align) {
  llvm::BasicBlock& entry = into.getEntryBlock();
  llvm::IRBuilder<> at(&entry, entry.begin());
  llvm::AllocaInst* made = at.CreateAlloca(type, nullptr, name);
  if (align) made->setAlignment(llvm::Align(align));
  return made;
}

Value* Emission::words() {
  constexpr llvm::StringLiteral kName = "cupola.words";  // inline PTX: other fragments of the function made them
  if (Value* made = into.getValueSymbolTable()->lookup(kName)) return made;
  return slot(llvm::ArrayType::get(b.getInt32Ty(), kWords), kName, 8);
}

Value* Emission::register_slot(uint32_t index) {
  register_slots_.resize(f.registers.size());
  Value*& made = register_slots_[index];
  if (!made) {
    const Register& reg = f.registers[index];
    llvm::Type* type = value_type(reg.type);
    if (reg.vector > 1) type = llvm::ArrayType::get(type, reg.vector);
    made = slot(type, llvm::StringRef());
  }
  return made;
}

Value* Emission::variable_address(uint32_t index) {
  variables_.resize(f.variables.size());
  Value*& made = variables_[index];
  if (made) return made;
  const Variable& variable = f.variables[index];
  switch (variable.space) {
    case Space::Shared:
    case Space::Global:
    case Space::Const:
    case Space::Tex: {
      const bool external = variable.linkage == Linkage::Extern;
      const llvm::StringRef own(variable.name);
      if (external)
        if (llvm::GlobalValue* known = module.symbol(variable.name)) return made = known;
      llvm::GlobalVariable* global = module.make_variable(variable, external ? own : into.getName() + "." + own);
      if (const auto done = module.initialise(variable, *global); !done && !failed()) error_ = done.error();
      return made = global;
    }
    case Space::Generic:
    case Space::Reg:
    case Space::Local:
    case Space::Param:
      return made = slot(memory_type(module, variable), llvm::StringRef(variable.name), variable.alignment());
  }
  return made;
}

llvm::BasicBlock* Emission::label(uint32_t index) {
  labels_.resize(f.labels.size());
  if (!labels_[index])
    labels_[index] = llvm::BasicBlock::Create(module.context(), llvm::StringRef(f.labels[index]), &into);
  return labels_[index];
}

void Emission::start_block(llvm::BasicBlock* block) {
  if (!b.GetInsertBlock()->getTerminator()) b.CreateBr(block);
  block->moveAfter(b.GetInsertBlock());
  b.SetInsertPoint(block);
  ++block_number_;
}

void Emission::after_terminator() {
  b.SetInsertPoint(llvm::BasicBlock::Create(module.context(), "", &into));
  ++block_number_;
}

Value* Emission::carry_slot() {
  if (!carry_) {
    carry_ = slot(b.getInt1Ty(), "carry");
    llvm::IRBuilder<> at(llvm::cast<llvm::Instruction>(carry_)->getNextNode());
    at.CreateStore(at.getFalse(), carry_);
  }
  return carry_;
}

Value* Emission::convert(Value* value, llvm::Type* to, bool is_signed) {
  llvm::Type* from = value->getType();
  if (from == to) return value;
  if (from->isPointerTy()) value = b.CreatePtrToInt(value, b.getInt64Ty());
  const unsigned have = from->isPointerTy() ? 64 : from->getPrimitiveSizeInBits();
  const unsigned want = to->isPointerTy() ? 64 : to->getPrimitiveSizeInBits();
  if (!value->getType()->isIntegerTy()) value = b.CreateBitCast(value, b.getIntNTy(have));
  if (have != want)
    value = is_signed ? b.CreateSExtOrTrunc(value, b.getIntNTy(want)) : b.CreateZExtOrTrunc(value, b.getIntNTy(want));
  if (to->isPointerTy()) return b.CreateIntToPtr(value, to);
  return to->isIntegerTy() ? value : b.CreateBitCast(value, to);
}

Value* Emission::call_library(llvm::StringRef name, llvm::Type* result, llvm::ArrayRef<Value*> arguments) {
  llvm::SmallVector<llvm::Type*, 8> types;
  for (Value* argument : arguments) types.push_back(argument->getType());
  return b.CreateCall(module.out.getOrInsertFunction(name, llvm::FunctionType::get(result, types, false)), arguments);
}

Value* Emission::read_register(const Operand& operand) {
  const Register& reg = f.registers[operand.index];
  llvm::Type* type = value_type(reg.type);
  if (reg.vector > 1) {
    if (operand.component >= 7)
      return b.CreateLoad(type, b.CreateConstGEP2_32(llvm::ArrayType::get(type, reg.vector),
                                                     register_slot(operand.index), 0, operand.component - 7u));
    return b.CreateLoad(b.getIntNTy(reg.vector * bits_of(reg.type)), register_slot(operand.index));
  }
  known_.resize(f.registers.size());
  Known& known = known_[operand.index];
  if (known.block != block_number_) known = {b.CreateLoad(type, register_slot(operand.index)), block_number_};
  return known.value;
}

Value* Emission::symbol_address(std::string_view name, int64_t offset) {
  llvm::GlobalValue* target = module.symbol(name);
  if (!target) target = module.out.getNamedValue(llvm::StringRef(name));
  if (!target) {
    if (!failed())
      error_ = {ErrorCode::InvalidPtx, formatted("ptx: line {}, column {}: '{}' is not declared", in->location.line,
                                                 in->location.column, name)};
    return llvm::PoisonValue::get(b.getPtrTy());
  }
  return offset ? b.CreateConstGEP1_64(b.getInt8Ty(), target, static_cast<uint64_t>(offset))
                : static_cast<Value*>(target);
}

namespace {

/// A floating-point constant in the type that the instruction wants.
llvm::Constant* float_constant(llvm::Type* type, const Operand& operand) {
  const auto bits = static_cast<uint64_t>(operand.value);
  const bool single = operand.kind == Operand::Kind::Float32;
  if (!type->isFPOrFPVectorTy()) {  // bits for an untyped register
    const unsigned width = type->getPrimitiveSizeInBits();
    uint64_t number = bits;
    if (!single && width == 32) number = std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
    if (single && width == 64)
      number = std::bit_cast<uint64_t>(static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits))));
    return llvm::ConstantInt::get(type->getContext(), llvm::APInt(64, number).zextOrTrunc(width));
  }
  llvm::APFloat value = single ? llvm::APFloat(llvm::APFloat::IEEEsingle(), llvm::APInt(32, bits))
                               : llvm::APFloat(llvm::APFloat::IEEEdouble(), llvm::APInt(64, bits));
  bool loses = false;
  if (&value.getSemantics() != &type->getScalarType()->getFltSemantics())
    value.convert(type->getScalarType()->getFltSemantics(), llvm::APFloat::rmNearestTiesToEven, &loses);
  return llvm::ConstantFP::get(type, value);
}

}  // namespace

Value* Emission::read(const Operand& operand, Type type) {
  llvm::Type* to = value_type(type);
  switch (operand.kind) {
    case Operand::Kind::Register: {
      Value* value = convert(read_register(operand),
                             operand.component >= 1 && operand.component <= 6 ? b.getInt32Ty() : to, is_signed(type));
      if (operand.component >= 1 && operand.component <= 6) {  // .b0 to .b3, .h0, .h1: extended by the type's sign
        const bool byte = operand.component <= 4;
        const unsigned shift = byte ? 8 * (operand.component - 1u) : 16 * (operand.component - 5u);
        value = b.CreateTrunc(b.CreateLShr(value, shift), b.getIntNTy(byte ? 8 : 16));
        return is_signed(type) ? b.CreateSExtOrTrunc(value, to) : b.CreateZExtOrTrunc(value, to);
      }
      return operand.negated ? b.CreateNot(value) : value;
    }
    case Operand::Kind::Special:
      return convert(read_special(operand), to);
    case Operand::Kind::Immediate: {
      const unsigned width = to->getPrimitiveSizeInBits();
      const llvm::APInt bits = llvm::APInt(64, static_cast<uint64_t>(operand.value)).sextOrTrunc(width);
      llvm::Constant* number =
          llvm::ConstantInt::get(module.context(), type == Type::Pred ? llvm::APInt(1, operand.value != 0) : bits);
      if (operand.negated) number = llvm::ConstantExpr::getNot(number);
      return to->isIntegerTy() ? number : llvm::ConstantExpr::getBitCast(number, to);
    }
    case Operand::Kind::Float32:
    case Operand::Kind::Float64:
      return float_constant(to, operand);
    case Operand::Kind::Variable: {
      Value* address = variable_address(operand.index);
      if (operand.value) address = b.CreateConstGEP1_64(b.getInt8Ty(), address, static_cast<uint64_t>(operand.value));
      return convert(address, to);
    }
    case Operand::Kind::Symbol:
      return convert(symbol_address(module.m.names[operand.index], operand.value), to);
    case Operand::Kind::Sink:
      return llvm::PoisonValue::get(to);
    case Operand::Kind::Pair:
      return read(f.operands[operand.index], type);
    case Operand::Kind::Vector: {  // {a, b}: the parts from the low bits up
      const unsigned width = to->getPrimitiveSizeInBits(), each = operand.count ? width / operand.count : width;
      Value* whole = llvm::ConstantInt::get(b.getIntNTy(width), 0);
      for (unsigned i = 0; i < operand.count; ++i) {
        const Type part_type = each == 8 ? Type::B8 : each == 16 ? Type::B16 : each == 32 ? Type::B32 : Type::B64;
        Value* part = b.CreateZExtOrTrunc(read(f.operands[operand.index + i], part_type), whole->getType());
        whole = b.CreateOr(whole, b.CreateShl(part, uint64_t{i} * each));
      }
      return convert(whole, to);
    }
    case Operand::Kind::Label:
    case Operand::Kind::Address:
      break;
  }
  refuse("an operand that has no value");
  return llvm::PoisonValue::get(to);
}

void Emission::write(const Operand& operand, Value* value, Type type) {
  switch (operand.kind) {
    case Operand::Kind::Sink:
      return;
    case Operand::Kind::Pair:
      return write(f.operands[operand.index], value, type);
    case Operand::Kind::Vector: {
      const unsigned width = value->getType()->getPrimitiveSizeInBits(),
                     each = operand.count ? width / operand.count : width;
      Value* whole = convert(value, b.getIntNTy(width));
      for (unsigned i = 0; i < operand.count; ++i) {
        const Type part = each == 8 ? Type::B8 : each == 16 ? Type::B16 : each == 32 ? Type::B32 : Type::B64;
        write(f.operands[operand.index + i], b.CreateTrunc(b.CreateLShr(whole, uint64_t{i} * each), b.getIntNTy(each)),
              part);
      }
      return;
    }
    case Operand::Kind::Register: {
      const Register& reg = f.registers[operand.index];
      llvm::Type* to = value_type(reg.type);
      Value* address = register_slot(operand.index);
      if (reg.vector > 1) {
        if (operand.component >= 7)
          address = b.CreateConstGEP2_32(llvm::ArrayType::get(to, reg.vector), address, 0, operand.component - 7u);
        else
          to = b.getIntNTy(reg.vector * bits_of(reg.type));
        b.CreateStore(convert(value, to, is_signed(type)), address);
        return;
      }
      if (operand.component >= 1 && operand.component <= 6) {  // the rest of the register stays
        const bool byte = operand.component <= 4;
        const unsigned shift = byte ? 8 * (operand.component - 1u) : 16 * (operand.component - 5u);
        const uint32_t mask = (byte ? 0xffu : 0xffffu) << shift;
        Operand whole = operand;
        whole.component = 0;
        Value* rest = b.CreateAnd(convert(read_register(whole), b.getInt32Ty()), ~mask);
        Value* part = b.CreateAnd(b.CreateShl(convert(value, b.getInt32Ty(), is_signed(type)), shift), mask);
        value = b.CreateOr(rest, part);
      }
      value = convert(value, to, is_signed(type));
      b.CreateStore(value, address);
      known_.resize(f.registers.size());
      known_[operand.index] = {value, block_number_};
      return;
    }
    case Operand::Kind::Special:
    case Operand::Kind::Immediate:
    case Operand::Kind::Float32:
    case Operand::Kind::Float64:
    case Operand::Kind::Variable:
    case Operand::Kind::Symbol:
    case Operand::Kind::Label:
    case Operand::Kind::Address:
      break;
  }
  refuse("the first operand cannot be written");
}

std::span<const Operand> Emission::elements(size_t i) const {
  const Operand& whole = operand(i);
  return whole.kind == Operand::Kind::Vector ? parts(whole) : std::span<const Operand>(&whole, 1);
}

Operand Emission::element(size_t i, unsigned k) const {
  const Operand& whole = operand(i);
  if (whole.kind == Operand::Kind::Vector) return parts(whole)[k];
  Operand part = whole;
  if (part.kind == Operand::Kind::Register && f.registers[part.index].vector > 1)
    part.component = static_cast<uint8_t>(7 + k);
  return part;
}

Value* Emission::address(const Operand& base, Space space) {
  const unsigned number = address_space(space);
  llvm::Type* pointer = b.getPtrTy(number);
  const auto with_offset = [&](Value* at, int64_t by) {
    return by ? b.CreateConstGEP1_64(b.getInt8Ty(), at, static_cast<uint64_t>(by)) : at;
  };
  const auto in_space = [&](Value* at) { return at->getType() == pointer ? at : b.CreateAddrSpaceCast(at, pointer); };
  switch (base.kind) {
    case Operand::Kind::Register: {
      Operand plain = base;
      plain.value = 0;
      const bool narrow = bits_of(f.registers[base.index].type) == 32;
      Value* number_value = read(plain, narrow ? Type::B32 : Type::B64);
      if (narrow) {  // wraps as the register does
        if (base.value) number_value = b.CreateAdd(number_value, i32(static_cast<uint32_t>(base.value)));
        return b.CreateIntToPtr(b.CreateZExt(number_value, b.getInt64Ty()), pointer);
      }
      return with_offset(b.CreateIntToPtr(number_value, pointer), base.value);
    }
    case Operand::Kind::Variable:
      return in_space(with_offset(variable_address(base.index), base.value));
    case Operand::Kind::Symbol:
      return in_space(symbol_address(module.m.names[base.index], base.value));
    case Operand::Kind::Immediate:
      return b.CreateIntToPtr(b.getInt64(static_cast<uint64_t>(base.value)), pointer);
    case Operand::Kind::Special:
    case Operand::Kind::Float32:
    case Operand::Kind::Float64:
    case Operand::Kind::Label:
    case Operand::Kind::Address:
    case Operand::Kind::Vector:
    case Operand::Kind::Pair:
    case Operand::Kind::Sink:
      break;
  }
  refuse("that is not an address");
  return llvm::PoisonValue::get(pointer);
}

const TargetList* Emission::target_list(const Operand& operand) const {
  if (operand.kind != Operand::Kind::Symbol) return nullptr;
  for (const TargetList& list : f.target_lists)
    if (list.label == module.m.names[operand.index]) return &list;
  return nullptr;
}

const Prototype* Emission::prototype(std::string_view label) const {
  for (const Prototype& each : f.prototypes)
    if (each.label == label) return &each;
  return nullptr;
}

}  // namespace cupola::ptx
