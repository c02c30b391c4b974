#include "ptx/lower/emission.h"

// The body of a function: parameters, statements, guards, control flow. Calls are in calls.cpp.

namespace cupola::ptx {
namespace {

using Lowering = void (*)(Emission&);

/// Row by row as isa.def.
constexpr Lowering kLowerings[] = {
#define PTX(opcode, version, target, pattern, operands, lowering) &emit::lowering,
#include "ptx/syntax/isa.def"
#undef PTX
};

}  // namespace

/// The source place of an instruction: .loc's, or none.
void Emission::locate(const Instruction& instruction) {
  if (instruction.source == located_ || !into.getSubprogram()) return;
  located_ = instruction.source;
  const Source& source = f.sources[located_];
  llvm::DISubprogram* scope = into.getSubprogram();
  // Line 0, of no place: LLVM's inliner wants every call in a function with lines to have one.
  if (source.line == 0) return b.SetCurrentDebugLocation(llvm::DILocation::get(module.context(), 0, 0, scope));
  llvm::DIScope* file = module.file(source.file);
  llvm::DILocalScope* where = scope;
  if (scope->getFile() != file)
    where = llvm::DILexicalBlockFile::get(module.context(), scope, llvm::cast<llvm::DIFile>(file), 0);
  b.SetCurrentDebugLocation(llvm::DILocation::get(module.context(), source.line, source.column, where));
}

void Emission::emit(const Instruction& instruction) {
  in = &instruction;
  locate(instruction);
  const Lowering lowering = kLowerings[instruction.form->row->index];
  // A branch takes its guard itself; everything else is stepped over where the guard does not hold.
  if (instruction.guard < 0 || lowering == &emit::branch) return lowering(*this);
  Operand guard;
  guard.kind = Operand::Kind::Register;
  guard.index = static_cast<uint32_t>(instruction.guard);
  guard.negated = instruction.guard_negated;
  Value* condition = read(guard, Type::Pred);
  auto* then = llvm::BasicBlock::Create(module.context(), "", &into);
  auto* join = llvm::BasicBlock::Create(module.context(), "", &into);
  b.CreateCondBr(condition, then, join);
  start_block(then);
  lowering(*this);
  start_block(join);
}

void Emission::emit_return() {
  if (is_inline) {
    refuse("inline PTX cannot leave the function");
    return;
  }
  if (f.is_kernel || f.results.empty()) {
    b.CreateRetVoid();
    return;
  }
  llvm::Type* type = into.getReturnType();
  Value* whole = llvm::PoisonValue::get(type);
  unsigned variable = 0, reg = 0;
  for (unsigned i = 0; i < f.results.size(); ++i) {
    llvm::Type* each = f.results.size() == 1 ? type : type->getStructElementType(i);
    const bool in_register = f.results[i].space == Space::Reg;
    Value* from = in_register ? register_slot(reg++) : variable_address(variable++);
    Value* value = b.CreateLoad(each, from);
    whole = f.results.size() == 1 ? value : b.CreateInsertValue(whole, value, i);
  }
  b.CreateRet(whole);
}

Result<> Emission::run() {
  if (f.sources.size() > 1)
    b.SetCurrentDebugLocation(llvm::DILocation::get(module.context(), 0, 0, module.subprogram(f, into)));
  // Results and parameters are the first variables and registers.
  uint32_t variable = 0, reg = 0;
  for (const Variable& result : f.results) result.space == Space::Reg ? ++reg : ++variable;
  for (unsigned i = 0; i < f.parameters.size(); ++i) {
    const Variable& parameter = f.parameters[i];
    llvm::Argument* argument = into.getArg(i);
    if (parameter.space == Space::Reg) {
      b.CreateStore(argument, register_slot(reg++));
    } else if (module.scalar_type(parameter)) {
      b.CreateStore(argument, variable_address(variable++));
    } else {
      bind_variable(variable++, argument);
    }
  }
  for (const Statement& statement : f.body) {
    if (statement.kind == Statement::Kind::Label) start_block(label(statement.index));
    if (statement.kind == Statement::Kind::Instruction) emit(f.instructions[statement.index]);
    if (failed()) return std::unexpected(error_);
  }
  if (!b.GetInsertBlock()->getTerminator()) {
    if (is_inline)
      b.CreateBr(exit_block);
    else
      emit_return();
  }
  if (failed()) return std::unexpected(error_);
  return {};
}

namespace emit {

void branch(Emission& e) {
  llvm::BasicBlock* to = e.label(e.operand(0).index);
  if (e.in->guard < 0) {
    e.b.CreateBr(to);
    return e.after_terminator();
  }
  Operand guard;
  guard.kind = Operand::Kind::Register;
  guard.index = static_cast<uint32_t>(e.in->guard);
  guard.negated = e.in->guard_negated;
  auto* next = llvm::BasicBlock::Create(e.module.context(), "", &e.into);
  e.b.CreateCondBr(e.read(guard, Type::Pred), to, next);
  e.start_block(next);
}

void branch_indexed(Emission& e) {
  const TargetList* list = e.target_list(e.operand(1));
  if (!list || list->targets.empty() || list->calls) return e.refuse("a .branchtargets list is expected");
  Value* index = e.read(0, Type::U32);
  // An index beyond the list is undefined; here the last target.
  llvm::SwitchInst* jump =
      e.b.CreateSwitch(index, e.label(list->targets.back()), static_cast<unsigned>(list->targets.size()));
  for (uint32_t i = 0; i + 1 < list->targets.size(); ++i) jump->addCase(e.b.getInt32(i), e.label(list->targets[i]));
  e.after_terminator();
}

void leave_function(Emission& e) {
  e.emit_return();
  e.after_terminator();
}

void leave_thread(Emission& e) {
  e.call(Id::nvvm_exit, {});
  e.b.CreateUnreachable();
  e.after_terminator();
}

void trap(Emission& e) {  // brkpt too: no debugger is attached
  e.call(Id::trap, {});
  e.b.CreateUnreachable();
  e.after_terminator();
}

void sleep(Emission& e) {
  e.call(Id::nvvm_nanosleep, {e.read(0)});
}

/// Hints that change no result.
void nothing(Emission&) {}

void unsupported(Emission& e) {
  const Row& row = *e.form().row;
  if (row.target > 89)
    return e.refuse(
        formatted("needs sm_{}; the device reports sm_89. Build the program for sm_89 or below as well", row.target));
  e.refuse("not supported; docs/ptx.md says why, by opcode");
}

}  // namespace emit
}  // namespace cupola::ptx
