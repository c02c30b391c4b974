#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>

#include <memory>
#include <string>

#include "base/result.h"

namespace llvm {
class MemoryBuffer;
class Module;
class TargetMachine;
}  // namespace llvm

namespace cupola::cpu::build {

/// The processor that an image target ("cpu:x86_64:x86-64-v3") ends in, a level of x86-64; for others the one that this
/// process runs on, with all its features. Error: NotSupported when LLVM lacks it.
Result<std::unique_ptr<llvm::TargetMachine>> machine_for(const std::string& image_target);

/// Turns a module in clang's nvptx layout into one of the host's. Error: NotSupported when a structure of the module
/// would be laid out otherwise, because its memory is shared with code that follows the first layout.
Result<> retarget(llvm::Module& module, const llvm::TargetMachine& machine);

/// What makes code faster and takes longer to compile.
struct Effort {
  bool writes_out = false;  ///< loops that go round as often as is known, such as those over a block's warps: two to
                            ///< three times as long
  size_t strips = 1;        ///< of a kernel, as take_strips has them
};

/// Simplifies what lowering left; changes no result. No library function is assumed or introduced.
void clean_up(llvm::Module& module, const Effort& effort, llvm::TargetMachine& machine);

/// In which order the instructions of a block are: as LLVM's scheduler has it before registers are given out, or as
/// they stand.
enum class Order { Scheduled, AsWritten };

/// The module as a relocatable object. Consumes the module's contents.
Result<std::unique_ptr<llvm::MemoryBuffer>> emit_object(llvm::Module& module, llvm::TargetMachine& machine,
                                                        Order order = Order::Scheduled);

struct Emitted {
  std::unique_ptr<llvm::MemoryBuffer> object;
  Order order;
};
/// The same in the order in which the code is clearly shorter, which is by what does not stay in registers. Emits both
/// but of long code; `go_on` is asked between them, and its error returned.
Result<Emitted> emit_shorter_object(llvm::Module& module, llvm::TargetMachine& machine,
                                    llvm::function_ref<Result<>()> go_on);

/// The module as assembly, for reading.
std::string emit_assembly(const llvm::Module& module, llvm::TargetMachine& machine, Order order = Order::Scheduled);

}  // namespace cupola::cpu::build
