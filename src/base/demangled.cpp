#include "base/demangled.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace cupola {

std::string demangled(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) return symbol;  // the function takes types too: 'f' is float
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 ? std::string(text.get()) : symbol;
}

}  // namespace cupola
