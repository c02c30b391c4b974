#pragma once

#include <cstdint>

#include "backend/metal/build/raise/refusals.h"

namespace llvm {
class Module;
}

namespace cupola::metal::build {

/// From kir's address spaces to Metal's (spaces.h): each pointer gets the space of the memory that PointerSpaces finds
/// for it; pointers of several become i64, and their accesses ask which window the address lies in. In memory and where
/// a program makes numbers of them, pointers are the addresses that the host sees. Of a module whose variables and
/// parameters are laid out (metal.* calls stand for them) and whose switches and memory intrinsics are plain code.
/// `constant_bytes`: as kir::ModuleData has it. Returns the functions with something that Metal has no form of, and the
/// place; they have no code any more.
Refusals assign_spaces(llvm::Module& module, uint64_t constant_bytes);

}  // namespace cupola::metal::build
