#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SetVector.h>

namespace llvm {
class CallBase;
class Function;
class Module;
}  // namespace llvm

namespace cupola::kir {

/// Of functions whose address a program may hold though nothing in their module says so.
inline constexpr char kAddressTakenMark[] = "cupola-address-taken";

/// Who may call whom: direct calls, and, for a function with an indirect call, every function whose address is taken.
/// A snapshot: made while calls still name functions and initialisers still hold their addresses.
class CallReach {
 public:
  using Functions = llvm::SetVector<llvm::Function*>;

  explicit CallReach(llvm::Module& module);

  /// Defined functions whose address a program may hold, in module order.
  const Functions& address_taken() const { return address_taken_; }

  /// Functions that `function` calls itself; none of one that was made since.
  const Functions& callees(llvm::Function* function) const;

  /// `function` and all that it may reach.
  Functions from(llvm::Function* function) const;

 private:
  Functions address_taken_;
  llvm::DenseMap<llvm::Function*, Functions> callees_;
};

/// True for a call whose target is not known here.
bool is_indirect(const llvm::CallBase& call);

}  // namespace cupola::kir
