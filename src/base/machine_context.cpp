#include "base/machine_context.h"

#include <sys/ucontext.h>

// Register names differ by system and processor, their roles do not: program counter, stack pointer, first argument.

namespace cupola::machine_context {
namespace {

constexpr uint64_t kStackAlignment = 16;

[[maybe_unused]] uint64_t aligned_top(void* stack_top) {
  return reinterpret_cast<uint64_t>(stack_top) & ~(kStackAlignment - 1);
}

}  // namespace

#if defined(__x86_64__)

namespace {

struct Registers {
#if defined(__APPLE__)
  explicit Registers(ucontext_t* context)
      : rip(context->uc_mcontext->__ss.__rip),
        rsp(context->uc_mcontext->__ss.__rsp),
        rdi(context->uc_mcontext->__ss.__rdi),
        flags(context->uc_mcontext->__ss.__rflags) {}
  __uint64_t &rip, &rsp, &rdi, &flags;
#else
  explicit Registers(ucontext_t* context)
      : rip(context->uc_mcontext.gregs[REG_RIP]),
        rsp(context->uc_mcontext.gregs[REG_RSP]),
        rdi(context->uc_mcontext.gregs[REG_RDI]),
        flags(context->uc_mcontext.gregs[REG_EFL]) {}
  greg_t &rip, &rsp, &rdi, &flags;
#endif
};

constexpr int64_t kDirectionFlag = 0x400;

}  // namespace

uint64_t program_counter(const void* context) {
  return static_cast<uint64_t>(Registers(static_cast<ucontext_t*>(const_cast<void*>(context))).rip);
}

void enter(void* context, void (*landing)(void*), void* argument, void* stack_top) {
  Registers registers(static_cast<ucontext_t*>(context));
  // A function is entered with its return address on the stack: 8 below a multiple of 16. Zero ends backtraces.
  auto* return_address = reinterpret_cast<uint64_t*>(aligned_top(stack_top) - 8);
  *return_address = 0;
  registers.rsp = reinterpret_cast<int64_t>(return_address);
  registers.rip = reinterpret_cast<int64_t>(landing);
  registers.rdi = reinterpret_cast<int64_t>(argument);
  registers.flags &= ~kDirectionFlag;  // the calling convention wants it clear
}

#elif defined(__aarch64__) && defined(__APPLE__)

uint64_t program_counter(const void* context) {
  return __darwin_arm_thread_state64_get_pc(static_cast<const ucontext_t*>(context)->uc_mcontext->__ss);
}

void enter(void* context, void (*landing)(void*), void* argument, void* stack_top) {
  auto& state = static_cast<ucontext_t*>(context)->uc_mcontext->__ss;
  __darwin_arm_thread_state64_set_pc_fptr(state, landing);
  __darwin_arm_thread_state64_set_sp(state, aligned_top(stack_top));
  __darwin_arm_thread_state64_set_lr_fptr(state, nullptr);
  state.__x[0] = reinterpret_cast<uint64_t>(argument);
}

#elif defined(__aarch64__)

uint64_t program_counter(const void* context) {
  return static_cast<const ucontext_t*>(context)->uc_mcontext.pc;
}

void enter(void* context, void (*landing)(void*), void* argument, void* stack_top) {
  mcontext_t& state = static_cast<ucontext_t*>(context)->uc_mcontext;
  state.pc = reinterpret_cast<uint64_t>(landing);
  state.sp = aligned_top(stack_top);
  state.regs[30] = 0;
  state.regs[0] = reinterpret_cast<uint64_t>(argument);
}

#else
#error "faults of kernels are recovered on x86-64 and AArch64; this processor needs its registers named here"
#endif

}  // namespace cupola::machine_context
