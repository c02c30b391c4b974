// Going from one stack to another (fibre_switch.h) by the Procedure Call Standard for AArch64: a call keeps x19 to x30 and
// d8 to d15. A stack that was left has them on its top, from its pointer upwards, and then the address to go on at:
//
//   0 d8 ... 56 d15, 64 x19 ... 136 x28, 144 x29, 152 x30, 160 address, 168 nothing
//
// x18 is the platform's, and the control register of floats belongs to the thread.
#if defined(__aarch64__)

#if defined(__APPLE__)
#define FUNCTION(name) _##name
#define TYPE(name)
#define SIZE(name)
#else
#define FUNCTION(name) name
#define TYPE(name) .type name, %function
#define SIZE(name) .size name, . - name
#endif
#define FRAME 176

.macro save
  sub sp, sp, #FRAME
  stp d8, d9, [sp, #0]
  stp d10, d11, [sp, #16]
  stp d12, d13, [sp, #32]
  stp d14, d15, [sp, #48]
  stp x19, x20, [sp, #64]
  stp x21, x22, [sp, #80]
  stp x23, x24, [sp, #96]
  stp x25, x26, [sp, #112]
  stp x27, x28, [sp, #128]
  stp x29, x30, [sp, #144]
  str x30, [sp, #160]
.endm
// And the address in x10.
.macro restore
  ldp d8, d9, [sp, #0]
  ldp d10, d11, [sp, #16]
  ldp d12, d13, [sp, #32]
  ldp d14, d15, [sp, #48]
  ldp x19, x20, [sp, #64]
  ldp x21, x22, [sp, #80]
  ldp x23, x24, [sp, #96]
  ldp x25, x26, [sp, #112]
  ldp x27, x28, [sp, #128]
  ldp x29, x30, [sp, #144]
  ldr x10, [sp, #160]
  add sp, sp, #FRAME
.endm

  .text

// x0: top, x1: entry. Returns the stack.
  .globl FUNCTION(cupola_make_fcontext)
  .p2align 2
TYPE(cupola_make_fcontext)
FUNCTION(cupola_make_fcontext):
  and x0, x0, #~15
  sub x0, x0, #FRAME
  stp xzr, xzr, [x0, #144]  // no frame below, no return address: backtraces end
  str x1, [x0, #160]
  ret
SIZE(cupola_make_fcontext)

// x0: the stack to go to, x1: data. There: x0 is the stack that was left, x1 the data, as a call and as a return.
  .globl FUNCTION(cupola_jump_fcontext)
  .p2align 2
TYPE(cupola_jump_fcontext)
FUNCTION(cupola_jump_fcontext):
  save
  mov x9, sp
  mov sp, x0
  mov x0, x9
  restore
  br x10
SIZE(cupola_jump_fcontext)

// x0: top, x1: entry, x2: its argument, x3: where the stack goes that is left.
  .globl FUNCTION(cupola_call_fcontext)
  .p2align 2
TYPE(cupola_call_fcontext)
FUNCTION(cupola_call_fcontext):
  save
  mov x19, sp  // entry keeps it
  str x19, [x3]
  and x0, x0, #~15
  mov sp, x0
  mov x29, xzr  // no frame below
  mov x0, x2
  blr x1
  mov sp, x19
  restore
  mov x0, xzr
  mov x1, xzr
  ret
SIZE(cupola_call_fcontext)

#endif
#if defined(__ELF__)
  .section .note.GNU-stack, "", %progbits
#endif
