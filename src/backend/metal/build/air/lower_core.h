#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include "base/result.h"

namespace cupola::metal::build {

/// LLVM's intrinsics and conversions as AIR's functions, the library's (device/metal/air_meanings.c) and plain code.
class LowerCore {
 public:
  explicit LowerCore(llvm::Value& thread) : thread_(thread) {}

  /// The library's function for a name, or null.
  static llvm::Function* meaning(llvm::Module& module, llvm::StringRef name);
  llvm::CallInst* call_meaning(llvm::IRBuilderBase& b, llvm::Function& meaning,
                               llvm::ArrayRef<llvm::Value*> arguments) const;

  /// Null for one that has no form, or no meaning.
  Result<llvm::Value*> call(llvm::IRBuilder<>& b, llvm::CallInst& call) const;
  /// Of frem and conversions between integers and floats.
  Result<llvm::Value*> arithmetic(llvm::IRBuilder<>& b, llvm::Instruction& instruction) const;

 private:
  llvm::Value* of_floats(llvm::IRBuilder<>& b, llvm::CallInst& call) const;
  llvm::Value* of_bits(llvm::IRBuilder<>& b, llvm::CallInst& call) const;
  static llvm::Value* of_integers(llvm::IRBuilder<>& b, llvm::CallInst& call);

  llvm::Value& thread_;
};

}  // namespace cupola::metal::build
