#pragma once

#include <llvm/IR/Module.h>

#include <memory>

#include "base/result.h"
#include "ptx/syntax/ast.h"

namespace cupola::ptx {

/// A verified module as kir: ptx_kernel functions, llvm.nvvm.* intrinsics, plain instructions with CUDA's meaning,
/// before kir::prepare. Kernels keep their names and the sizes and offsets of their parameters. Error: NotSupported or
/// InvalidPtx, naming instruction and line; symbols that are defined nowhere are left as declarations for the linker.
Result<std::unique_ptr<llvm::Module>> lower(const Module& module, llvm::LLVMContext& context);

/// Replaces the inline PTX of a kir module by what it means. Error: NotSupported or InvalidPtx, with the text, the
/// function and the source line where the module knows it.
Result<> expand_inline_ptx(llvm::Module& module);

}  // namespace cupola::ptx
