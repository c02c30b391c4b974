#pragma once

#include <llvm/IR/Module.h>

#include "base/result.h"

// The functions that kir calls by the names they have in the C and C++ library. A program may define others of the same
// names (`extern "C" __global__ void free(...)`), which nobody else calls: the device library means the C library's.

namespace cupola::kir {

/// True for the functions of library_calls.def, which a module may call and leave undefined.
bool is_library_call(llvm::StringRef name);

/// Gives vprintf, malloc, operator new and their kin, where they are called and not defined, bodies that call the rows
/// of intrinsics.def.
void define_c_functions(llvm::Module& module);

/// Renames the functions and variables that the module defines under names of C functions, so that a library linked to
/// it means the C functions by them.
void set_aside_c_names(llvm::Module& module);

/// The name by which the program knows what it defined, set aside or not.
llvm::StringRef own_name(const llvm::GlobalValue& value);

/// Gives what was set aside its own name again; a library's function of that name gets another. Error: NotSupported,
/// where the module also calls the GPU's own function of that name (malloc, free, vprintf).
Result<> restore_own_names(llvm::Module& module);

}  // namespace cupola::kir
