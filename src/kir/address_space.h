#pragma once

namespace cupola::kir {

/// Address spaces of a module: clang's numbers for nvptx64, and there are no others.
enum AddressSpace : unsigned {
  kGenericSpace = 0,
  kGlobalSpace = 1,
  kSharedSpace = 3,
  kConstantSpace = 4,
  kLocalSpace = 5,
};

constexpr bool is_address_space(unsigned number) {
  switch (static_cast<AddressSpace>(number)) {
    case kGenericSpace:
    case kGlobalSpace:
    case kSharedSpace:
    case kConstantSpace:
    case kLocalSpace:
      return true;
  }
  return false;
}

}  // namespace cupola::kir
