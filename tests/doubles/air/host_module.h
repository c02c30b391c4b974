#pragma once

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <memory>

#include "doubles/air/air_program.h"

namespace cupola::doubles {

/// A module of AIR for this machine, and how its kernel is called.
struct HostModule {
  std::unique_ptr<llvm::Module> module;
  MslFunction function;
};

/// Reads the module, and adds `void CALLER(buffers, threadgroups, place)`, which calls the kernel with what air.kernel
/// says that its arguments are. Errors: those of compile_air.
Result<HostModule> host_module(llvm::LLVMContext& context, const AirFunction& function, const std::string& caller);

}  // namespace cupola::doubles
