#include <llvm/BinaryFormat/ELF.h>

#include <cstring>

#include "backend/cpu/build/relocator.h"

// Relocation types and their formulas: System V Application Binary Interface, AMD64 Architecture Processor Supplement,
// section "Relocation". Here S is the target's offset, A the addend, P the place's.

namespace cupola::cpu::build {
namespace {

using namespace llvm::ELF;

Result<RelocationTarget> target_of(uint64_t type) {
  switch (type) {
    case R_X86_64_PC32:
    case R_X86_64_PLT32:
    case R_X86_64_PC64:
      return RelocationTarget::Address;
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX:
      return RelocationTarget::Slot;
    default:
      return fail(ErrorCode::NotSupported, "x86-64 relocation type {} needs an absolute address", type);
  }
}

Result<> apply(uint64_t type, std::span<std::byte> segment, uint64_t place, uint64_t target, int64_t addend) {
  const int64_t value = static_cast<int64_t>(target) + addend - static_cast<int64_t>(place);
  if (type == R_X86_64_PC64) {
    std::memcpy(&segment[place], &value, sizeof value);
    return {};
  }
  const auto narrow = static_cast<int32_t>(value);
  if (narrow != value) return fail(ErrorCode::NotSupported, "the segment is larger than 2 GiB");
  std::memcpy(&segment[place], &narrow, sizeof narrow);
  return {};
}

/// jmp *slot(%rip); int3; int3
void write_stub(std::span<std::byte> segment, uint64_t place, uint64_t slot) {
  const auto displacement = static_cast<int32_t>(slot - (place + 6));
  const unsigned char code[8] = {0xff, 0x25, 0, 0, 0, 0, 0xcc, 0xcc};
  std::memcpy(&segment[place], code, sizeof code);
  std::memcpy(&segment[place + 2], &displacement, sizeof displacement);
}

}  // namespace

const Relocator kRelocatorX86_64 = {8, target_of, apply, write_stub};

}  // namespace cupola::cpu::build
