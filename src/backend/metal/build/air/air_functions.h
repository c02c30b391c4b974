#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <string_view>

#include "base/result.h"

namespace cupola::metal::build {

/// The module's declaration of a row of air_functions.def, made if it is not there. The name must be a row's.
llvm::Function* air_function(llvm::Module& module, std::string_view name);

/// A call of it.
llvm::CallInst* call_air(llvm::IRBuilderBase& builder, std::string_view name, llvm::ArrayRef<llvm::Value*> arguments);

/// Whatever the module declares and does not define must be a row, with the row's type; declarations get the attributes
/// that the row's effect asks for, and lose all others; calls are written as the bitcode's writer needs them. Error:
/// NotSupported, naming function and place of a call.
Result<> settle_declarations(llvm::Module& module);

}  // namespace cupola::metal::build
