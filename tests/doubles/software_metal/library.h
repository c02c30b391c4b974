#pragma once

#include <mutex>

#include "doubles/msl/msl_program.h"
#include "doubles/software_metal/object.h"

namespace cupola::software_metal {

struct CompileOptions final : Object {
  const Class& isa() const override;
  bool exact = false;                    ///< no fast mathematics
  unsigned long language = 3 << 16 | 2;  ///< MTLLanguageVersion
};

struct Library final : Object {
  Library(std::shared_ptr<doubles::MslProgram> of, std::string what) : program(std::move(of)), code(std::move(what)) {}
  const Class& isa() const override;
  void dispose() override { program.reset(); }
  std::shared_ptr<doubles::MslProgram> program;
  const std::string code;  ///< the source, or the container
  std::mutex runs;         ///< of the program, one after the other
};

struct Function final : Object {
  Function(Library* of, uint32_t place) : library(of), index(place) {}
  const Class& isa() const override;
  void dispose() override { library = Kept<Library>(); }
  const doubles::MslFunction& signature() const { return library->program->functions()[index]; }
  Kept<Library> library;
  const uint32_t index;
};

struct Pipeline final : Object {
  explicit Pipeline(Function* of) : function(of) {}
  const Class& isa() const override;
  void dispose() override { function = Kept<Function>(); }
  Kept<Function> function;
};

inline constexpr unsigned long kMostThreads = 1024, kSimdWidth = 32;

inline constexpr const char* kLibraryErrors = "MTLLibraryErrorDomain";

/// -[MTLDevice newLibraryWithSource:options:error:], -newLibraryWithData:error:,
/// -newComputePipelineStateWithFunction:error:, -newComputePipelineStateWithDescriptor:options:reflection:error: and
/// -newBinaryArchiveWithDescriptor:error:
Object* new_library(Object* device, Selector, Object* source, Object* options, Object** error);
Object* new_library_with_data(Object* device, Selector, Object* data, Object** error);
Object* new_pipeline(Object* device, Selector, Object* function, Object** error);
Object* new_pipeline_with(Object* device, Selector, Object* descriptor, unsigned long options, Object** reflection,
                          Object** error);
Object* new_archive(Object* device, Selector, Object* descriptor, Object** error);

}  // namespace cupola::software_metal
