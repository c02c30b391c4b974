#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "image/kernel_image.h"

namespace llvm {
class Module;
namespace object {
class ELFObjectFileBase;
}
}  // namespace llvm

namespace cupola::cpu::build {

/// Leaves line numbers of the debug information, and gives calls without one a place, as LLVM's verifier wants them.
void keep_line_numbers(llvm::Module& module);

/// The source lines of the object's code, by offset in the segment in which its sections lie at the given offsets.
/// Empty where the object says nothing or what it says cannot be read: lines are for messages only.
image::LineTable line_table(const llvm::object::ELFObjectFileBase& object,
                            const std::map<uint64_t, uint64_t>& section_offsets);

}  // namespace cupola::cpu::build
