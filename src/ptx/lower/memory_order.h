#pragma once

#include "ptx/lower/emission.h"

// What .relaxed, .acquire and their kin, and the scopes, are in LLVM. PTX ISA, "Memory Consistency Model".

namespace cupola::ptx {

/// .cta is "block", .cluster and .gpu (which is also meant where none is named) "device", .sys the whole system.
llvm::SyncScope::ID scope_of(const Emission& e);

/// NotAtomic where the form names none.
llvm::AtomicOrdering ordering_of(const Emission& e);

}  // namespace cupola::ptx
