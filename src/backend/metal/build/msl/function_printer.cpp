#include "backend/metal/build/msl/function_printer.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/Path.h>

#include "backend/metal/build/raise/metal_intrinsics.h"
#include "base/format.h"
#include "kir/intrinsics.h"
#include "kir/refusal.h"

namespace cupola::metal::build {
namespace {

constexpr unsigned kFoldedDepth = 6;  ///< of expressions in expressions

/// A value that the launch knows, which costs nothing to write again.
bool is_fact(const llvm::Value& value) {
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(&value);
  if (!instruction) return false;
  if (const auto known = metal_intrinsic_of(*instruction)) return is_pure(*known);
  return kir::effect_of(*instruction) == kir::Effect::kPure && llvm::cast<llvm::CallInst>(instruction)->arg_empty();
}

bool is_pure(const llvm::Instruction& instruction) {
  if (llvm::isa<llvm::UnaryOperator, llvm::BinaryOperator, llvm::CastInst, llvm::CmpInst, llvm::SelectInst,
                llvm::GetElementPtrInst, llvm::ExtractValueInst, llvm::FreezeInst>(instruction))
    return true;
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  return callee && callee->isIntrinsic() && callee->doesNotAccessMemory();
}

unsigned depth_of(const llvm::Value& value, unsigned limit) {
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(&value);
  if (!instruction || limit == 0 || !is_pure(*instruction)) return 0;
  unsigned deepest = 0;
  for (const llvm::Value* operand : instruction->operand_values())
    if (operand->hasOneUse()) deepest = std::max(deepest, depth_of(*operand, limit - 1));
  return deepest + 1;
}

/// Control never comes to what stands behind the statements.
bool ends_in_jump(const std::vector<Statement>& statements) {
  using Kind = Statement::Kind;
  if (statements.empty()) return false;
  const Statement& last = statements.back();
  switch (last.kind) {
    case Kind::Break:
    case Kind::Continue:
    case Kind::Return:
    case Kind::Unreachable:
      return true;
    case Kind::If:
      return ends_in_jump(last.body) && ends_in_jump(last.otherwise);
    default:
      return false;
  }
}

/// "a < b" for "(a < b)"; other text as it is.
std::string without_parentheses(const std::string& text) {
  if (!text.starts_with('(') || !text.ends_with(')')) return text;
  int open = 0;
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    open += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (open == 0) return text;
  }
  return text.substr(1, text.size() - 2);
}

}  // namespace

// -- names and values --

std::string FunctionPrinter::name(const llvm::Value& value) {
  std::string& known = names_[&value];
  if (known.empty())
    known = llvm::isa<llvm::Argument>(value) ? formatted("a{}", llvm::cast<llvm::Argument>(value).getArgNo())
                                             : formatted("v{}", values_++);
  return known;
}

bool FunctionPrinter::folds(const llvm::Value& value) const {
  if (is_fact(value)) return true;
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(&value);
  if (!instruction || !instruction->hasOneUse() || !is_pure(*instruction)) return false;
  const auto* user = llvm::cast<llvm::Instruction>(*instruction->user_begin());
  if (user->getParent() != instruction->getParent() || llvm::isa<llvm::PHINode>(user)) return false;
  return depth_of(value, kFoldedDepth + 1) <= kFoldedDepth;
}

Result<std::string> FunctionPrinter::operand(const llvm::Value& value) {
  if (const auto* constant = llvm::dyn_cast<llvm::Constant>(&value)) return module_.types.constant(*constant);
  if (folds(value)) return expression(llvm::cast<llvm::Instruction>(value));
  return name(value);
}

// -- statements --

void FunctionPrinter::line(std::string_view text) {
  text_.append(2 * depth_, ' ');
  text_ += text;
  text_ += '\n';
}

void FunctionPrinter::source_line(const llvm::Instruction& instruction) {
  const llvm::DILocation* location = instruction.getDebugLoc().get();
  if (!location || location->getLine() == 0 || location->getLine() == last_line_) return;
  last_line_ = location->getLine();
  line(formatted("// {}:{}", llvm::sys::path::filename(location->getFilename()).str(), last_line_));
}

