#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

namespace cupola::cpu::build {

/// Copies values of a kernel that take nothing but its arguments, the launch's sizes and places, into a function that
/// takes the same arguments. What overflows in the kernel wraps in the copy, where it may be computed for nothing; an
/// `or` of bits that are apart is the sum also for threads whose bits are not, which the kernel does not ask.
class ValueCopy {
 public:
  /// To where `builder` stands, whose function takes what `from` takes.
  ValueCopy(const llvm::Function& from, llvm::IRBuilder<>& builder);

  /// From here on `value` is `known`.
  void replace(const llvm::Value& value, llvm::Value& known) { map_[&value] = &known; }

  llvm::Value* operator()(llvm::Value* value);

 private:
  llvm::IRBuilder<>& builder_;
  llvm::ValueToValueMapTy map_;
};

}  // namespace cupola::cpu::build
