#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "objects.h"

namespace cupola::python {

using Shape = std::array<unsigned, 3>;

/// A kernel of a module, with what it takes. Any thread.
class Kernel {
 public:
  Kernel(std::shared_ptr<Module> module, const std::string& name, std::vector<Parameter> parameters);

  /// Starts it. `arguments` are as many as parameters: integers for pointers, numbers for scalars, bytes for everything
  /// else. Throws TypeError or OverflowError for one that does not fit what the kernel takes, before anything starts.
  void launch(const Shape& grid, const Shape& block, uint64_t stream, unsigned shared_bytes,
              nanobind::sequence arguments);

  int attribute(int number) const;

 private:
  /// Raises the most dynamic shared memory that a launch may ask for: another thread's launch may need more.
  void allow_shared(unsigned bytes);

  std::shared_ptr<Module> module_;
  CUfunction function_;
  std::vector<Parameter> parameters_;
  std::vector<size_t> offsets_;  ///< of each argument in what `launch` packs
  size_t packed_bytes_ = 0;
  std::mutex raising_;
  std::atomic<unsigned> allowed_shared_bytes_ = 48 << 10;  ///< raised under `raising_`; at first what needs no asking
};

}  // namespace cupola::python