Result<std::string> FunctionPrinter::typed(llvm::Type* type, const llvm::Instruction& at) {
  Result<std::string> word = module_.types.name(type);
  if (!word) return refuse(at, word.error().message);
  return word;
}

std::unexpected<Error> FunctionPrinter::refuse(const llvm::Instruction& instruction, std::string_view what) const {
  return fail(ErrorCode::NotSupported, "metal: {}: {}", kir::place_of(instruction), what);
}

Result<std::string> FunctionPrinter::signature() {
  TRY(std::string text, module_.types.name(function_.getReturnType()));
  text += formatted(" {}(thread const Thread& t", module_.names.lookup(&function_));
  for (const llvm::Argument& argument : function_.args()) {
    TRY(const std::string type, module_.types.name(argument.getType()));
    text += formatted(", {} a{}", type, argument.getArgNo());
  }
  return text + ")";
}

Result<std::string> FunctionPrinter::body() {
  bool leaves = false;
  TRY(const std::vector<Statement> statements, structure(function_, leaves));
  if (leaves) line("uint leave = 0;");
  TRY(declare_variables());
  TRY(print(statements));
  return std::move(text_);
}

/// Phis and local memory live for the whole function.
Result<> FunctionPrinter::declare_variables() {
  for (llvm::Instruction& instruction : llvm::instructions(function_)) {
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) {
      if (phi->use_empty()) continue;
      TRY(const std::string type, typed(phi->getType(), instruction));
      line(formatted("{} {};", type, name(*phi)));
    } else if (auto* local = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) {
      const auto bytes = local->getAllocationSize(function_.getDataLayout());
      if (!bytes || bytes->isScalable())
        return refuse(instruction, "local arrays of a size that varies are not supported");
      const uint64_t words = (std::max<uint64_t>(bytes->getFixedValue(), 1) + 15) / 16;
      line(formatted("uint4 {}_words[{}];", name(*local), words));
      line(formatted("thread uchar* const {} = (thread uchar*){}_words;", name(*local), name(*local)));
    }
  }
  return {};
}

Result<> FunctionPrinter::print(const std::vector<Statement>& statements) {
  for (const Statement& statement : statements) TRY(print(statement));
  return {};
}

Result<> FunctionPrinter::print(const Statement& statement) {
  using Kind = Statement::Kind;
  const auto nested = [&](const std::vector<Statement>& body) -> Result<> {
    ++depth_;
    TRY(print(body));
    --depth_;
    return {};
  };
  switch (statement.kind) {
    case Kind::Code:
      return print_block(*statement.block);
    case Kind::Copy:
      return print_copies(*statement.block, *statement.to);
    case Kind::If: {
      source_line(*statement.block->getTerminator());
      TRY(std::string condition, operand(*statement.condition));
      // The way that leaves comes first, so that the other one is not nested.
      const bool inverted =
          statement.body.empty() || (!ends_in_jump(statement.body) && ends_in_jump(statement.otherwise));
      const std::vector<Statement>& first = inverted ? statement.otherwise : statement.body;
      const std::vector<Statement>& second = inverted ? statement.body : statement.otherwise;
      line(inverted ? formatted("if (!{}) {{", condition) : formatted("if ({}) {{", without_parentheses(condition)));
      TRY(nested(first));
      if (second.empty() || ends_in_jump(first)) {
        line("}");
        return print(second);
      }
      line("} else {");
      TRY(nested(second));
      line("}");
      return {};
    }
    case Kind::Loop:
      line("for (;;) {");
      TRY(nested(statement.body));
      line("}");
      return {};
    case Kind::Scope:
      line("do {");
      TRY(nested(statement.body));
      line("} while (false);");
      return {};
    case Kind::Break:
      line("break;");
      return {};
    case Kind::Continue:
      line("continue;");
      return {};
    case Kind::Leave:
      line(formatted("leave = {};", statement.number));
      return {};
    case Kind::Arrive:
      line(formatted("if (leave == {}) {{", statement.number));
      if (statement.last) line("  leave = 0;");
      TRY(nested(statement.body));
      line("}");
      return {};
    case Kind::Return: {
      const auto* end = llvm::cast<llvm::ReturnInst>(statement.block->getTerminator());
      if (!end->getReturnValue()) {
        line("return;");
        return {};
      }
      TRY(const std::string value, operand(*end->getReturnValue()));
      line(formatted("return {};", value));
      return {};
    }
    case Kind::Unreachable: {
      TRY(const std::string type, module_.types.name(function_.getReturnType()));
      line(type == "void" ? "return;" : "return {};");
      return {};
    }
  }
  return {};
}

