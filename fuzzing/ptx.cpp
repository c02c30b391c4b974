#include <string>

#include "property.h"
#include "ptx/syntax/parser.h"
#include "ptx/syntax/printer.h"
#include "ptx/syntax/verify.h"

using namespace cupola;

/// Text becomes a module or an error that names a line; a module that is printed and read again prints the same.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Result<ptx::Module> module = ptx::parse(text);
  if (!module) {
    FUZZ_CHECK(module.error().code == ErrorCode::InvalidPtx);
    FUZZ_CHECK(module.error().message.starts_with("ptx: line "));
    return 0;
  }
  std::ignore = ptx::verify(*module);
  const std::string printed = ptx::print(*module);
  const Result<ptx::Module> again = ptx::parse(printed);
  FUZZ_CHECK(again);
  FUZZ_CHECK(ptx::print(*again) == printed);
  return 0;
}
