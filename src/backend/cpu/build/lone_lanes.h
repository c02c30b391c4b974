#pragma once

namespace llvm {
class Function;
}

namespace cupola::cpu::build {

/// Where only threads of one threadIdx.x go (`if (threadIdx.x == 0) tile[y][0] = row[x - 1]`), accesses have addresses
/// made of that number: then all lanes there have the same, and what is moved is one number for a row of the block, no
/// row of numbers. Of a kernel whose loops have preheaders.
void know_lone_lanes(llvm::Function& kernel);

}  // namespace cupola::cpu::build
