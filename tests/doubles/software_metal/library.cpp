#include "doubles/software_metal/library.h"

#include "doubles/software_metal/foundation.h"

namespace cupola::software_metal {
namespace {

constexpr unsigned long kNewestLanguage = 3 << 16 | 2;  ///< of macOS 15
constexpr long kUnsupported = 1, kCompileFailure = 3;

Object* failed(Object** error, long code, const std::string& words) {
  if (error) *error = autorelease(new ErrorObject(kLibraryErrors, code, words));
  return nullptr;
}

Object* new_options(Object*, Selector) {
  return new CompileOptions;
}
void set_fast_math(CompileOptions* self, Selector, bool on) {
  self->exact = !on;
}
void set_math_mode(CompileOptions* self, Selector, long mode) {
  if (mode < 0 || mode > 2) refuse_with("setMathMode: {} is no MTLMathMode", mode);
  self->exact = mode == 0;
}
void set_language(CompileOptions* self, Selector, unsigned long version) {
  self->language = version;
}

Object* new_function(Library* self, Selector, Object* name) {
  const std::string& wanted = text_of(name, "newFunctionWithName:");
  const auto all = self->program->functions();
  for (uint32_t i = 0; i < all.size(); ++i)
    if (all[i].name == wanted) return new Function(self, i);
  return nullptr;
}

unsigned long max_threads(Pipeline*, Selector) {
  return kMostThreads;
}
unsigned long simd_width(Pipeline*, Selector) {
  return kSimdWidth;
}

const Method kOptions[] = {
    {"setFastMathEnabled:", "v@:B", code(set_fast_math)},
    {"setMathMode:", "v@:q", code(set_math_mode)},
    {"setLanguageVersion:", "v@:Q", code(set_language)},
};
const Method kOptionsClass[] = {{"new", "@@:", code(new_options)}};
const Method kLibrary[] = {{"newFunctionWithName:", "@@:@", code(new_function)}};
const Method kPipeline[] = {
    {"maxTotalThreadsPerThreadgroup", "Q@:", code(max_threads)},
    {"threadExecutionWidth", "Q@:", code(simd_width)},
};

auto& options_class = *new Class("MTLCompileOptions", kOptions, kOptionsClass);
auto& library_class = *new Class("MTLLibrary", kLibrary, {});
auto& function_class = *new Class("MTLFunction", {}, {});
auto& pipeline_class = *new Class("MTLComputePipelineState", kPipeline, {});

}  // namespace

const Class& CompileOptions::isa() const {
  return options_class;
}
const Class& Library::isa() const {
  return library_class;
}
const Class& Function::isa() const {
  return function_class;
}
const Class& Pipeline::isa() const {
  return pipeline_class;
}

Object* new_library(Object*, Selector, Object* source, Object* options, Object** error) {
  const std::string& text = text_of(source, "newLibraryWithSource:");
  const auto* const chosen = dynamic_cast<const CompileOptions*>(options);
  if (!chosen) refuse("newLibraryWithSource: the options are no MTLCompileOptions");
  if (!chosen->exact) refuse("newLibraryWithSource: this double has no fast mathematics: ask for the safe mode");
  if (chosen->language > kNewestLanguage)
    return failed(error, kUnsupported, "this system has no such version of the language");
  Result<std::shared_ptr<doubles::MslProgram>> program = doubles::MslProgram::compile(text);
  if (!program) return failed(error, kCompileFailure, program.error().message);
  return new Library(std::move(*program), text);
}

}  // namespace cupola::software_metal
