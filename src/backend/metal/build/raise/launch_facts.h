#pragma once

namespace llvm {
class Function;
}

namespace cupola::metal::build {

/// Values that follow from the launch, the thread's place, the parameters and where variables lie are computed in each
/// block that uses them, instead of being carried from block to block. Of a kernel that has read its parameters.
void compute_facts_where_used(llvm::Function& kernel);

}  // namespace cupola::metal::build
