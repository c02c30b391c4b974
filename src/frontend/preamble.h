#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "frontend/places.h"

namespace cupola::frontend {

struct Preamble {
  /// Clang looks for the file that it was made of.
  static constexpr char kFile[] = "/cupola-program/preamble.h";
  std::string text;         ///< of that file
  std::string precompiled;  ///< for -include-pch
};

/// The preamble for words of words.h: include/cuda/cupola/rtc_preamble.h, then `headers` of Cupola's. Made once for
/// each set of words and headers in a process, and kept in the cache folder, if there is one, for others. A process
/// that has many sets of headers gets a preamble without them. Any thread; threads that want the same one wait for the
/// first.
Result<std::shared_ptr<const Preamble>> preamble(const std::vector<std::string>& language_words,
                                                 const std::vector<std::string>& headers, const Places& places,
                                                 const std::string& cache_folder);

}  // namespace cupola::frontend
