#pragma once

#include <cstdint>

namespace llvm {
class TargetMachine;
}

namespace cupola::cpu::build {

/// Who built the processor that code is for: what is fast there its instruction set does not tell.
enum class ProcessorLine : uint8_t {
  Zen,    ///< AMD's since 2017
  Intel,  ///< of x86
  Other,  ///< all others, and levels of an instruction set
};

ProcessorLine line_of(const llvm::TargetMachine& machine);

}  // namespace cupola::cpu::build
