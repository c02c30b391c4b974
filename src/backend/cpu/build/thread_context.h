#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "image/cpu_abi.h"

namespace llvm {
class CallInst;
class Function;
class FunctionType;
class Instruction;
class IRBuilderBase;
class LLVMContext;
class LoadInst;
class Type;
class Value;
template <typename T>
class ArrayRef;
}  // namespace llvm

// How generated code reads its ThreadContext and calls the run half's services. Every function takes the context as its
// first argument once add_context_parameter has run.

namespace cupola::cpu::build {

/// One row of image/cpu_services.def.
enum class Service : uint32_t {
#define CUPOLA_SERVICE(name, result, parameters, flags) name,
#include "image/cpu_services.def"
#undef CUPOLA_SERVICE
};

/// The ThreadContext* of a lowered function.
llvm::Value* context_of(llvm::Function& function);
const llvm::Value* context_of(const llvm::Function& function);

/// Loads the context's field at `offset`. `constant`: the field keeps its value for the thread's life.
llvm::Value* load_field(llvm::IRBuilderBase& builder, llvm::Value* context, size_t offset, llvm::Type* type,
                        bool constant);

/// Where in the context of its function an address lies, in bytes; nothing: elsewhere, or it is not known where.
std::optional<uint64_t> place_in_context(const llvm::Value& address, const llvm::Function& function);

/// The field, by its offset, that `load` reads as one that keeps its value; nothing for other loads.
std::optional<size_t> constant_field(const llvm::LoadInst& load);

/// Whether `load` reads where the window of shared memory of the thread's block begins.
bool reads_window(const llvm::LoadInst& load);

void store_field(llvm::IRBuilderBase& builder, llvm::Value* context, size_t offset, llvm::Value* value);

/// Calls a service; `arguments` are those after the context. The call is marked, see service_of().
llvm::CallInst* call_service(llvm::IRBuilderBase& builder, llvm::Value* context, Service service,
                             llvm::ArrayRef<llvm::Value*> arguments);

/// The service that a call which call_service made asks for.
std::optional<Service> service_of(const llvm::Instruction& instruction);

/// True for a call to a service with the flag kSync.
bool suspends(const llvm::Instruction& instruction);

/// True for a call that comes from counted-down fuel, so that the kernel is known to poll.
bool polls(const llvm::Instruction& instruction);

}  // namespace cupola::cpu::build
