#include "cuda/nvml/library.h"

#include "base/library_names.h"
#include "base/settings.h"

namespace cupola::nvml {
namespace {

Result<> check(int status, const char* what) {
  if (status == 0) return {};
  return fail(static_cast<ErrorCode>(status), "libcuda's {} of the machine answers {}", what, status);
}

}  // namespace

Library& Library::get() {
  static auto* const instance = new Library;  // leaked: used after static destructors
  return *instance;
}

Result<DynLib> Library::open_driver() {
  if (const std::string& folder = settings().library_path; !folder.empty())
    if (auto library = DynLib::open(folder + "/" + kDriverLibrary)) return library;
  return DynLib::open(folder_of_code(reinterpret_cast<const void*>(&Library::get)) + "/" + kDriverLibrary);
}

Result<> Library::open() {
  TRY(const DynLib driver, open_driver());
  TRY(void* const symbol, driver.symbol("cuGetExportTable"));
  const auto table = reinterpret_cast<int (*)(const void**, const void*)>(symbol);
  const void* machine = nullptr;
  if (table(&machine, kMachineTableId) != 0 || !machine)
    return fail(ErrorCode::SharedObjectInitFailed, "the {} beside NVML's library is not Cupola's", kDriverLibrary);
  const auto& found = *static_cast<const MachineTable*>(machine);
  if (found.size < sizeof(MachineTable))
    return fail(ErrorCode::SharedObjectInitFailed, "the {} is older than NVML's library: take both from one build",
                kDriverLibrary);
  size_t count = 0;
  TRY(check(found.count(&count), "count"));
  for (size_t place = 0; place < count; ++place) devices_.push_back({place, found.facts(place)});
  machine_ = &found;
  processors_.begin();
  return {};
}

Result<> Library::begin() {
  Lock lock(mutex_);
  if (!machine_) TRY(open());
  ++users_;
  return {};
}

bool Library::end() {
  Lock lock(mutex_);
  if (users_ == 0) return false;
  --users_;
  return true;
}

bool Library::in_use() const {
  Lock lock(mutex_);
  return users_ > 0;
}

const Device* Library::device(nvmlDevice_t handle) const {
  for (const Device& device : devices_)
    if (&device == handle) return &device;
  return nullptr;
}

std::optional<int> Library::attribute(const Device& device, int number) const {
  int value = 0;
  if (!machine_->attribute(device.place, number, &value)) return std::nullopt;
  return value;
}

Result<MachineUse> Library::use(const Device& device) const {
  MachineUse use;
  TRY(check(machine_->use(device.place, &use), "use"));
  return use;
}

/// For stubs.cpp, which cannot see nvml.h.
bool in_use() {
  return Library::get().in_use();
}

}  // namespace cupola::nvml
