#include "cupola/air_report.h"

#include <algorithm>

#include "backend/metal/metallib/module_summary.h"
#include "cupola/json.h"

namespace cupola::tool {
namespace {

using namespace metallib;

constexpr std::string_view kNotShown =
    "not shown: the code of the modules (llvm-dis of LLVM 14 reads it), what reflection and source archives contain\n";

template <typename T>
struct NamedValue {
  T value;
  std::string_view name;
};

constexpr NamedValue<FileType> kFileTypes[] = {{FileType::Executable, "executable"},
                                               {FileType::CoreImage, "Core Image"},
                                               {FileType::Dynamic, "dynamic library"},
                                               {FileType::SymbolCompanion, "symbol companion"}};
constexpr NamedValue<Platform> kPlatforms[] = {
    {Platform::Unknown, "unsaid"}, {Platform::MacOs, "macOS"}, {Platform::Ios, "iOS"}};
constexpr NamedValue<FunctionKind> kKinds[] = {{FunctionKind::Vertex, "vertex"},
                                               {FunctionKind::Fragment, "fragment"},
                                               {FunctionKind::Kernel, "kernel"},
                                               {FunctionKind::Unqualified, "unqualified"},
                                               {FunctionKind::Visible, "visible"},
                                               {FunctionKind::Extern, "extern"},
                                               {FunctionKind::Intersection, "intersection"}};

template <typename T, size_t count>
std::string name_of(T value, const NamedValue<T> (&table)[count]) {
  for (const NamedValue<T>& row : table)
    if (row.value == value) return std::string(row.name);
  return formatted("{}", static_cast<unsigned>(value));
}

std::string text_of(OsVersion version) {
  return formatted("{}.{}.{}", version.major, version.minor, version.patch);
}

std::string dotted(const std::vector<uint64_t>& numbers) {
  std::string text;
  for (const uint64_t number : numbers) text += (text.empty() ? "" : ".") + std::to_string(number);
  return text;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + printable(word);
  return text;
}

size_t right_hashes(const Library& library) {
  return static_cast<size_t>(std::ranges::count_if(library.functions, is_hash_right));
}

// -- text --

std::string tags_text(std::span<const Tag> tags) {
  std::string text;
  for (const Tag& tag : tags)
    text += formatted("{}{} ({} bytes)", text.empty() ? "" : ", ", metallib::text_of(tag.name), tag.value.size());
  return text.empty() ? "none" : text;
}

std::string constants_text(const Function& function) {
  const auto constants = function_constants(function);
  if (!constants) return formatted("    function constants: {}\n", constants.error().message);
  std::string text;
  for (const FunctionConstant& constant : *constants)
    text += formatted("    function constant {} '{}', MTLDataType {}{}\n", constant.index, printable(constant.name),
                      constant.type, constant.active ? "" : ", not active");
  return text;
}

std::string line_text(const Function& function) {
  const auto line = debug_line(function);
  if (!line) return formatted("    source: {}\n", line.error().message);
  return *line ? formatted("    source: {}:{}\n", printable((*line)->path), (*line)->line) : "";
}

std::string module_text(const Function& function) {
  const Result<ModuleSummary> module = summarize(function.module);
  if (!module) return formatted("    module: {}\n", module.error().message);
  const auto row = [](std::string_view name, const std::string& value) {
    return value.empty() ? "" : formatted("    {}: {}\n", name, value);
  };
  return formatted("    module: {} bytes, {} of bitcode{}, {} pointers\n", function.module.size(),
                   module->bitcode_bytes, module->wrapper_bytes ? " in a wrapper" : "",
                   module->opaque_pointers  ? "opaque"
                   : module->typed_pointers ? "typed"
                                            : "no") +
         row("triple", printable(module->triple)) + row("written by", printable(module->identification)) +
         row("producer", printable(module->producer)) + row("source file", printable(module->source_file)) +
         row("AIR of the module", dotted(module->air_version)) +
         row("language of the module", printable(module->language) + " " + dotted(module->language_version)) +
         row("compiled with", joined(module->compile_options)) + row("kernels of the module", joined(module->kernels)) +
         row("functions defined", joined(module->defined)) + row("functions declared", joined(module->declared)) +
         row("named metadata", joined(module->named_metadata));
}

std::string function_text(const Function& function) {
  std::string text =
      formatted("function '{}': {}, AIR {}, MSL {}\n", printable(function.name), name_of(function.kind, kKinds),
                metallib::text_of(function.air), metallib::text_of(function.language));
  text += formatted("    hash: {} {}\n", hex(function.hash), is_hash_right(function) ? "right" : "WRONG");
  text += module_text(function);
  text += formatted("    public metadata: {}; private: {}\n", tags_text(function.public_metadata),
                    tags_text(function.private_metadata));
  return text + constants_text(function) + line_text(function);
}

std::string extension_text(const Library& library) {
  if (!library.extension) return "header extension: none\n";
  std::string text = library.extension->empty() ? "header extension: empty" : "header extension:";
  for (const Extension& extension : *library.extension) {
    text += formatted(" {}", metallib::text_of(extension.name));
    text += extension.name == TagName("UUID") ? formatted(" {}", hex(extension.contents))
                                              : formatted(" {} bytes", extension.contents.size());
  }
  return text + "\n";
}

std::string contents_text(const Library& library) {
  std::string text;
  if (const auto name = library_name(library); name && *name)
    text += formatted("library name: {}\n", printable(**name));
  if (const auto found = sources(library); found && *found) {
    text += formatted("sources: options '{}'", printable((*found)->options));
    if ((*found)->directory) text += formatted(", folder '{}'", printable(*(*found)->directory));
    for (const Sources::Archive& archive : (*found)->archives)
      text += formatted("; archive '{}' of {} bytes", printable(archive.id), archive.contents.size());
    text += '\n';
  }
  if (const auto found = reflections(library); found && !found->empty())
    text += formatted("reflection: {} buffers\n", found->size());
  return text;
}

// -- JSON --

std::string json_name(std::string_view bytes) {
  return json_string(printable(bytes));
}

std::string json_bool(bool value) {
  return value ? "true" : "false";
}

std::string json_names(const std::vector<std::string>& names) {
  std::vector<std::string> values;
  for (const std::string& name : names) values.push_back(json_name(name));
  return json_array(values);
}

std::string json_tags(std::span<const Tag> tags) {
  std::vector<std::string> values;
  for (const Tag& tag : tags)
    values.push_back(
        json_object({{"tag", json_string(metallib::text_of(tag.name))}, {"bytes", std::to_string(tag.value.size())}}));
  return json_array(values);
}

std::string json_module(const Function& function) {
  const Result<ModuleSummary> module = summarize(function.module);
  if (!module) return json_object({{"error", json_name(module.error().message)}});
  return json_object({{"bytes", std::to_string(function.module.size())},
                      {"wrapper_bytes", std::to_string(module->wrapper_bytes)},
                      {"bitcode_bytes", std::to_string(module->bitcode_bytes)},
                      {"identification", json_name(module->identification)},
                      {"triple", json_name(module->triple)},
                      {"data_layout", json_name(module->data_layout)},
                      {"source_file", json_name(module->source_file)},
                      {"producer", json_name(module->producer)},
                      {"typed_pointers", json_bool(module->typed_pointers)},
                      {"opaque_pointers", json_bool(module->opaque_pointers)},
                      {"air_version", json_string(dotted(module->air_version))},
                      {"language", json_name(module->language)},
                      {"language_version", json_string(dotted(module->language_version))},
                      {"compile_options", json_names(module->compile_options)},
                      {"kernels", json_names(module->kernels)},
                      {"defined", json_names(module->defined)},
                      {"declared", json_names(module->declared)},
                      {"named_metadata", json_names(module->named_metadata)}});
}

std::string json_function(const Function& function) {
  std::vector<std::pair<std::string, std::string>> members = {
      {"name", json_name(function.name)},
      {"kind", json_string(name_of(function.kind, kKinds))},
      {"air", json_string(metallib::text_of(function.air))},
      {"msl", json_string(metallib::text_of(function.language))},
      {"hash", json_string(hex(function.hash))},
      {"hash_is_right", json_bool(is_hash_right(function))},
      {"module", json_module(function)},
      {"public_metadata", json_tags(function.public_metadata)},
      {"private_metadata", json_tags(function.private_metadata)}};
  if (const auto constants = function_constants(function); constants) {
    std::vector<std::string> values;
    for (const FunctionConstant& constant : *constants)
      values.push_back(json_object({{"name", json_name(constant.name)},
                                    {"index", std::to_string(constant.index)},
                                    {"type", std::to_string(constant.type)},
                                    {"active", json_bool(constant.active)}}));
    members.emplace_back("constants", json_array(values));
  }
  if (const auto line = debug_line(function); line && *line)
    members.emplace_back("source",
                         json_object({{"path", json_name((*line)->path)}, {"line", std::to_string((*line)->line)}}));
  return json_object(members);
}

}  // namespace

std::string air_text(const Library& library, uint64_t file_bytes) {
  const Header& header = library.header;
  std::string text = formatted("container {}, {}{}, {} bytes\n", metallib::text_of(header.version),
                               name_of(header.type, kFileTypes), header.stub ? " (stub)" : "", file_bytes);
  text += formatted("platform: {}{}, system {} or newer\n", name_of(header.platform, kPlatforms),
                    header.is_64bit ? ", 64-bit" : "", text_of(header.os));
  text += extension_text(library) + contents_text(library);
  text += formatted("functions: {}, {} hashes right\n", library.functions.size(), right_hashes(library));
  for (const Function& function : library.functions) text += function_text(function);
  return text.append(kNotShown);
}

std::string air_json(const Library& library, uint64_t file_bytes) {
  const Header& header = library.header;
  std::vector<std::string> extension, functions;
  if (library.extension)
    for (const Extension& each : *library.extension)
      extension.push_back(json_object({{"tag", json_string(metallib::text_of(each.name))},
                                       {"bytes", std::to_string(each.contents.size())},
                                       {"is_section", json_bool(each.is_section)}}));
  for (const Function& function : library.functions) functions.push_back(json_function(function));
  return json_object({{"bytes", std::to_string(file_bytes)},
                      {"container", json_string(metallib::text_of(header.version))},
                      {"type", json_string(name_of(header.type, kFileTypes))},
                      {"stub", json_bool(header.stub)},
                      {"for_macos", json_bool(header.for_macos)},
                      {"platform", json_string(name_of(header.platform, kPlatforms))},
                      {"is_64bit", json_bool(header.is_64bit)},
                      {"system", json_string(text_of(header.os))},
                      {"extension", json_array(extension)},
                      {"hashes_right", std::to_string(right_hashes(library))},
                      {"functions", json_array(functions)}}) +
         "\n";
}

}  // namespace cupola::tool
