#pragma once

// Places a known number of bytes apart, as a column of a matrix in shared memory. A processor's gather takes them out
// of a vector of addresses; with the distances in the instructions, as many loads (or stores) and the shuffles that put
// their numbers together take half the time on Zen 4, and they need no instruction for gathers or scatters.

namespace llvm {
class LoadInst;
class StoreInst;
class Value;
}  // namespace llvm

namespace cupola::cpu::build {

class Lanes;

/// Whether all lanes run the access and its places are such, if the address is straight (Lanes::straight). No more of
/// them than what the code's size bears.
bool takes_strides(const Lanes& lanes, const llvm::LoadInst& load);
bool takes_strides(const Lanes& lanes, const llvm::StoreInst& store);

/// What the lanes read, one after the other.
llvm::Value* load_strides(Lanes& lanes, llvm::LoadInst& load);
/// The other way round; what the last lane writes to a place stays.
void store_strides(Lanes& lanes, llvm::StoreInst& store, llvm::Value* wide);

}  // namespace cupola::cpu::build
