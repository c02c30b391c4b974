#pragma once

#include <cstdint>

#include "base/result.h"

namespace llvm {
class Module;
}

namespace cupola::metal::build {

/// From kir's address spaces to Metal's (spaces.h): each pointer gets the space of the memory that PointerSpaces finds
/// for it; pointers of several become i64, and their accesses ask which window the address lies in. In memory and where
/// a program makes numbers of them, pointers are the addresses that the host sees. Of a module whose variables and
/// parameters are laid out (metal.* calls stand for them) and whose switches and memory intrinsics are plain code.
/// `constant_bytes`: as kir::ModuleData has it. Error: NotSupported, with the place, for what Metal has no form of.
Result<> assign_spaces(llvm::Module& module, uint64_t constant_bytes);

}  // namespace cupola::metal::build
