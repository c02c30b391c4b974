#pragma once

// Going from one stack to another: Boost.Context's make_fcontext and jump_fcontext. AArch64 has them of our own, in
// fibre_switch_aarch64.S, so that the half that runs needs nothing of Boost where a Mac's libraries are built
// elsewhere.

#if defined(__aarch64__)
#include <cstddef>

namespace cupola::cpu {

/// A stack that was left, and what the one who goes there gives.
struct transfer_t {
  void* fctx;
  void* data;
};

/// A stack, whose highest address is `top`, that begins with `entry` when somebody goes there. `entry` must not return.
extern "C" void* cupola_make_fcontext(void* top, size_t size, void (*entry)(transfer_t));
/// Leaves this stack and goes to another one. Returns when somebody comes back, with where they came from.
extern "C" transfer_t cupola_jump_fcontext(void* to, void* data);

inline constexpr auto& make_fcontext = cupola_make_fcontext;
inline constexpr auto& jump_fcontext = cupola_jump_fcontext;

}  // namespace cupola::cpu
#else
#include <boost/context/detail/fcontext.hpp>

namespace cupola::cpu {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

}  // namespace cupola::cpu
#endif
