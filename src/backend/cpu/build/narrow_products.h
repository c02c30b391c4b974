#pragma once

namespace llvm {
class Function;
}

namespace cupola::cpu::build {

/// Hides from LLVM by how much a row of products is shifted right before it is cut to 16 bits, where that is more than
/// 16: LLVM 22 takes factors that fit 16 bits for a multiplication of those (its combinePMULH) and shifts the upper
/// half of each product by the rest, without its sign and by more than it has. For the end.
void hide_shifts_of_products(llvm::Function& function);

}  // namespace cupola::cpu::build
