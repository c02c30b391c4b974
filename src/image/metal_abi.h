#pragma once

#include <cstdint>

// What a launch on the metal device gives generated code: the contract between the compiler (backend/metal/build) and
// the host half (backend/metal/host).

namespace cupola::image::metal {

// Places of a kernel's arguments.
inline constexpr uint32_t kParameterBuffer = 0;  ///< the parameter block
inline constexpr uint32_t kLaunchBuffer = 1;     ///< a Launch
inline constexpr uint32_t kSharedArgument = 0;   ///< threadgroup memory: static, then dynamic shared memory
inline constexpr uint32_t kWordsArgument = 1;    ///< threadgroup memory of kWordsBytes for our own use
inline constexpr uint32_t kWordsBytes = 16;
inline constexpr uint32_t kSharedAlignment = 16;  ///< dynamic shared memory begins at the next multiple
inline constexpr uint32_t kMostSharedBytes = 32768 - kWordsBytes;  ///< of a block, on every Apple GPU

/// Locks that atomic operations of 64 bits take, one thread at a time.
inline constexpr uint32_t kLocks = 1024;

namespace words {
using ulong = uint64_t;
using uint = uint32_t;
}  // namespace words

/// Facts of a launch that all its threads share: metal_launch.def says what each is.
struct Launch {
#define METAL_LAUNCH(type, name, meaning) words::type name;
#include "image/metal_launch.def"
#undef METAL_LAUNCH
};
static_assert(sizeof(Launch) == 80);

/// The same in MSL.
inline constexpr char kLaunchInMsl[] =
    "struct Launch {\n"
#define METAL_LAUNCH(type, name, meaning) "  " #type " " #name ";\n"
#include "image/metal_launch.def"
#undef METAL_LAUNCH
    "};\n";

/// What a grid keeps from launch to launch, for one with grid-wide barriers is launched anew behind each: every thread
/// runs to its next one, keeps its variables and returns. Behind the header lie the blocks' shared memory
/// (total_shared_bytes of each), and behind that what the threads keep (MetalKernel::saved_bytes of each).
struct SavedHeader {
  uint32_t again;  ///< 1 when a block waits at a barrier, so that the grid must be launched once more
  uint32_t unused[3];
};
static_assert(sizeof(SavedHeader) == 16);

/// What printf leaves for the host. Behind it lie the records, each a multiple of 8 bytes: the format's host address (8
/// bytes), how many bytes of values follow (8), the values as hal::format_print takes them. Records that do not fit
/// are lost, and `used` is more than `room`; the first that does not fit ends what can be read.
struct OutputHeader {
  uint32_t used;  ///< bytes of records that were asked for
  uint32_t room;  ///< bytes that there are
  uint64_t unused;
};
static_assert(sizeof(OutputHeader) == 16);

/// How a kernel ended that could not go on; the first thread that writes it wins.
struct FaultRecord {
  uint32_t kind;  ///< a Fault; 0 while all is well
  uint32_t block[3];
  uint32_t thread[3];
  uint32_t detail;  ///< of Assert the line
  /// Of Assert: host addresses of the message, the file's name and the function's; of Call: the pointer.
  uint64_t texts[3];
};
static_assert(sizeof(FaultRecord) == 56);

enum class Fault : uint32_t {
  None,
  Trap,      ///< __trap()
  Assert,    ///< assert()
  Call,      ///< a call through a pointer to no function
  Grid,      ///< a grid-wide barrier in a launch that is not cooperative
  Deadlock,  ///< all of a block's threads wait at barriers for others
};

}  // namespace cupola::image::metal
