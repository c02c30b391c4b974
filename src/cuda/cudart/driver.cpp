#include "cuda/cudart/driver.h"

#include <atomic>
#include <string>
#include <vector>

#include "base/dynlib.h"
#include "base/library_names.h"
#include "base/log.h"
#include "base/settings.h"

namespace cupola::cudart {
namespace {

std::atomic<const Driver*> replacement = nullptr, per_thread_replacement = nullptr;

std::vector<std::string> candidates() {
  std::vector<std::string> paths;
  if (const std::string& folder = settings().library_path; !folder.empty())
    paths.push_back(folder + "/" + kDriverLibrary);
  paths.push_back(folder_of_code(reinterpret_cast<const void*>(&driver)) + "/" + kDriverLibrary);
#ifdef CUPOLA_DEFAULT_LIBRARY_PATH
  paths.push_back(std::string(CUPOLA_DEFAULT_LIBRARY_PATH) + "/" + kDriverLibrary);
#endif
  paths.push_back(kDriverLibrary);  // the executable's RUNPATH, LD_LIBRARY_PATH, the system
  return paths;
}

Result<DynLib> open_library() {
  std::string tried;
  for (const std::string& path : candidates()) {
    if (auto library = DynLib::open(path)) return library;
    tried += (tried.empty() ? "" : ", ") + path;
  }
  return fail(ErrorCode::InsufficientDriver,
              "{} was not found (tried {}): set CUPOLA_LIBRARY_PATH to the folder of Cupola's libraries, or run "
              "the program with 'cupola run'",
              kDriverLibrary, tried);
}

#define CUPOLA_TEXT_(x) #x
#define CUPOLA_TEXT(x) CUPOLA_TEXT_(x)

struct Loaded {
  DynLib library;
  Driver table;
};

struct Slot {
  const char* name;
  void** function;
};

std::vector<Slot> slots_of(Driver& table) {
  return {
#define DRIVER_CALL(name) {CUPOLA_TEXT(name), reinterpret_cast<void**>(&table.name)},
#include "cuda/cudart/driver_calls.def"
#undef DRIVER_CALL
  };
}

/// The function for per-thread default streams; the plain one where there is no such variant.
void* variant(const DynLib& library, const Slot& slot) {
  for (const char* suffix : {"_ptsz", "_ptds"})
    if (auto function = library.symbol((std::string(slot.name) + suffix).c_str())) return *function;
  return *slot.function;
}

Result<const Loaded*> load() {
  TRY(DynLib library, open_library());
  auto* loaded = new Loaded{std::move(library), {}};  // leaked: used after static destructors
  for (const Slot& slot : slots_of(loaded->table)) {
    TRY(*slot.function, loaded->library.symbol(slot.name));
  }
  if (auto status = check(loaded->table.cuInit(0)); !status) {
    return fail(status.error().code, "cuInit failed with {}; 'cupola doctor' looks for the reason",
                static_cast<int>(status.error().code));
  }
  return loaded;
}

/// Most programs never ask for it.
const Driver* per_thread_table(const Loaded& loaded) {
  static const Driver* const table = [&] {
    auto* made = new Driver(loaded.table);
    for (const Slot& slot : slots_of(*made)) *slot.function = variant(loaded.library, slot);
    return made;
  }();
  return table;
}

}  // namespace

constinit thread_local int PerThreadStream::depth_ = 0;

Result<const Driver*> driver() {
  const bool per_thread = PerThreadStream::in_force();
  if (const Driver* other = (per_thread ? per_thread_replacement : replacement).load(std::memory_order_acquire))
    return other;
  static const auto* const loaded = new Result<const Loaded*>([] {
    auto first = load();
    if (!first) {  // said once, not at each call that then fails
      log::line(log::Topic::Error, "{}", first.error().message);
      first.error().message.clear();
    }
    return first;
  }());
  if (!*loaded) return fail((*loaded).error());
  return per_thread ? per_thread_table(***loaded) : &(**loaded)->table;
}

void use_driver(const Driver* other, const Driver* per_thread) {
  replacement.store(other, std::memory_order_release);
  per_thread_replacement.store(per_thread, std::memory_order_release);
}

Result<> check(CUresult status) {
  if (status == CUDA_SUCCESS) return {};
  return std::unexpected(Error{static_cast<ErrorCode>(status), {}});
}

}  // namespace cupola::cudart
