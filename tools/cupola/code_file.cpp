#include "cupola/code_file.h"

#include <algorithm>
#include <iostream>
#include <iterator>

#include "base/file.h"
#include "cupola/fatbin_scan.h"

namespace cupola::tool {
namespace {

using image::CodeKind;
using image::CodeUnit;
using image::FatbinKind;

CodeUnit unit_of(CodeKind kind, const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {kind, {bytes.begin(), bytes.end()}};
}

bool is_bitcode(std::string_view bytes) {
  return bytes.starts_with("BC\xC0\xDE") || bytes.starts_with("\xDE\xC0\x17\x0B");
}

bool is_text(std::string_view bytes) {
  return !bytes.substr(0, bytes.find_last_not_of('\0') + 1).contains('\0');
}

/// PTX begins a line with .version; LLVM's text has no such line.
bool is_ptx(std::string_view text) {
  for (size_t at = text.find(".version"); at != text.npos; at = text.find(".version", at + 1)) {
    const size_t before = text.find_last_not_of(" \t", at - 1);
    if (at == 0 || before == text.npos || text[before] == '\n' || text[before] == '/') return true;
  }
  return false;
}

CodeKind kind_of(const image::FatbinEntry& entry) {
  return entry.kind == FatbinKind::Ptx ? CodeKind::Ptx : CodeKind::Kir;
}

Result<CodeUnit> unit_of(const Fatbin& fatbin, CodeKind preferred) {
  const image::FatbinEntry* chosen = nullptr;
  for (const image::FatbinEntry& entry : fatbin.entries) {
    if (entry.kind != FatbinKind::Ptx && entry.kind != FatbinKind::Kir) continue;
    if (!chosen || (kind_of(entry) == preferred && kind_of(*chosen) != preferred)) chosen = &entry;
  }
  if (!chosen)
    return fail(ErrorCode::InvalidImage, "the fat binary at {:#x} holds neither PTX nor kir; 'cupola fatbin' lists it",
                fatbin.offset);
  TRY(std::vector<std::byte> bytes, image::contents(*chosen));
  return CodeUnit{kind_of(*chosen), std::move(bytes)};
}

}  // namespace

Result<std::string> read_all(const std::string& path) {
  if (path == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
  return read_file(path);
}

Result<CodeFile> read_code_file(const std::string& path, CodeKind preferred) {
  TRY(const std::string bytes, read_all(path));
  if (is_bitcode(bytes)) return CodeFile{{unit_of(CodeKind::Kir, bytes)}};
  if (!bytes.empty() && is_text(bytes))
    return CodeFile{{unit_of(is_ptx(bytes) ? CodeKind::Ptx : CodeKind::Kir, bytes)}};
  auto fatbins = find_fatbins(std::as_bytes(std::span(bytes)));
  if (!fatbins) return fail(ErrorCode::InvalidImage, "'{}': {}", path, fatbins.error().message);
  CodeFile file;
  for (const Fatbin& fatbin : *fatbins) {
    TRY(CodeUnit unit, unit_of(fatbin, preferred));
    file.units.push_back(std::move(unit));
  }
  return file;
}

}  // namespace cupola::tool
