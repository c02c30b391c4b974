// Going from one stack to another (fibre_switch.h) by the System V ABI for x86-64: a call keeps rbx, rbp and r12 to r15. A
// stack that was left has them on its top, from its pointer upwards, and then the address to go on at:
//
//   0 nothing, 8 r12, 16 r13, 24 r14, 32 r15, 40 rbx, 48 rbp, 56 address
//
// The control registers of floats belong to the thread.
#if defined(__x86_64__)

#if defined(__APPLE__)
#define FUNCTION(name) _##name
#define TYPE(name)
#define SIZE(name)
#else
#define FUNCTION(name) name
#define TYPE(name) .type name, @function
#define SIZE(name) .size name, . - name
#endif
#define FRAME 64

// The address is there: the call that came here has left it.
.macro save
  pushq %rbp
  pushq %rbx
  pushq %r15
  pushq %r14
  pushq %r13
  pushq %r12
  leaq -8(%rsp), %rsp
.endm
.macro restore
  leaq 8(%rsp), %rsp
  popq %r12
  popq %r13
  popq %r14
  popq %r15
  popq %rbx
  popq %rbp
.endm

  .text

// rdi: top, rsi: entry. Returns the stack. Where entry begins the stack is as a call leaves it: 8 below a multiple of 16.
  .globl FUNCTION(cupola_make_fcontext)
  .p2align 4
TYPE(cupola_make_fcontext)
FUNCTION(cupola_make_fcontext):
  andq $-16, %rdi
  leaq -(FRAME + 8)(%rdi), %rax
  movq $0, 48(%rax)  // no frame below, no return address: backtraces end
  movq %rsi, 56(%rax)
  movq $0, 64(%rax)
  ret
SIZE(cupola_make_fcontext)

// rdi: the stack to go to, rsi: data. There: the stack that was left and the data, as a call and as a return.
  .globl FUNCTION(cupola_jump_fcontext)
  .p2align 4
TYPE(cupola_jump_fcontext)
FUNCTION(cupola_jump_fcontext):
  save
  movq %rsp, %rax
  movq %rsi, %rdx
  movq %rdi, %rsp
  restore
  movq %rax, %rdi
  popq %rcx
  jmpq *%rcx
SIZE(cupola_jump_fcontext)

// rdi: top, rsi: entry, rdx: its argument, rcx: where the stack goes that is left.
  .globl FUNCTION(cupola_call_fcontext)
  .p2align 4
TYPE(cupola_call_fcontext)
FUNCTION(cupola_call_fcontext):
  save
  movq %rsp, (%rcx)
  movq %rsp, %rbx  // entry keeps it
  andq $-16, %rdi
  movq %rdi, %rsp
  movq %rdx, %rdi
  xorl %ebp, %ebp  // no frame below
  callq *%rsi
  movq %rbx, %rsp
  restore
  xorl %eax, %eax
  xorl %edx, %edx
  ret
SIZE(cupola_call_fcontext)

#endif
#if defined(__ELF__)
  .section .note.GNU-stack, "", %progbits
#endif
