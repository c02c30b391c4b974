#pragma once

#include <cstddef>

// Going from one stack to another, as Boost.Context's fcontext does, and calling a function on another one, which that
// cannot: docs/adr/0016-stacks-are-called.md. In fibre_switch_x86_64.S and fibre_switch_aarch64.S.

namespace cupola::cpu {

/// A stack that was left, and what the one who goes there gives.
struct transfer_t {
  void* fctx;
  void* data;
};

/// A stack, whose highest address is `top`, that begins with `entry` when somebody goes there. `entry` must not return.
extern "C" void* cupola_make_fcontext(void* top, void (*entry)(transfer_t));
/// Leaves this stack and goes to another one. Returns when somebody comes back, with where they came from.
extern "C" transfer_t cupola_jump_fcontext(void* to, void* data);
/// Calls `entry(argument)` on the stack whose highest address is `top`; this one is `*left` then. Returns two nulls
/// when `entry` does, which it may only while nobody has gone to `*left`; else as cupola_jump_fcontext does, once
/// somebody has. Processors know where a call returns to, and not where a jump goes: after one all functions that wait
/// for the end of others return late.
extern "C" transfer_t cupola_call_fcontext(void* top, void (*entry)(void* argument), void* argument, void** left);

inline constexpr auto& make_fcontext = cupola_make_fcontext;
inline constexpr auto& jump_fcontext = cupola_jump_fcontext;
inline constexpr auto& call_fcontext = cupola_call_fcontext;

}  // namespace cupola::cpu
