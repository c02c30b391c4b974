#include "cupola/selftest/nvvm_check.h"

#include <string_view>

#include "base/dynlib.h"

// "libNVVM API" and "NVVM IR Specification".

namespace cupola::tool::selftest {
namespace {

constexpr std::string_view kModule = R"(target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
define void @twice(ptr %p) {
  %x = load i32, ptr %p
  %y = shl i32 %x, 1
  store i32 %y, ptr %p
  ret void
}
!nvvm.annotations = !{!0}
!0 = !{ptr @twice, !"kernel", i32 1}
!nvvmir.version = !{!1}
!1 = !{i32 2, i32 0}
)";

template <typename... Args>
Result<> call(const DynLib& library, const char* name, Args... args) {
  TRY(void* symbol, library.symbol(name));
  if (const int status = reinterpret_cast<int (*)(Args...)>(symbol)(args...); status != 0)
    return fail(ErrorCode::InvalidSource, "{} failed with error {}", name, status);
  return {};
}

}  // namespace

Result<std::string> check_nvvm(const std::filesystem::path& libraries) {
#if defined(__APPLE__)
  constexpr const char* kName = "libnvvm.dylib";
#else
  constexpr const char* kName = "libnvvm.so.4";
#endif
  TRY(const DynLib library, DynLib::open((libraries / kName).string()));
  void* program = nullptr;
  size_t size = 0;
  TRY(call(library, "nvvmCreateProgram", &program));
  TRY(call(library, "nvvmAddModuleToProgram", program, kModule.data(), kModule.size(), "selftest"));
  TRY(call(library, "nvvmCompileProgram", program, 0, static_cast<const char**>(nullptr)));
  TRY(call(library, "nvvmGetCompiledResultSize", program, &size));
  std::string ptx(size, '\0');
  TRY(call(library, "nvvmGetCompiledResult", program, ptx.data()));
  TRY(call(library, "nvvmDestroyProgram", &program));
  if (!ptx.contains(".entry twice")) return fail(ErrorCode::InvalidSource, "its PTX lacks the kernel");
  return formatted("{}, {} bytes of PTX", kName, ptx.size());
}

}  // namespace cupola::tool::selftest
