#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <optional>

namespace cupola::metal::build {

/// The rows of metal_intrinsics.def.
enum class MetalIntrinsic {
#define METAL_INTRINSIC(enumerator, name, result, parameters, meaning) enumerator,
#include "backend/metal/build/raise/metal_intrinsics.def"
#undef METAL_INTRINSIC
};

/// By the function that a direct call names; nothing for any other instruction.
std::optional<MetalIntrinsic> metal_intrinsic_of(const llvm::Instruction& instruction);

/// It depends on its operands and the launch alone.
bool is_pure(MetalIntrinsic intrinsic);

/// A call of it.
llvm::CallInst* call(llvm::IRBuilderBase& builder, MetalIntrinsic intrinsic,
                     llvm::ArrayRef<llvm::Value*> arguments = {});

}  // namespace cupola::metal::build
