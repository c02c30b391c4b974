#include "frontend/compile_source.h"

#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Frontend/FrontendActions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "frontend/clang_run.h"
#include "frontend/leading_headers.h"
#include "frontend/lowered_names.h"
#include "frontend/preamble.h"
#include "frontend/words.h"
#include "image/content_hash.h"
#include "kir/kir.h"

namespace cupola::frontend {
namespace {

// Deep, so that headers named "../../a.h" lie in it too.
constexpr char kProgramFolder[] = "/cupola-program/a/b/c/d/e/f/g/h";
constexpr char kProgramFile[] = "program.cu", kPrologueFile[] = "command line", kPreambleFile[] = "preamble.pch";

std::string in_program_folder(const std::string& name) {
  return name.starts_with('/') ? name : std::string(kProgramFolder) + "/" + name;
}

/// The name between quotes in a line directive.
std::string quoted(const std::string& name) {
  std::string text;
  for (const char c : name) {
    if (c == '"' || c == '\\') text += '\\';
    if (c != '\n') text += c;
  }
  return text;
}

/// -default-device: clang has no such mode, but its pragmas give an execution space to what has none.
constexpr char kDefaultDeviceBegin[] =
    "#pragma clang attribute push(__attribute__((device)), apply_to=variable(is_global))\n"
    "#pragma clang force_cuda_host_device begin\n";
constexpr char kDefaultDeviceEnd[] = "\n#pragma clang force_cuda_host_device end\n#pragma clang attribute pop";

/// assert() is built in; NDEBUG is the program's.
constexpr char kAssert[] =
    "#ifdef NDEBUG\n"
    "#define assert(condition) ((void)0)\n"
    "#else\n"
    "#define assert(condition) ((condition) ? (void)0 : __assert_fail(#condition, __FILE__, __LINE__, "
    "__PRETTY_FUNCTION__))\n"
    "#endif\n";

/// The files of one compilation.
struct Texts {
  explicit Texts(const image::SourceRequest& request) {
    const bool device = request.flags & image::kDefaultDevice;
    prologue = request.prologue + kAssert + (device ? kDefaultDeviceBegin : "");
    program = formatted("# 1 \"{}\"\n{}{}{}\n", quoted(request.name), request.source,
                        naming_text(request.name_expressions), device ? kDefaultDeviceEnd : "");
  }
  std::string prologue, program;
};

/// After clang: what the answer holds besides the log.
Result<> finish(llvm::Module& module, const image::SourceRequest& request, image::SourceAnswer& answer) {
  name_static_variables(module);
  TRY(answer.lowered_names, take_lowered_names(module, request.name_expressions));
  answer.kir = kir::write(module);
  return {};
}

}  // namespace

Result<image::SourceAnswer> compile_source(const image::SourceRequest& request) {
  TRY(std::vector<std::string> words, language_words(request, places()));
  TRY(const auto before, preamble(words, leading_headers(request, places()), places(), request.cache));
  for (std::string& word : program_words(request, places(), kProgramFolder)) words.push_back(std::move(word));
  const std::string pch = in_program_folder(kPreambleFile), program = in_program_folder(kProgramFile);
  for (const std::string& word : {std::string("-include-pch"), pch, std::string("-fno-validate-pch"),
                                  std::string("-include"), in_program_folder(kPrologueFile), program})
    words.push_back(word);

  const Texts texts(request);
  // What tells internal names of this program from those of others that it is linked with.
  if (request.flags & image::kRelocatable)
    words.push_back("-cuid=" + image::content_hash(image::serialize(request)).hex().substr(0, 16));
  Files files;
  for (const image::SourceHeader& header : request.headers) files.add(in_program_folder(header.name), header.text);
  files.add(pch, before->precompiled);
  files.add(Preamble::kFile, before->text);
  files.add(in_program_folder(kPrologueFile), texts.prologue);
  files.add(program, texts.program);

  MessageLog log(kProgramFolder);
  image::SourceAnswer answer;
  if (request.flags & image::kSyntaxOnly) {
    clang::SyntaxOnlyAction action;
    TRY(answer.compiled, run_clang(words, files, log, action));
  } else {
    llvm::LLVMContext context;
    clang::EmitLLVMOnlyAction action(&context);
    TRY(answer.compiled, run_clang(words, files, log, action));
    const std::unique_ptr<llvm::Module> module = action.takeModule();
    answer.compiled &= module != nullptr;
    if (answer.compiled)
      if (Result<> finished = finish(*module, request, answer); !finished) {
        answer.compiled = false;
        answer.log = formatted("error: {}\n", finished.error().message);
      }
  }
  answer.log = log.finished(request.name) + answer.log;
  return answer;
}

}  // namespace cupola::frontend
