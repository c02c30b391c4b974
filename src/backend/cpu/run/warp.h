#pragma once

#include <cstdint>
#include <vector>

#include "image/cpu_abi.h"

namespace cupola::cpu {

/// The operations in which lanes of a warp meet. Lanes complete one together only if all of them ask for the same.
enum class WarpOp : uint8_t {
  Sync,
  ShuffleUp,
  ShuffleDown,
  ShuffleBfly,
  ShuffleIdx,  // as image::ShuffleKind
  VoteAll,
  VoteAny,
  VoteUni,
  VoteBallot,  // as image::VoteOp
  MatchAny,
  MatchAll,  // as image::MatchOp
  ReduceAdd,
  ReduceMin,
  ReduceMax,
  ReduceUmin,
  ReduceUmax,
  ReduceAnd,
  ReduceOr,
  ReduceXor,  // as image::ReduxOp
  Publish,    // value: where the lane's words lie; b: how many
};

const char* name_of(WarpOp op);

/// What one lane brings.
struct WarpRequest {
  WarpOp op = WarpOp::Sync;
  uint32_t mask = 0;
  uint64_t value = 0;
  uint32_t b = 0, c = 0;  ///< of shuffles
};

/// Results by lane of an operation whose members are `members`; the meaning is that of the PTX ISA's shfl.sync,
/// vote.sync, match.sync and redux.sync, the encoding that of cpu_services.def. A shuffle from a lane that is no member
/// gives the own value. Publish is not among them: it needs the warp's table.
void evaluate(WarpOp op, uint32_t members, const WarpRequest (&requests)[image::cpu::kWarp],
              uint64_t (&results)[image::cpu::kWarp]);

/// Where the lanes of one warp meet. Knows which lanes have not exited and which of them are busy: running or able to,
/// and not polling. Not thread-safe. Functions return the lanes that may go on, as a mask; those are busy again.
class Warp {
 public:
  void reset(uint32_t lanes);  ///< all of `lanes` begin, busy

  uint32_t alive() const { return alive_; }

  /// The lane waits for the lanes of its mask that have not exited to ask for the same. It may itself be in the answer.
  uint32_t meet(uint32_t lane, const WarpRequest& request);

  /// The lane waits at `site` until settle() lets it go on.
  void meet_at(uint32_t lane, uint64_t site);

  /// The lane waits elsewhere or polls; resume() is the way back.
  void stop(uint32_t lane) { busy_ &= ~(1u << lane); }
  void resume(uint32_t lane) { busy_ |= 1u << lane; }

  /// The lane is gone; operations that only waited for it complete.
  uint32_t exit(uint32_t lane);

  /// When no lane is busy: lets the largest set of lanes that wait at one site go on, with that set as their result.
  uint32_t settle();

  uint64_t result(uint32_t lane) const { return results_[lane]; }
  const WarpRequest& request(uint32_t lane) const { return requests_[lane]; }

 private:
  uint32_t complete_with(uint32_t lane);
  void publish(uint32_t members);

  uint32_t alive_ = 0;
  uint32_t busy_ = 0;
  uint32_t meeting_ = 0;  ///< lanes in meet()
  uint32_t at_site_ = 0;  ///< lanes in meet_at()
  WarpRequest requests_[image::cpu::kWarp];
  uint64_t sites_[image::cpu::kWarp];
  uint64_t results_[image::cpu::kWarp];
  std::vector<uint32_t> published_;  ///< read by lanes until each asks for its next operation
};

}  // namespace cupola::cpu
