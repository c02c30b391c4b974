#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

#include <string>

namespace cupola::kir {

/// The C function of f64 that computes one of LLVM's intrinsics for elementary functions, or null for other intrinsics.
const char* c_name(llvm::Intrinsic::ID id);

/// Calls `name` or, for f32, `name` + "f", element by element; f16 and bf16 are computed in f32.
llvm::Value* call_elements(llvm::IRBuilder<>& b, llvm::Module& module, const std::string& name, llvm::Type* type,
                           llvm::ArrayRef<llvm::Value*> arguments);

}  // namespace cupola::kir
