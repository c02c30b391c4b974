#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "kir/passes.h"
#include "kir/ptx_instructions.h"
#include "kir/refusal.h"

namespace cupola::kir {
namespace {

using llvm::Value;

struct Operands {
  std::vector<llvm::Type*> outputs;
};

std::string operand_name(unsigned i) {
  return "$" + std::to_string(i);
}

/// Binds inputs to $N. Tied inputs ("+r") also give the output its first value. Nothing for constraints other than
/// registers and constants.
std::optional<Operands> bind(llvm::CallInst& call, const llvm::InlineAsm& text, PtxRegisters& registers) {
  Operands operands;
  unsigned number = 0, input = 0;
  for (const llvm::InlineAsm::ConstraintInfo& constraint : text.ParseConstraints()) {
    if (constraint.Type == llvm::InlineAsm::isClobber) continue;
    if (constraint.isIndirect || constraint.Type == llvm::InlineAsm::isLabel) return {};
    if (constraint.Type == llvm::InlineAsm::isOutput) {
      llvm::Type* type = call.getType();
      if (auto* several = llvm::dyn_cast<llvm::StructType>(type))
        type = several->getElementType(operands.outputs.size());
      operands.outputs.push_back(type);
    } else {
      Value* value = call.getArgOperand(input++);
      registers.write(operand_name(number), value);
      const std::string& code = constraint.Codes.empty() ? std::string() : constraint.Codes[0];
      if (!code.empty() && isdigit(code[0])) registers.write("$" + code, value);
    }
    ++number;
  }
  return operands;
}

/// The outputs as the call returns them.
Value* collect(llvm::CallInst& call, const Operands& operands, PtxRegisters& registers) {
  if (operands.outputs.empty()) return llvm::PoisonValue::get(call.getType());
  Value* result = llvm::PoisonValue::get(call.getType());
  for (unsigned i = 0; i < operands.outputs.size(); ++i) {
    llvm::Type* type = operands.outputs[i];
    Value* value =
        registers.find(operand_name(i)) ? registers.read(operand_name(i), type) : llvm::UndefValue::get(type);
    if (!value) return nullptr;
    if (!call.getType()->isStructTy()) return value;
    result = registers.b.CreateInsertValue(result, value, i);
  }
  return result;
}

/// An instruction under "@p": computed always, kept where p holds.
bool emit_guarded(const PtxStatement& statement, PtxRegisters& registers) {
  if (!is_pure_ptx(statement) || statement.operands.empty()) return false;
  Value* guard = registers.read(statement.guard, registers.b.getInt1Ty());
  Value* before = registers.find(statement.operands[0]);
  if (!guard || !emit_ptx(statement, registers)) return false;
  Value* after = registers.find(statement.operands[0]);
  if (!before || !after) return after != nullptr;
  before = registers.read(statement.operands[0], after->getType()) ? before : nullptr;
  if (before && before->getType() != after->getType()) {
    registers.write(statement.operands[0], before);
    before = registers.read(statement.operands[0], after->getType());
  }
  return before && registers.write(statement.operands[0], registers.b.CreateSelect(guard, after, before));
}

/// The function's carry flag, made at the first use.
Value* carry_of(llvm::Function& function, Value*& carry) {
  if (carry) return carry;
  llvm::IRBuilder<> b(&*function.getEntryBlock().getFirstInsertionPt());
  carry = b.CreateAlloca(b.getInt1Ty(), nullptr, "carry");
  b.CreateStore(b.getFalse(), carry);
  return carry;
}

bool clobbers_memory(const llvm::InlineAsm& text) {
  return llvm::any_of(text.ParseConstraints(), [](const llvm::InlineAsm::ConstraintInfo& constraint) {
    return constraint.Type == llvm::InlineAsm::isClobber && llvm::is_contained(constraint.Codes, "{memory}");
  });
}

/// Orders the compiler's own view of memory and nothing else.
void fence_compiler(llvm::IRBuilder<>& b) {
  b.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent, llvm::SyncScope::SingleThread);
}

std::string one_line(llvm::StringRef text) {
  std::string line;
  for (const char c : text.trim()) line += c == '\n' || c == '\t' ? ' ' : c;
  return line;
}

Result<> expand(llvm::CallInst& call, Value*& carry) {
  const auto& text = *llvm::cast<llvm::InlineAsm>(call.getCalledOperand());
  const auto refuse = [&] {
    return fail(ErrorCode::NotSupported, "kir: {}: inline PTX '{}' is not supported yet", place_of(call),
                one_line(text.getAsmString()));
  };
  const auto statements = parse_inline_ptx(text.getAsmString());
  if (!statements) return refuse();
  Value* flag = carry_of(*call.getFunction(), carry);
  llvm::IRBuilder<> b(&call);
  PtxRegisters registers(b, flag, text.hasSideEffects());
  const auto operands = bind(call, text, registers);
  if (!operands) return refuse();
  const bool fences = clobbers_memory(text);
  if (fences) fence_compiler(b);
  for (const PtxStatement& statement : *statements)
    if (!(statement.guard.empty() ? emit_ptx(statement, registers) : emit_guarded(statement, registers)))
      return refuse();
  if (fences) fence_compiler(b);
  if (!call.getType()->isVoidTy()) {
    Value* result = collect(call, *operands, registers);
    if (!result) return refuse();
    call.replaceAllUsesWith(result);
  }
  call.eraseFromParent();
  return {};
}

}  // namespace

Result<> expand_inline_ptx(llvm::Module& module) {
  for (llvm::Function& function : module) {
    Value* carry = nullptr;
    llvm::SmallVector<llvm::CallInst*, 8> calls;
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && call->isInlineAsm()) calls.push_back(call);
    for (llvm::CallInst* call : calls) TRY(expand(*call, carry));
  }
  return {};
}

}  // namespace cupola::kir