Result<> FunctionPrinter::print_block(llvm::BasicBlock& block) {
  for (llvm::Instruction& instruction : block) {
    if (llvm::isa<llvm::PHINode, llvm::AllocaInst>(instruction) || instruction.isTerminator()) continue;
    TRY(print_instruction(instruction));
  }
  return {};
}

/// All phis take their values at once: where one's value is read after it was set, it is read before.
Result<> FunctionPrinter::print_copies(llvm::BasicBlock& from, llvm::BasicBlock& to) {
  struct Copy {
    llvm::PHINode* phi;
    llvm::Value* value;
  };
  llvm::SmallVector<Copy, 8> copies;
  for (llvm::PHINode& phi : to.phis()) {
    llvm::Value* value = phi.getIncomingValueForBlock(&from);
    if (!phi.use_empty() && value != &phi && !llvm::isa<llvm::UndefValue>(value)) copies.push_back({&phi, value});
  }
  llvm::SmallPtrSet<const llvm::Value*, 8> set, read_late;
  for (const Copy& copy : copies) {
    if (set.contains(copy.value)) read_late.insert(copy.value);
    set.insert(copy.phi);
  }
  llvm::DenseMap<const llvm::Value*, std::string> before;
  for (const llvm::Value* phi : read_late) {
    TRY(const std::string type, module_.types.name(phi->getType()));
    before[phi] = formatted("v{}", values_++);
    line(formatted("{} const {} = {};", type, before[phi], name(*phi)));
  }
  for (const Copy& copy : copies) {
    TRY(const std::string value,
        read_late.contains(copy.value) ? Result<std::string>(before[copy.value]) : operand(*copy.value));
    line(formatted("{} = {};", name(*copy.phi), without_parentheses(value)));
  }
  return {};
}

Result<> FunctionPrinter::print_instruction(llvm::Instruction& instruction) {
  if (folds(instruction)) return {};
  if (is_pure(instruction) && instruction.use_empty()) return {};
  source_line(instruction);
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    TRY(const std::string value, operand(*store->getValueOperand()));
    if (store->isAtomic()) {
      TRY(const std::string text, atomic_store(*store, value));
      line(text + ";");
      return {};
    }
    TRY(const std::string where,
        place(*store->getPointerOperand(), store->getValueOperand()->getType(), store->isVolatile(), instruction));
    line(formatted("{} = {};", where, without_parentheses(value)));
    return {};
  }
  if (auto* insert = llvm::dyn_cast<llvm::InsertValueInst>(&instruction)) {
    if (insert->getNumIndices() != 1) return refuse(instruction, "structs in structs are not supported");
    TRY(const std::string type, typed(instruction.getType(), instruction));
    TRY(const std::string whole, operand(*insert->getAggregateOperand()));
    TRY(const std::string part, operand(*insert->getInsertedValueOperand()));
    line(formatted("{} {} = {};", type, name(instruction), whole));
    line(formatted("{}.f{} = {};", name(instruction), insert->getIndices()[0], part));
    return {};
  }
  TRY(const std::string value, expression(instruction));
  if (instruction.getType()->isVoidTy() || instruction.use_empty()) {
    if (!value.empty()) line(value + ";");
    return {};
  }
  TRY(const std::string type, typed(instruction.getType(), instruction));
  line(formatted("{} const {} = {};", type, name(instruction), without_parentheses(value)));
  return {};
}

}  // namespace cupola::metal::build
