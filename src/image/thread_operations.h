#pragma once

#include <cstdint>

// What threads can do together, as kir/intrinsics.def and image/cpu_services.def number it. The names are those of
// "PTX ISA": shfl.sync, vote.sync, match.sync, redux.sync and barrier.red.

namespace cupola::image {

enum class ShuffleKind : uint32_t { Up, Down, Bfly, Idx };
enum class VoteOp : uint32_t { All, Any, Uni, Ballot };
enum class MatchOp : uint32_t { Any, All };
enum class ReduxOp : uint32_t { Add, Min, Max, Umin, Umax, And, Or, Xor };
enum class BarrierOp : uint32_t { Popc, And, Or };

}  // namespace cupola::image
