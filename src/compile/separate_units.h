#pragma once

#include <llvm/IR/Module.h>

#include <cstddef>
#include <vector>

// What clang leaves to do for code that was compiled with -fgpu-rdc: one module a source file, linked later.

namespace cupola {

/// Gives uses of an internal variable or kernel the name of its definition. clang appends "__static__HASH" (or
/// "__intern__HASH") to the name of what the host refers to, but a function that it emitted before it saw the
/// reference keeps the plain name, which is then declared and defined nowhere.
void unite_internal_names(llvm::Module& module);

/// Takes out clang's list of what the host refers to and other modules define. It keeps declarations in use.
void drop_external_references(llvm::Module& module);

}  // namespace cupola
