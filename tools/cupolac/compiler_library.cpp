#include "cupolac/compiler_library.h"

#include "image/compiler_library.h"

namespace cupola::cupolac {

Result<std::string> compile(const std::filesystem::path& libraries, const image::CompileRequest& request) {
  TRY(const image::CompilerLibrary library,
      image::CompilerLibrary::open((libraries / "libcupola-compiler.so").string()));
  TRY(const std::vector<std::byte> answer, library.compile(request));
  return std::string(reinterpret_cast<const char*>(answer.data()), answer.size());
}

}  // namespace cupola::cupolac
