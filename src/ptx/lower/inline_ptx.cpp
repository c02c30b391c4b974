#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "kir/refusal.h"
#include "ptx/lower/emission.h"
#include "ptx/lower/lower.h"
#include "ptx/syntax/parser.h"
#include "ptx/syntax/verify.h"

// Inline PTX: an asm statement is a function body whose first registers are its operands. "Inline PTX Assembly in
// CUDA", and LLVM's language reference, "Inline Assembler Expressions".

namespace cupola::ptx {
namespace {

/// An operand of the statement: a register of the fragment, or a constant that stands in the text.
struct Bound {
  int64_t constant = 0;
  bool is_constant = false;
  unsigned reg = 0;              ///< in the fragment
  llvm::Value* input = nullptr;  ///< its first value
  llvm::Type* output = nullptr;  ///< what the call returns for it
};

struct Statement {
  std::vector<Bound> operands;  ///< by their number in the text
  std::vector<Register> registers;
  std::deque<std::string> names;
  std::vector<unsigned> outputs;  ///< operand numbers, in the order of the call's results
};

std::optional<Type> register_type(llvm::Type* type) {
  if (type->isPointerTy()) return Type::B64;
  if (type->isFloatTy()) return Type::F32;
  if (type->isDoubleTy()) return Type::F64;
  switch (type->getPrimitiveSizeInBits()) {
    case 1:
      return Type::Pred;
    case 8:
    case 16:
      return Type::B16;
    case 32:
      return Type::B32;
    case 64:
      return Type::B64;
    case 128:
      return Type::B128;
    default:
      return std::nullopt;
  }
}

/// Gives the operand a register of the fragment.
bool add_register(Statement& statement, Bound& bound, llvm::Type* type) {
  const auto of = register_type(type);
  if (!of) return false;
  bound.reg = static_cast<unsigned>(statement.registers.size());
  statement.names.push_back("%_operand" + std::to_string(bound.reg));
  statement.registers.push_back({statement.names.back(), *of, 1});
  return true;
}

/// Nothing for constraints other than registers and constants.
std::optional<Statement> read_constraints(llvm::CallInst& call, const llvm::InlineAsm& text) {
  Statement statement;
  unsigned input = 0;
  for (const llvm::InlineAsm::ConstraintInfo& constraint : text.ParseConstraints()) {
    if (constraint.Type == llvm::InlineAsm::isClobber) continue;
    if (constraint.isIndirect || constraint.Type == llvm::InlineAsm::isLabel) return std::nullopt;
    Bound bound;
    const std::string code = constraint.Codes.empty() ? std::string() : constraint.Codes[0];
    if (constraint.Type == llvm::InlineAsm::isOutput) {
      llvm::Type* type = call.getType();
      if (auto* several = llvm::dyn_cast<llvm::StructType>(type))
        type = several->getElementType(statement.outputs.size());
      bound.output = type;
      if (!add_register(statement, bound, type)) return std::nullopt;
      statement.outputs.push_back(static_cast<unsigned>(statement.operands.size()));
    } else {
      bound.input = call.getArgOperand(input++);
      auto* constant = llvm::dyn_cast<llvm::ConstantInt>(bound.input);
      if (!code.empty() && llvm::isDigit(code[0])) {  // "+r": the same register as that output
        const unsigned tied = static_cast<unsigned>(std::stoul(code));
        if (tied >= statement.operands.size()) return std::nullopt;
        bound.reg = statement.operands[tied].reg;
        statement.operands[tied].input = bound.input;
        bound.input = nullptr;
      } else if (constant && (code == "n" || code == "i")) {
        bound.is_constant = true;
        bound.constant = constant->getSExtValue();
      } else if (!add_register(statement, bound, bound.input->getType())) {
        return std::nullopt;
      }
    }
    statement.operands.push_back(bound);
  }
  return statement;
}

/// The text with names for $N and ${N:...}; $$, $( $| $) are what follows the dollar or braces and bar.
std::optional<std::string> with_operands(llvm::StringRef text, const Statement& statement, unsigned unique) {
  std::string made;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '$' || at + 1 == text.size()) {
      made += text[at];
      continue;
    }
    const char next = text[++at];
    if (next == '$' || next == '(' || next == '|' || next == ')') {
      made += next == '(' ? '{' : next == ')' ? '}' : next;
      continue;
    }
    llvm::StringRef number = text.substr(at);
    if (next == '{') {
      const size_t end = text.find('}', at);
      if (end == llvm::StringRef::npos) return std::nullopt;
      number = text.slice(at + 1, end);
      at = end;
      if (number == ":uid") {
        made += std::to_string(unique);
        continue;
      }
      number = number.split(':').first;
    } else {
      number = number.take_while(llvm::isDigit);
      at += number.empty() ? 0 : number.size() - 1;
    }
    unsigned index = 0;
    if (number.getAsInteger(10, index)) {  // "$L__1": a name that begins with a dollar
      made += '$';
      --at;
      continue;
    }
    if (index >= statement.operands.size()) return std::nullopt;
    const Bound& bound = statement.operands[index];
    made += bound.is_constant ? std::to_string(bound.constant) : statement.names[bound.reg];
  }
  return made;
}

