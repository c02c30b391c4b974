#include "cupolac/compiler_library.h"

#include "base/dynlib.h"

namespace cupola::cupolac {

Result<std::string> compile(const std::filesystem::path& libraries, const image::CompileRequest& request) {
  TRY(const DynLib library, DynLib::open((libraries / "libcupola-compiler.so").string()));
  TRY(void* entry, library.symbol("cupola_compile"));
  TRY(void* release, library.symbol("cupola_compile_free"));
  const std::vector<std::byte> bytes = image::serialize(request);
  void* output = nullptr;
  size_t size = 0;
  const int status = reinterpret_cast<int (*)(const void*, size_t, void**, size_t*)>(entry)(bytes.data(), bytes.size(),
                                                                                            &output, &size);
  const std::string answer(static_cast<const char*>(output), size);
  reinterpret_cast<void (*)(void*)>(release)(output);
  if (status != 0) return fail(static_cast<ErrorCode>(status), "{}", answer);
  return answer;
}

}  // namespace cupola::cupolac
