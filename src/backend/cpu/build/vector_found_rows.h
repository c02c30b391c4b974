#pragma once

#include <optional>

namespace llvm {
class LoadInst;
class StoreInst;
class Type;
class Value;
}  // namespace llvm

// Rows that only the running code can know of: keys[2 * i - (i & (j - 1))] lies in a row as long as j is 32 or more.
// Looking takes a tenth of the time of the gather that it may save. With smaller j, a power of two, runs of j places
// beside each other lie as far apart as they are long: the halves of a butterfly (a bitonic network's steps, those of a
// Fourier transform, of a scan). Then two rows and a shuffle do, a third of a gather's time and less of a scatter's.

namespace cupola::cpu::build {

class Lanes;

/// What was found when the code runs. Lanes' places for values of a type lie in runs of `run` beside each other from
/// `first` on, with as many places between two of them: 32, a row, or another power of two; any other number: they lie
/// otherwise.
struct FoundRuns {
  llvm::Value *run, *first;
};

/// Looks at the addresses where they are varying and may turn out to be such: numbers of 32 bits, made of the thread's
/// place and of what threads share, that count elements behind a place that threads share. Nothing: it does not.
std::optional<FoundRuns> look_for_runs(Lanes& lanes, llvm::Value* address, llvm::Type* type);

/// What the lanes read where their places lie in runs of a length.
llvm::Value* load_runs(Lanes& lanes, const llvm::LoadInst& load, const FoundRuns& found, unsigned run);
/// The other way round, where the target has masked stores.
void store_runs(Lanes& lanes, const llvm::StoreInst& store, llvm::Value* wide, const FoundRuns& found, unsigned run);

}  // namespace cupola::cpu::build
