#pragma once

namespace llvm {
class Module;
}

namespace cupola::cpu::build {

/// Gives fences and atomics the scopes that host code generation knows; it takes any other for the weakest. Device and
/// system become the whole system. A block's threads share one thread of the host, so a fence among them only keeps the
/// compiler from reordering; atomics keep their full strength.
void lower_memory_scopes(llvm::Module& module);

}  // namespace cupola::cpu::build
