#include "ptx/lower/emission.h"

// Special registers: what a row of special_registers.def names.

namespace cupola::ptx {
namespace {

/// The intrinsics of .x .y .z .w, or four times the same.
using Intrinsics = Id::ID[4];

namespace names {
using namespace llvm::Intrinsic;
constexpr ID nvvm_zero = not_intrinsic;

#define COMPONENTS_1(name) {nvvm_##name, nvvm_##name, nvvm_##name, nvvm_##name}
#define COMPONENTS_4(name) {nvvm_##name##_x, nvvm_##name##_y, nvvm_##name##_z, nvvm_##name##_w}
constexpr Intrinsics kIntrinsics[] = {
#define PTX_SPECIAL(name, text, type, components, intrinsic) COMPONENTS_##components(intrinsic),
#include "ptx/syntax/special_registers.def"
#undef PTX_SPECIAL
};
#undef COMPONENTS_1
#undef COMPONENTS_4
}  // namespace names

}  // namespace

Value* Emission::read_special(const Operand& operand) {
  const auto special = static_cast<Special>(operand.index);
  llvm::Type* type = value_type(type_of(special));
  const Id::ID id = names::kIntrinsics[operand.index][operand.component];
  if (id == Id::not_intrinsic) return llvm::Constant::getNullValue(type);
  Value* value = b.CreateIntrinsic(id, {});
  if (special == Special::ClockHi || special == Special::GlobalTimerHi) value = b.CreateLShr(value, 32);
  return convert(value, type);
}

}  // namespace cupola::ptx
