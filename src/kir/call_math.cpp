// The elementary functions are the device library's (src/device/elementary.h), whose code runs a warp in step; what
// LLVM's intrinsics become otherwise is the C library, thread by thread. PTX's approximations (ex2.approx) are the same
// functions: exact enough, and short.

#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "kir/expansion.h"
#include "kir/math_calls.h"
#include "kir/passes.h"

namespace cupola::kir {

const char* c_name(llvm::Intrinsic::ID id) {
  switch (id) {
#define NAMED(name)           \
  case llvm::Intrinsic::name: \
    return #name;
    NAMED(sin)
    NAMED(cos)
    NAMED(tan)
    NAMED(asin)
    NAMED(acos)
    NAMED(atan)
    NAMED(atan2)
    NAMED(sinh)
    NAMED(cosh)
    NAMED(tanh)
    NAMED(exp)
    NAMED(exp2)
    NAMED(exp10)
    NAMED(log)
    NAMED(log2)
    NAMED(log10)
    NAMED(pow)
#undef NAMED
    default:
      return nullptr;
  }
}

llvm::Value* call_elements(llvm::IRBuilder<>& b, llvm::Module& module, const std::string& name, llvm::Type* type,
                           llvm::ArrayRef<llvm::Value*> arguments) {
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) {
    llvm::Value* whole = llvm::PoisonValue::get(type);
    for (unsigned i = 0; i < vector->getNumElements(); ++i) {
      llvm::SmallVector<llvm::Value*, 2> parts;
      for (llvm::Value* argument : arguments) parts.push_back(b.CreateExtractElement(argument, i));
      whole = b.CreateInsertElement(whole, call_elements(b, module, name, vector->getElementType(), parts), i);
    }
    return whole;
  }
  llvm::Type* computed = type->isDoubleTy() ? type : b.getFloatTy();
  llvm::SmallVector<llvm::Value*, 2> values;
  for (llvm::Value* argument : arguments) values.push_back(b.CreateFPCast(argument, computed));
  const llvm::SmallVector<llvm::Type*, 2> types(values.size(), computed);
  const llvm::FunctionCallee callee = module.getOrInsertFunction(type->isDoubleTy() ? name : name + "f",
                                                                 llvm::FunctionType::get(computed, types, false));
  return b.CreateFPCast(b.CreateCall(callee, values), type);
}

namespace {

/// The C name of what a call computes, and whether it flushes denormals. Null: no elementary function.
struct Elementary {
  const char* name = nullptr;
  bool flushes = false;
};

Elementary elementary(const llvm::IntrinsicInst& call) {
  if (const char* name = c_name(call.getIntrinsicID())) return {name};
  llvm::StringRef name = call.getCalledFunction()->getName();
  if (!name.consume_front("llvm.nvvm.")) return {};
  llvm::SmallVector<llvm::StringRef, 4> words;
  name.split(words, '.');
  if (words.size() < 2 || words[1] != "approx") return {};
  const auto* c = llvm::StringSwitch<const char*>(words[0])
                      .Case("ex2", "exp2")
                      .Case("lg2", "log2")
                      .Case("sin", "sin")
                      .Case("cos", "cos")
                      .Case("tanh", "tanh")
                      .Default(nullptr);
  return {c, llvm::is_contained(words, "ftz")};
}

}  // namespace

void call_math(llvm::Module& module) {
  llvm::SmallVector<llvm::IntrinsicInst*, 16> calls;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction); call && call->getType()->isFPOrFPVectorTy())
        calls.push_back(call);
  for (llvm::IntrinsicInst* call : calls) {
    const Elementary known = elementary(*call);
    if (!known.name) continue;
    llvm::IRBuilder<> b(call);
    llvm::SmallVector<llvm::Value*, 2> arguments;
    for (llvm::Value* argument : call->args()) arguments.push_back(known.flushes ? flush(b, argument) : argument);
    llvm::Value* result = call_elements(b, module, std::string("__nv_") + known.name, call->getType(), arguments);
    call->replaceAllUsesWith(known.flushes ? flush(b, result) : result);
    call->eraseFromParent();
  }
}

}  // namespace cupola::kir
