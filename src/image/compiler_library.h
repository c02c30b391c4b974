#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "image/compile_request.h"

namespace cupola::image {

/// libcupola-compiler, opened by path at run time and never closed: the way from the half that runs, and from tools, to
/// the half that compiles (src/compile/compile.h documents its two entries). LLVM's symbols stay local to it. Any
/// thread.
class CompilerLibrary {
 public:
  /// Error: JitCompilerNotFound with the loader's words and what to do.
  static Result<CompilerLibrary> open(const std::string& path);

  /// The one that goes with this library or program (compiler_path), opened at the first call.
  static const Result<CompilerLibrary>& ours();

  /// A serialised CompileRequest to what its target names. Errors: the compiler's code and line.
  Result<std::vector<std::byte>> compile(std::span<const std::byte> request) const;
  Result<std::vector<std::byte>> compile(const CompileRequest& request) const;

 private:
  using Compile = int (*)(const void* request, size_t request_bytes, void** output, size_t* output_bytes);
  using Free = void (*)(void* output);
  CompilerLibrary(Compile compile, Free free) : compile_(compile), free_(free) {}

  Compile compile_;
  Free free_;
};

/// Where the compiler is: the setting CUPOLA_COMPILER, or beside the library or program that this code is linked to.
std::string compiler_path();

}  // namespace cupola::image
