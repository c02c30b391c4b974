#pragma once

// Copies of bytes in a row to, from and between CUDA arrays: cuMemcpyAtoH, cudaMemcpyToArray and their relatives, in
// both libraries. Bytes run through the rows of an array, one after another; a copy is made of boxes.

#include <cuda.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace cupola {

/// One side of such a copy: plain memory, or an array.
struct RowSide {
  CUmemorytype type = CU_MEMORYTYPE_HOST;
  void* host = nullptr;
  CUdeviceptr device = 0;
  CUarray array = nullptr;
  size_t offset = 0;      ///< of the array: the byte where the copy begins
  size_t row = SIZE_MAX;  ///< of the array: bytes of a row

  size_t left_in_row() const { return array ? row - offset % row : SIZE_MAX; }
};

/// A copy that lies within both sides, as boxes. Null pointers stay null, for the driver to refuse.
class RowCopy {
 public:
  RowCopy(const RowSide& to, const RowSide& from, size_t bytes) : to_(to), from_(from), left_(bytes) {}

  /// The next box: whole rows where both sides are at the beginning of one, else a part of a row. Nothing behind the
  /// last.
  std::optional<CUDA_MEMCPY2D> next() {
    if (left_ == 0) return {};
    CUDA_MEMCPY2D box{};
    box.WidthInBytes = std::min({left_, to_.left_in_row(), from_.left_in_row()});
    const bool alike = !to_.array || !from_.array || to_.row == from_.row;
    const bool whole = alike && box.WidthInBytes == std::min(to_.row, from_.row);
    box.Height = whole ? left_ / box.WidthInBytes : 1;
    box.srcMemoryType = from_.type, box.srcHost = from_.host, box.srcDevice = from_.device;
    box.dstMemoryType = to_.type, box.dstHost = to_.host, box.dstDevice = to_.device;
    box.srcPitch = box.dstPitch = box.WidthInBytes;
    if (from_.array)
      box.srcArray = from_.array, box.srcXInBytes = from_.offset % from_.row, box.srcY = from_.offset / from_.row;
    if (to_.array) box.dstArray = to_.array, box.dstXInBytes = to_.offset % to_.row, box.dstY = to_.offset / to_.row;
    const size_t moved = box.WidthInBytes * box.Height;
    left_ -= moved;
    advance(to_, moved);
    advance(from_, moved);
    return box;
  }

 private:
  static void advance(RowSide& side, size_t bytes) {
    side.offset += bytes;
    if (side.host) side.host = static_cast<char*>(side.host) + bytes;
    if (side.device) side.device += bytes;
  }

  RowSide to_, from_;
  size_t left_;
};

}  // namespace cupola
