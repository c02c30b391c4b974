#include "backend/cpu/build/mask_registers.h"

#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Target/TargetMachine.h>

namespace cupola::cpu::build {

bool has_mask_registers(const llvm::TargetMachine& machine) {
  return machine.getMCSubtargetInfo()->checkFeatures("+avx512f");
}

}  // namespace cupola::cpu::build
