#pragma once

namespace llvm {
class Function;
}

namespace cupola::cpu::build {

/// Has a warp's code compute with fields of structures as memory has them. Where it reads all fields of structures
/// beside each other (four numbers for each thread, in products of matrices), a register for each field is made of
/// several by shuffles. If a loop does the same to all fields, with what all lanes of a register share, sums may be
/// kept in the order of memory: only what is read behind the loop is taken apart. After widen().
void keep_fields_interleaved(llvm::Function& code);

}  // namespace cupola::cpu::build
