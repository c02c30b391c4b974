#pragma once

#include "ptx/lower/emission.h"

namespace cupola::ptx {

/// What the instruction's comparison is for operands of a type; BAD_ICMP_PREDICATE where it is not one of that type's.
llvm::CmpInst::Predicate predicate_of(const Emission& e, Type type);

}  // namespace cupola::ptx
