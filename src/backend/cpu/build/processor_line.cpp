#include "backend/cpu/build/processor_line.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Triple.h>

namespace cupola::cpu::build {

// LLVM names a processor by a word for what it is. Those of x86 that are no level and not AMD's are Intel's.
ProcessorLine line_of(const llvm::TargetMachine& machine) {
  constexpr llvm::StringLiteral kOthers[] = {"x86-64", "generic", "bdver", "btver", "amdfam", "k8", "athlon"};
  const llvm::StringRef name = machine.getTargetCPU();
  if (!machine.getTargetTriple().isX86() || name.empty()) return ProcessorLine::Other;
  if (name.starts_with("znver")) return ProcessorLine::Zen;
  const bool is_other = llvm::any_of(kOthers, [&](llvm::StringRef other) { return name.starts_with(other); });
  return is_other ? ProcessorLine::Other : ProcessorLine::Intel;
}

}  // namespace cupola::cpu::build
