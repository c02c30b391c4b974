#pragma once

#include <llvm/IR/InstrTypes.h>

namespace cupola::air {

/// Functions of LLVM's that tell optimisers something and make no value: lifetimes, assumptions, debug information.
/// They changed since LLVM 14; AIR is written without them and their calls.
bool is_left_out(const llvm::Function& function);
bool is_left_out(const llvm::Instruction& instruction);

}  // namespace cupola::air
