#include "frontend/preamble.h"

#include <clang/Serialization/ASTWriter.h>
#include <clang/Serialization/PCHContainerOperations.h>

#include <map>

#include "base/mutex.h"
#include "frontend/clang_run.h"
#include "image/cache.h"
#include "image/content_hash.h"

namespace cupola::frontend {
namespace {

using Shared = std::shared_ptr<const Preamble>;

/// Clang's own action for this writes to a file.
class Precompile : public clang::ASTFrontendAction {
 public:
  std::shared_ptr<clang::PCHBuffer> buffer = std::make_shared<clang::PCHBuffer>();

  bool BeginSourceFileAction(clang::CompilerInstance& compiler) override {
    compiler.getLangOpts().CompilingPCH = true;
    return true;
  }
  clang::TranslationUnitKind getTranslationUnitKind() override { return clang::TU_Prefix; }
  bool hasASTFileSupport() const override { return false; }
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler, llvm::StringRef) override {
    return std::make_unique<clang::PCHGenerator>(compiler.getPreprocessor(), compiler.getModuleCache(), "", "", buffer,
                                                 compiler.getCodeGenOpts(),
                                                 llvm::ArrayRef<std::shared_ptr<clang::ModuleFileExtension>>());
  }
};

/// What the preamble includes, as text.
std::string text_of(const std::vector<std::string>& headers) {
  std::string text = "#include <cupola/rtc_preamble.h>\n";
  for (const std::string& header : headers) text += formatted("#include <{}>\n", header);
  return text;
}

Result<Shared> precompile(std::vector<std::string> words, const std::string& text, const Places& places) {
  for (const char* folder : {"/cupola/rtc_private", ""})
    words.insert(words.end(), {"-isystem", places.headers + folder});
  words.insert(words.end(), {"-isystem", places.resource + "/include", "-idirafter", places.headers + "/cupola/rtc"});
  words.push_back(Preamble::kFile);
  Files files;
  files.add(Preamble::kFile, text);
  MessageLog log("");
  Precompile action;
  TRY(const bool compiled, run_clang(words, files, log, action));
  if (!compiled || !action.buffer->IsComplete)
    return fail(ErrorCode::JitCompilerNotFound, "frontend: Cupola's headers do not compile; install it again: {}",
                log.finished(Preamble::kFile));
  return std::make_shared<const Preamble>(text, std::string(action.buffer->Data.data(), action.buffer->Data.size()));
}

std::string key_of(const std::vector<std::string>& words, const std::string& text, const Places& places) {
  std::string all = places.identity + '\n' + text;
  for (const std::string& word : words) all += '\n' + word;
  return image::content_hash(std::as_bytes(std::span(all))).hex();
}

Result<Shared> find_or_precompile(const std::vector<std::string>& words, const std::string& text, const Places& places,
                                  const std::string& key, const std::string& cache_folder) {
  image::DiskCache cache(cache_folder);
  if (const auto kept = cache.get("preamble-" + key))
    return std::make_shared<const Preamble>(text,
                                            std::string(reinterpret_cast<const char*>(kept->data()), kept->size()));
  TRY(Shared made, precompile(words, text, places));
  cache.put("preamble-" + key, std::as_bytes(std::span(made->precompiled)));
  return made;
}

struct Entry {
  Mutex mutex;
  Shared preamble GUARDED_BY(mutex);
};

constexpr size_t kMostEntries = 32;  // of some 3 MB each

/// Null if there are many already, and this one may be left out.
std::shared_ptr<Entry> entry_of(const std::string& key, bool may_be_left_out) {
  static auto* const mutex = new Mutex;
  static auto* const entries = new std::map<std::string, std::shared_ptr<Entry>>;
  const Lock lock(*mutex);
  if (may_be_left_out && entries->size() >= kMostEntries && !entries->contains(key)) return nullptr;
  std::shared_ptr<Entry>& entry = (*entries)[key];
  if (!entry) entry = std::make_shared<Entry>();
  return entry;
}

}  // namespace

Result<Shared> preamble(const std::vector<std::string>& language_words, const std::vector<std::string>& headers,
                        const Places& places, const std::string& cache_folder) {
  const std::string text = text_of(headers);
  const std::string key = key_of(language_words, text, places);
  const std::shared_ptr<Entry> entry = entry_of(key, !headers.empty());
  if (!entry) return preamble(language_words, {}, places, cache_folder);
  const Lock lock(entry->mutex);
  if (!entry->preamble) {
    TRY(entry->preamble, find_or_precompile(language_words, text, places, key, cache_folder));
  }
  return entry->preamble;
}

}  // namespace cupola::frontend
