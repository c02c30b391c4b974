#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "kir/expansion.h"
#include "kir/passes.h"

namespace cupola::kir {
namespace {

/// The library's name for a directed form: llvm.nvvm.add.rz.f is __nv_fadd_rz. Empty where the library has none.
std::string library_name(llvm::ArrayRef<llvm::StringRef> words) {
  const auto rounding = llvm::StringSwitch<llvm::StringRef>(words.size() > 1 ? words[1] : "")
                            .Case("rz", "rz")
                            .Case("rm", "rd")
                            .Case("rp", "ru")
                            .Default("");
  if (rounding.empty() || llvm::is_contained(words, "sat") || words.back() == "bf16x2") return {};
  const auto conversion = llvm::StringSwitch<llvm::StringRef>(words[0])
                              .Case("d2f", "double2float")
                              .Case("i2f", "int2float")
                              .Case("ui2f", "uint2float")
                              .Case("ll2f", "ll2float")
                              .Case("ull2f", "ull2float")
                              .Case("ll2d", "ll2double")
                              .Case("ull2d", "ull2double")
                              .Default("");
  if (!conversion.empty()) return ("__nv_" + conversion + "_" + rounding).str();
  const bool single = words.back() == "f";
  if (!single && words.back() != "d") return {};
  if (words[0] == "fma") return ("__nv_fma" + llvm::Twine(single ? "f_" : "_") + rounding).str();
  if (!llvm::is_contained({"add", "mul", "div", "rcp", "sqrt"}, words[0])) return {};
  return ("__nv_" + llvm::Twine(single ? "f" : "d") + words[0] + "_" + rounding).str();
}

void call_library(llvm::CallInst& call, const std::string& name, bool flushes) {
  llvm::IRBuilder<> b(&call);
  llvm::SmallVector<llvm::Value*, 3> arguments;
  for (llvm::Value* argument : call.args()) arguments.push_back(flushes ? flush(b, argument) : argument);
  const llvm::FunctionCallee callee =
      call.getModule()->getOrInsertFunction(name, call.getCalledFunction()->getFunctionType());
  llvm::Value* result = b.CreateCall(callee, arguments);
  call.replaceAllUsesWith(flushes ? flush(b, result) : result);
  call.eraseFromParent();
}

}  // namespace

void call_rounding(llvm::Module& module) {
  llvm::SmallVector<llvm::CallInst*, 8> calls;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) calls.push_back(call);
  for (llvm::CallInst* call : calls) {
    llvm::StringRef name = call->getCalledFunction()->getName();
    if (!name.consume_front("llvm.nvvm.")) continue;
    llvm::SmallVector<llvm::StringRef, 8> words;
    name.split(words, '.');
    if (const std::string library = library_name(words); !library.empty())
      call_library(*call, library, llvm::is_contained(words, "ftz"));
  }
}

}  // namespace cupola::kir
