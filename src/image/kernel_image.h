#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/kernel_info.h"
#include "base/result.h"
#include "image/block_class.h"
#include "image/image_frame.h"
#include "image/module_variables.h"

// A kernel image for the cpu device: one position-independent segment and a manifest. No external symbols, no absolute
// addresses: what the code needs of the process arrives through the ThreadContext or through import slots, which the
// loader fills from the closed table library_calls.def. The same bytes serve first runs and cached runs.
//
// The image of a module may leave its kernels' code for later: it then holds what each is compiled from, a unit. What a
// unit becomes for blocks of a class or of a shape is an image of that kernel alone, without data.

namespace cupola::image {

/// How a kernel may be executed; decided by the compiler, see "Threads" in docs/design.md.
enum class Rung : uint32_t {
  ThreadLoop,    ///< no synchronisation at all: threads run one after the other on one stack
  ThreadFibres,  ///< a fibre a thread
};

inline constexpr uint64_t kNoEntry = UINT64_MAX;

/// Code that runs more than a thread; an offset in the segment, of a cpu::KernelEntry.
struct WideEntry {
  uint64_t place = kNoEntry;
  bool whole_block = false;  ///< runs all threads of blocks; else those of a warp
};

struct Kernel {
  KernelInfo info;
  std::vector<std::byte> unit;  ///< what its code is made of when it is asked for; empty: the image has its code
  uint64_t entry = kNoEntry;    ///< runs a thread: offset in the segment, of a cpu::KernelEntry
  ByBlockClass<WideEntry> wide_entries;

  /// The code for such blocks is here.
  bool runs(BlockClass blocks) const {
    return entry != kNoEntry || wide_entries[blocks].place != kNoEntry ||
           (blocks != BlockClass::One && wide_entries[BlockClass::Any].place != kNoEntry);
  }
  Rung rung = Rung::ThreadFibres;
  bool polls = false;              ///< may wait for other blocks, other grids or the host
  bool flush_denormals = false;    ///< run with the control register's flush bits set
  bool improvable = false;         ///< hot code of a shape would be better (image/block_class.h)
  bool begins_by_thread = false;   ///< of a unit: code for a thread may run until other code, which takes long, is made
  uint32_t most_instructions = 0;  ///< that a thread runs, about; 0: not known, it may go in turns or wait
};

/// A slot of the segment's writable part that holds the address of a library function.
struct Import {
  uint64_t slot = 0;      ///< offset in the segment, 8 bytes
  uint32_t function = 0;  ///< place in library_calls.def
};

/// Which source line the code comes from; empty where the program was built without line numbers.
struct LineTable {
  struct Row {
    uint64_t offset = 0;  ///< in the segment; the row holds up to the next one's
    uint32_t file = 0;    ///< in files
    uint32_t line = 0;    ///< from 1; 0: no source line
    bool operator==(const Row&) const = default;
  };
  std::vector<std::string> files;  ///< as the compiler was given them
  std::vector<Row> rows;           ///< by offset

  /// "saxpy.cu:12" for an offset in the segment, or "".
  std::string place(uint64_t offset) const;
};

struct KernelImage : ModuleVariables {
  std::string target;  ///< hal::DeviceProperties::image_target it was made for
  std::vector<Kernel> kernels;
  std::vector<std::byte> segment;  ///< code and read-only data, then, page-aligned, the import slots
  uint64_t slots_offset = 0;       ///< where import slots begin; a multiple of 4096
  std::vector<Import> imports;
  LineTable lines;
};

/// Whole image as bytes, ending in a hash of all before it.
std::vector<std::byte> serialize(const KernelImage& image);

/// The way back. Errors: InvalidImage, saying what is wrong, for any bytes that serialize did not make: every offset
/// and size is checked against what it points into.
Result<KernelImage> deserialize(std::span<const std::byte> bytes);

}  // namespace cupola::image
