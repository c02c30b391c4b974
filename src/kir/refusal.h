#pragma once

#include <llvm/IR/Instruction.h>

#include <string>

#include "base/result.h"

namespace cupola::kir {

/// "kernel 'k' (saxpy.cu:12)": where an instruction stands, for messages; of one that was inlined from elsewhere
/// "kernel 'k' (saxpy.cu:12, in sum.h:40)". Names are demangled.
std::string place_of(const llvm::Instruction& instruction);

/// "vector_add(float*, int)" for "_Z10vector_addPfi"; other names as they are.
std::string demangled(llvm::StringRef name);

}  // namespace cupola::kir
