#pragma once

#include <llvm/IR/IRBuilder.h>

#include "kir/dot_product.h"

namespace llvm {
class TargetMachine;
}

namespace cupola::cpu::build {

/// What kir::add_products gives of vectors of 32 numbers, with the instructions that the machine has for it. Where the
/// sides have the same sign, the right one is rather the one that is used again.
llvm::Value* add_products_of_lanes(llvm::IRBuilderBase& b, const kir::DotProduct& product, llvm::Value* left,
                                   llvm::Value* right, llvm::Value* sum, const llvm::TargetMachine& machine);

}  // namespace cupola::cpu::build
