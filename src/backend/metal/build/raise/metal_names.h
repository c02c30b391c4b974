#pragma once

#include <llvm/ADT/StringRef.h>

#include <set>
#include <string>

namespace cupola::metal::build {

/// Names of functions in Metal, no two alike: a prefix, so that none is a word of MSL, and the program's name, of which
/// what is no letter, digit or underscore is written as its number. Where two become one that way, the later gets a
/// number.
class MetalNames {
 public:
  std::string add(const char* prefix, llvm::StringRef name);

 private:
  std::set<std::string> taken_;
};

}  // namespace cupola::metal::build
