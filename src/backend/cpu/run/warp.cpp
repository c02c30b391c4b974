#include "backend/cpu/run/warp.h"

#include <algorithm>
#include <bit>

#include "image/warp_shuffle.h"

namespace cupola::cpu {
namespace {

using image::cpu::kWarp;

using image::ShuffleKind;

/// Calls `visit(lane)` for each lane of `mask`.
template <typename Visit>
void each_lane(uint32_t mask, Visit visit) {
  for (; mask; mask &= mask - 1) visit(static_cast<uint32_t>(std::countr_zero(mask)));
}

void shuffle(WarpOp op, uint32_t members, const WarpRequest (&requests)[kWarp], uint64_t (&results)[kWarp]) {
  each_lane(members, [&](uint32_t lane) {
    const auto kind = static_cast<ShuffleKind>(static_cast<uint32_t>(op) - static_cast<uint32_t>(WarpOp::ShuffleUp));
    const image::ShuffleSource source = image::shuffle_source(kind, requests[lane].b, requests[lane].c, lane);
    const uint32_t from = members >> source.lane & 1 ? source.lane : lane;
    results[lane] = uint64_t{static_cast<uint32_t>(requests[from].value)} | uint64_t{source.valid} << 32;
  });
}

void vote(WarpOp op, uint32_t members, const WarpRequest (&requests)[kWarp], uint64_t (&results)[kWarp]) {
  uint32_t ballot = 0;
  each_lane(members, [&](uint32_t lane) { ballot |= uint32_t{requests[lane].value != 0} << lane; });
  uint64_t result = ballot;
  if (op == WarpOp::VoteAll) result = ballot == members;
  if (op == WarpOp::VoteAny) result = ballot != 0;
  if (op == WarpOp::VoteUni) result = ballot == members || ballot == 0;
  each_lane(members, [&](uint32_t lane) { results[lane] = result; });
}

void match(WarpOp op, uint32_t members, const WarpRequest (&requests)[kWarp], uint64_t (&results)[kWarp]) {
  each_lane(members, [&](uint32_t lane) {
    uint32_t same = 0;
    each_lane(members,
              [&](uint32_t other) { same |= uint32_t{requests[other].value == requests[lane].value} << other; });
    if (op == WarpOp::MatchAny) results[lane] = same;
    if (op == WarpOp::MatchAll) results[lane] = same == members ? uint64_t{members} | uint64_t{1} << 32 : 0;
  });
}

uint32_t combine(WarpOp op, uint32_t a, uint32_t b) {
  const auto x = static_cast<int32_t>(a), y = static_cast<int32_t>(b);
  switch (op) {
    case WarpOp::ReduceAdd:
      return a + b;
    case WarpOp::ReduceMin:
      return static_cast<uint32_t>(std::min(x, y));
    case WarpOp::ReduceMax:
      return static_cast<uint32_t>(std::max(x, y));
    case WarpOp::ReduceUmin:
      return std::min(a, b);
    case WarpOp::ReduceUmax:
      return std::max(a, b);
    case WarpOp::ReduceAnd:
      return a & b;
    case WarpOp::ReduceOr:
      return a | b;
    case WarpOp::ReduceXor:
      return a ^ b;
    case WarpOp::Sync:
    case WarpOp::ShuffleUp:
    case WarpOp::ShuffleDown:
    case WarpOp::ShuffleBfly:
    case WarpOp::ShuffleIdx:
    case WarpOp::VoteAll:
    case WarpOp::VoteAny:
    case WarpOp::VoteUni:
    case WarpOp::VoteBallot:
    case WarpOp::MatchAny:
    case WarpOp::MatchAll:
    case WarpOp::Publish:
      break;
  }
  __builtin_unreachable();
}

void reduce(WarpOp op, uint32_t members, const WarpRequest (&requests)[kWarp], uint64_t (&results)[kWarp]) {
  const auto first = static_cast<uint32_t>(std::countr_zero(members));
  auto result = static_cast<uint32_t>(requests[first].value);
  each_lane(members & (members - 1),
            [&](uint32_t lane) { result = combine(op, result, static_cast<uint32_t>(requests[lane].value)); });
  each_lane(members, [&](uint32_t lane) { results[lane] = result; });
}

}  // namespace

const char* name_of(WarpOp op) {
  switch (op) {
    case WarpOp::Sync:
      return "warp barrier";
    case WarpOp::ShuffleUp:
      return "shuffle up";
    case WarpOp::ShuffleDown:
      return "shuffle down";
    case WarpOp::ShuffleBfly:
      return "shuffle xor";
    case WarpOp::ShuffleIdx:
      return "shuffle";
    case WarpOp::VoteAll:
      return "vote all";
    case WarpOp::VoteAny:
      return "vote any";
    case WarpOp::VoteUni:
      return "vote uni";
    case WarpOp::VoteBallot:
      return "ballot";
    case WarpOp::MatchAny:
      return "match any";
    case WarpOp::MatchAll:
      return "match all";
    case WarpOp::ReduceAdd:
    case WarpOp::ReduceMin:
    case WarpOp::ReduceMax:
    case WarpOp::ReduceUmin:
    case WarpOp::ReduceUmax:
    case WarpOp::ReduceAnd:
    case WarpOp::ReduceOr:
    case WarpOp::ReduceXor:
      return "warp reduction";
    case WarpOp::Publish:
      return "warp matrix operation";
  }
  return "warp operation";
}

void evaluate(WarpOp op, uint32_t members, const WarpRequest (&requests)[kWarp], uint64_t (&results)[kWarp]) {
  switch (op) {
    case WarpOp::Sync:
    case WarpOp::Publish:
      return;
    case WarpOp::ShuffleUp:
    case WarpOp::ShuffleDown:
    case WarpOp::ShuffleBfly:
    case WarpOp::ShuffleIdx:
      return shuffle(op, members, requests, results);
    case WarpOp::VoteAll:
    case WarpOp::VoteAny:
    case WarpOp::VoteUni:
    case WarpOp::VoteBallot:
      return vote(op, members, requests, results);
    case WarpOp::MatchAny:
    case WarpOp::MatchAll:
      return match(op, members, requests, results);
    case WarpOp::ReduceAdd:
    case WarpOp::ReduceMin:
    case WarpOp::ReduceMax:
    case WarpOp::ReduceUmin:
    case WarpOp::ReduceUmax:
    case WarpOp::ReduceAnd:
    case WarpOp::ReduceOr:
    case WarpOp::ReduceXor:
      return reduce(op, members, requests, results);
  }
}

void Warp::reset(uint32_t lanes) {
  alive_ = busy_ = lanes;
  meeting_ = at_site_ = 0;
}

uint32_t Warp::meet(uint32_t lane, const WarpRequest& request) {
  requests_[lane] = request;
  requests_[lane].mask |= 1u << lane;
  meeting_ |= 1u << lane;
  stop(lane);
  return complete_with(lane);
}

void Warp::meet_at(uint32_t lane, uint64_t site) {
  sites_[lane] = site;
  at_site_ |= 1u << lane;
  stop(lane);
}

uint32_t Warp::exit(uint32_t lane) {
  alive_ &= ~(1u << lane);
  stop(lane);
  uint32_t released = 0;
  for (uint32_t waiting = meeting_; waiting; waiting &= meeting_ & (waiting - 1))
    released |= complete_with(static_cast<uint32_t>(std::countr_zero(waiting)));
  return released;
}

/// Completes the operation that `lane` waits in, if all its members are there.
uint32_t Warp::complete_with(uint32_t lane) {
  const WarpRequest& request = requests_[lane];
  const uint32_t members = request.mask & alive_;
  if ((members & meeting_) != members) return 0;
  bool agreed = true;
  each_lane(members, [&](uint32_t other) {
    agreed &= requests_[other].mask == request.mask && requests_[other].op == request.op;
  });
  if (!agreed) return 0;
  if (request.op == WarpOp::Publish)
    publish(members);
  else
    evaluate(request.op, members, requests_, results_);
  meeting_ &= ~members;
  busy_ |= members;
  return members;
}

/// All members wait, so nobody still reads the table, and what their stacks hold stays. A lane that is gone shows
/// zeros.
void Warp::publish(uint32_t members) {
  const uint32_t count = requests_[std::countr_zero(members)].b;
  published_.resize(size_t{kWarp} * count);
  if (members != ~0u) std::ranges::fill(published_, 0u);
  each_lane(members, [&](uint32_t lane) {
    const auto* words = reinterpret_cast<const uint32_t*>(requests_[lane].value);
    std::copy_n(words, std::min(count, requests_[lane].b), published_.data() + size_t{lane} * count);
    results_[lane] = reinterpret_cast<uint64_t>(published_.data());
  });
}

uint32_t Warp::settle() {
  if (busy_ || !at_site_) return 0;
  uint32_t best = 0;
  for (uint32_t left = at_site_; left;) {
    const uint64_t site = sites_[std::countr_zero(left)];
    uint32_t group = 0;
    each_lane(left, [&](uint32_t lane) { group |= uint32_t{sites_[lane] == site} << lane; });
    if (std::popcount(group) > std::popcount(best)) best = group;
    left &= ~group;
  }
  each_lane(best, [&](uint32_t lane) { results_[lane] = best; });
  at_site_ &= ~best;
  busy_ |= best;
  return best;
}

}  // namespace cupola::cpu
