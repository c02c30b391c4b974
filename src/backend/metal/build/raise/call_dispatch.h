#pragma once

#include <llvm/ADT/DenseSet.h>

#include "kir/module_data.h"

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace cupola::metal::build {

/// Calls through pointers become direct calls, since Metal has no pointers to functions that kernels could keep in
/// memory. A pointer to a function is the host's address of its descriptor (`data`, of a module that is laid out); a
/// call asks which of the functions that can be called with its types that is, and ends the thread with metal.fail
/// where it is none. Returns the functions that held such calls.
llvm::DenseSet<const llvm::Function*> dispatch_calls(llvm::Module& module, const kir::ModuleData& data);

}  // namespace cupola::metal::build
