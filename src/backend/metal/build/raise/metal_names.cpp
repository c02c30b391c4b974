#include "backend/metal/build/raise/metal_names.h"

#include <llvm/ADT/StringExtras.h>

#include "base/format.h"

namespace cupola::metal::build {

std::string MetalNames::add(const char* prefix, llvm::StringRef name) {
  std::string text = prefix;
  for (const char c : name) {
    if (llvm::isAlnum(c) || c == '_')
      text += c;
    else
      text += formatted("_{:x}_", static_cast<unsigned char>(c));
  }
  std::string unique = text;
  for (unsigned number = 2; !taken_.insert(unique).second; ++number) unique = formatted("{}_{}", text, number);
  return unique;
}

}  // namespace cupola::metal::build
