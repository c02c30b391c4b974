#pragma once

#include <string>

namespace cupola::frontend {

/// Folders that belong to this installation, relative to this library: lib, lib/cupola/clang, include/cuda.
struct Places {
  std::string headers;   ///< the CUDA headers
  std::string resource;  ///< clang's own headers lie in its `include`
  /// Names the contents of both and this library: what was precompiled with others is of no use.
  std::string identity;
};

/// Looked up once. Any thread.
const Places& places();

}  // namespace cupola::frontend