bool clobbers_memory(const llvm::InlineAsm& text) {
  return llvm::any_of(text.ParseConstraints(), [](const llvm::InlineAsm::ConstraintInfo& constraint) {
    return constraint.Type == llvm::InlineAsm::isClobber && llvm::is_contained(constraint.Codes, "{memory}");
  });
}

/// Orders the compiler's own view of memory and nothing else.
void fence_compiler(Builder& b) {
  b.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent, llvm::SyncScope::SingleThread);
}

std::string one_line(llvm::StringRef text) {
  std::string line;
  for (const char c : text.trim()) line += c == '\n' || c == '\t' ? ' ' : c;
  return line;
}

/// The outputs as the call returns them.
Value* collect(Emission& e, llvm::CallInst& call, const Statement& statement) {
  Value* result = llvm::PoisonValue::get(call.getType());
  for (unsigned i = 0; i < statement.outputs.size(); ++i) {
    const Bound& bound = statement.operands[statement.outputs[i]];
    llvm::Type* stored = e.value_type(e.f.registers[bound.reg].type);
    Value* value = e.convert(e.b.CreateLoad(stored, e.register_slot(bound.reg)), bound.output);
    if (!call.getType()->isStructTy()) return value;
    result = e.b.CreateInsertValue(result, value, i);
  }
  return result;
}

/// Puts the fragment in place of the call.
Result<> emit_in_place(llvm::CallInst& call, const llvm::InlineAsm& text, const Statement& statement,
                       const Module& fragment, Value*& carry) {
  llvm::Function& function = *call.getFunction();
  ModuleLowering lowering(fragment, *function.getParent());
  llvm::BasicBlock* before = call.getParent();
  llvm::BasicBlock* after = before->splitBasicBlock(call.getIterator());
  before->getTerminator()->eraseFromParent();
  Builder b(before);
  b.SetCurrentDebugLocation(call.getDebugLoc());
  Emission e(lowering, fragment.functions[0], function, b);
  e.is_inline = true;
  e.is_volatile = text.hasSideEffects();
  e.exit_block = after;
  e.bind_carry(carry);
  const bool fences = clobbers_memory(text);
  if (fences) fence_compiler(b);
  for (const Bound& bound : statement.operands)
    if (bound.input && !bound.is_constant)
      b.CreateStore(e.convert(bound.input, e.value_type(e.f.registers[bound.reg].type)), e.register_slot(bound.reg));
  if (const auto done = e.run(); !done) {
    if (!b.GetInsertBlock()->getTerminator()) b.CreateBr(after);
    return done;
  }
  carry = e.carry();
  b.SetInsertPoint(&call);
  b.SetCurrentDebugLocation(call.getDebugLoc());
  if (fences) fence_compiler(b);
  if (!call.getType()->isVoidTy()) call.replaceAllUsesWith(collect(e, call, statement));
  call.eraseFromParent();
  return {};
}

Result<> expand(llvm::CallInst& call, Value*& carry, unsigned unique) {
  const auto& text = *llvm::cast<llvm::InlineAsm>(call.getCalledOperand());
  const auto refuse = [&](ErrorCode code, const std::string& why) {
    return fail(code, "kir: {}: inline PTX '{}': {}", kir::place_of(call), one_line(text.getAsmString()), why);
  };
  const auto statement = read_constraints(call, text);
  if (!statement) return refuse(ErrorCode::NotSupported, "its operands are not registers or constants");
  const auto source = with_operands(text.getAsmString(), *statement, unique);
  if (!source) return refuse(ErrorCode::InvalidPtx, "it names an operand that is not there");
  auto fragment = parse_fragment(*source, statement->registers);
  if (!fragment) return refuse(fragment.error().code, fragment.error().message);
  if (const auto verified = verify(*fragment); !verified)
    return refuse(verified.error().code, verified.error().message);
  if (const auto done = emit_in_place(call, text, *statement, *fragment, carry); !done)
    return refuse(done.error().code, done.error().message);
  return {};
}

}  // namespace

Result<> expand_inline_ptx(llvm::Module& module) {
  unsigned unique = 0;
  for (llvm::Function& function : module) {
    Value* carry = nullptr;  // CC.CF lives from one statement to the next
    llvm::SmallVector<llvm::CallInst*, 8> calls;
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && call->isInlineAsm()) calls.push_back(call);
    for (llvm::CallInst* call : calls) TRY(expand(*call, carry, unique++));
  }
  return {};
}

}  // namespace cupola::ptx
