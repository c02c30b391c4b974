#pragma once

#include <cstdint>

namespace cupola::machine_context {

/// What a signal handler reads and changes in the ucontext_t it is given. Async-signal-safe.
uint64_t program_counter(const void* context);

/// Makes the thread go on in `landing(argument)`, as if called, on the stack that ends at `stack_top`. `landing` must
/// not return.
void enter(void* context, void (*landing)(void*), void* argument, void* stack_top);

}  // namespace cupola::machine_context
