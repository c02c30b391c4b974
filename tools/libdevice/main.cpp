// make-libdevice device.bc c_library.bc libdevice.bc: a step of the build, which makes libdevice of the device library.

#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/Support/raw_ostream.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string_view>

#include "kir/kir.h"
#include "kir/libdevice.h"

namespace {

/// Functions of bits flush nothing; functions without a float have nothing to flush.
constexpr bool flushes(std::string_view family, std::string_view signature) {
  return family != "Bits" && signature.contains('f');
}

constexpr cupola::kir::LibdeviceFunction kFunctions[] = {
#define LIBDEVICE(name, signature, family, ...) {"__nv_" #name, flushes(#family, #signature)},
#include "device/libdevice.def"
#undef LIBDEVICE
};

std::vector<std::byte> read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  return {bytes, bytes + text.size()};
}

cupola::Result<> make(const char* device_library, const char* c_library, const char* result) {
  llvm::LLVMContext context;
  TRY(std::unique_ptr<llvm::Module> module, cupola::kir::read(context, read_file(device_library)));
  TRY(cupola::kir::to_libdevice(*module, kFunctions, read_file(c_library)));
  std::error_code error;
  llvm::raw_fd_ostream out(result, error);
  if (!error) llvm::WriteBitcodeToFile(*module, out);
  if (error || out.has_error())
    return fail(cupola::ErrorCode::OperatingSystem, "libdevice: '{}' cannot be written", result);
  return {};
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) {
    std::fprintf(stderr, "usage: make-libdevice device.bc c_library.bc libdevice.bc\n");
    return 2;
  }
  if (const auto made = make(arguments[1], arguments[2], arguments[3]); !made) {
    std::fprintf(stderr, "make-libdevice: %s\n", made.error().message.c_str());
    return 1;
  }
}
