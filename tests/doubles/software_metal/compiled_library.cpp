// -[MTLDevice newLibraryWithData:error:], and the data of libdispatch that it takes.

#include <cstddef>

#include "backend/metal/metallib/check.h"
#include "doubles/air/air_program.h"
#include "doubles/software_metal/foundation.h"
#include "doubles/software_metal/library.h"

namespace cupola::software_metal {
namespace {

constexpr metallib::OsVersion kSystem = {15, 0, 0};  ///< the macOS that it is like
constexpr long kUnsupported = 1, kInternal = 2;

struct Data final : Object {
  explicit Data(std::span<const std::byte> of) : bytes(of.begin(), of.end()) {}
  const Class& isa() const override;
  std::vector<std::byte> bytes;
};
auto& data_class = *new Class("OS_dispatch_data", {}, {});

const Class& Data::isa() const {
  return data_class;
}

/// What a system of that version does not take, and what `cupola air validate` finds.
Result<> taken_by_system(const metallib::Library& library) {
  TRY(const metallib::Release system, metallib::release_of(kSystem.major));
  if (library.header.version > system.container || library.header.os > kSystem)
    return fail(ErrorCode::NotSupported, "the library is for a newer system: container {}",
                metallib::text_of(library.header.version));
  if (library.header.type != metallib::FileType::Executable)
    return fail(ErrorCode::NotSupported, "the library is not one of functions");
  for (const metallib::Function& function : library.functions)
    if (function.air > system.air || function.language > system.language)
      return fail(ErrorCode::NotSupported, "{} has AIR {} and MSL {}, newer than the system's", function.name,
                  metallib::text_of(function.air), metallib::text_of(function.language));
  const std::vector<std::string> problems =
      metallib::check(library, {.require_functions = true, .require_metadata = true});
  if (!problems.empty()) return fail(ErrorCode::InvalidImage, "{}", problems.front());
  return {};
}

Result<std::shared_ptr<doubles::MslProgram>> program_of(std::span<const std::byte> bytes) {
  TRY(const metallib::Library library, metallib::read(bytes));
  TRY(taken_by_system(library));
  std::vector<doubles::AirFunction> functions;
  for (const metallib::Function& function : library.functions)
    if (function.kind == metallib::FunctionKind::Kernel) functions.push_back({function.name, function.module});
  return doubles::compile_air(functions);
}

}  // namespace

Object* new_library_with_data(Object*, Selector, Object* data, Object** error) {
  const auto* const given = dynamic_cast<const Data*>(data);
  if (!given) refuse("newLibraryWithData: the argument is no dispatch_data_t");
  Result<std::shared_ptr<doubles::MslProgram>> program = program_of(given->bytes);
  if (program)
    return new Library(std::move(*program), {reinterpret_cast<const char*>(given->bytes.data()), given->bytes.size()});
  const long code = program.error().code == ErrorCode::NotSupported ? kUnsupported : kInternal;
  if (error) *error = autorelease(new ErrorObject(kLibraryErrors, code, program.error().message));
  return nullptr;
}

}  // namespace cupola::software_metal

// -- of libdispatch --

using namespace cupola::software_metal;

#define EXPORT extern "C" __attribute__((visibility("default")))

/// Without a destructor the bytes are copied, as the default one says.
EXPORT Object* dispatch_data_create(const void* bytes, size_t size, Object* queue, void* destructor) {
  if (queue || destructor) refuse("dispatch_data_create: this double has the default destructor only");
  return new Data({static_cast<const std::byte*>(bytes), size});
}
