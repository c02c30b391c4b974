#include "cuda/pipeline/driver.h"

#include <string>
#include <string_view>
#include <utility>

#include "base/dynlib.h"
#include "base/library_names.h"
#include "base/settings.h"

namespace cupola::pipeline {
namespace {

/// What the driver said of this thread's last failing call.
thread_local std::string last_reason;

/// The driver's line is "[time][thread][CUDA][E][call] message": the message.
void CUDA_CB keep_reason(void*, CUlogLevel, char* message, size_t length) {
  const std::string_view line(message, length);
  const size_t end = line.find("] ");
  last_reason = !line.starts_with('[') || end == std::string_view::npos ? line : line.substr(end + 2);
}

Result<DynLib> open_library() {
  const std::string beside = folder_of_code(reinterpret_cast<const void*>(&open_library)) + "/" + kDriverLibrary;
  if (const std::string& folder = settings().library_path; !folder.empty())
    if (auto library = DynLib::open(folder + "/" + kDriverLibrary)) return library;
  if (auto library = DynLib::open(beside)) return library;
  if (auto library = DynLib::open(kDriverLibrary)) return library;
  return fail(ErrorCode::InsufficientDriver,
              "{} was not found (tried {}): set CUPOLA_LIBRARY_PATH to the folder of Cupola's libraries",
              kDriverLibrary, beside);
}

// cuda.h's names are macros for the newest version of a function.
#define CUPOLA_TEXT_(x) #x
#define CUPOLA_TEXT(x) CUPOLA_TEXT_(x)

template <typename Function>
Result<> find(const DynLib& library, const char* name, Function*& function) {
  TRY(void* const symbol, library.symbol(name));
  function = reinterpret_cast<Function*>(symbol);
  return {};
}

Result<const Driver*> load() {
  TRY(const DynLib library, open_library());
  auto* const table = new Driver;  // leaked: used until the process ends
#define DRIVER_CALL(name) TRY(find(library, CUPOLA_TEXT(name), table->name));
#include "cuda/pipeline/driver_calls.def"
#undef DRIVER_CALL
  TRY(CU(*table, cuInit(0)));
  CUlogsCallbackHandle callback = nullptr;
  TRY(CU(*table, cuLogsRegisterCallback(&keep_reason, nullptr, &callback)));
  return table;
}

}  // namespace

Result<const Driver*> driver() {
  static const auto* const loaded = new Result<const Driver*>(load());
  return *loaded;
}

void forget_reason() {
  last_reason.clear();
}

Result<> check(const Driver& driver, CUresult status, const char* call) {
  if (status == CUDA_SUCCESS) return {};
  const char* name = nullptr;
  driver.cuGetErrorName(status, &name);
  const std::string_view function = std::string_view(call).substr(0, std::string_view(call).find('('));
  std::string text = formatted("{}: {}", function, name ? name : "unknown error");
  if (const std::string reason = std::exchange(last_reason, {}); !reason.empty()) text += ": " + reason;
  return fail(Error{static_cast<ErrorCode>(status), std::move(text)});
}

}  // namespace cupola::pipeline
