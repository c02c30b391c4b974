#include "kir/core_intrinsics.h"

namespace cupola::kir {

std::optional<CoreClass> core_class_of(llvm::Intrinsic::ID intrinsic) {
  switch (intrinsic) {
#define KIR_CORE(name, group) \
  case llvm::Intrinsic::name: \
    return CoreClass::group;
#include "kir/core_intrinsics.def"
#undef KIR_CORE
    default:  // the thousands that are not of the closed set
      return {};
  }
}

}  // namespace cupola::kir
