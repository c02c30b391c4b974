#pragma once

#include <cstdint>

namespace llvm {
class TargetMachine;
}

namespace cupola::cpu::build {

/// Whose processor code is for, where what is fast follows from how it is built, which its instruction set does not
/// tell.
enum class ProcessorLine : uint8_t {
  Zen,    ///< AMD's since 2017
  Intel,  ///< of x86
  Other,  ///< all others, and levels of an instruction set
};

ProcessorLine line_of(const llvm::TargetMachine& machine);

}  // namespace cupola::cpu::build
