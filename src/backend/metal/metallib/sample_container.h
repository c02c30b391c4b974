#pragma once

#include "backend/metal/metallib/sample_module.h"

// For tests: containers with something of everything.

namespace cupola::metallib {

inline Bytes bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

/// Two kernels with function constants, a line of source, sources, a name and reflection.
inline std::vector<std::byte> sample_container() {
  using namespace std::string_view_literals;
  const std::vector<std::byte> add = sample_module(), sub = sample_module({.function = "sub"});
  const FunctionSource functions[] = {{"add", FunctionKind::Kernel, add, {}, {}},
                                      {"sub", FunctionKind::Kernel, sub, {}, {}}};
  const std::vector<std::byte> plain = build(functions).value();
  Library library = read(plain).value();
  library.functions[0].public_metadata = {{"CNST", bytes_of("\1\0used\0\x35\7\0\1"sv)}};
  library.functions[1].private_metadata = {{"DEBI", bytes_of("\x2a\0\0\0/home/a.metal\0"sv)},
                                           {"DEPF", bytes_of("a\0"sv)}};

  ByteWriter sources, name, reflections;
  sources.number(uint32_t{1});
  sources.text("-O2");
  sources.text("/home");
  const uint64_t archive = sources.size() + sizeof(uint32_t);
  const Tag archives[] = {{"SARC", bytes_of("id\0BZh9"sv)}}, names[] = {{"NAME", bytes_of("sample.metallib\0"sv)}};
  (void)sources.group(archives, GroupSize::WithoutItself);
  (void)name.tags(names);
  reflections.number(uint32_t{2});
  for (Function& function : library.functions) {
    function.source = archive;
    function.reflection = reflections.size();
    function.tags.insert(function.tags.end(), {{"SOFF", {}}, {"RFLT", {}}});
    const Tag buffers[] = {{"RBUF", bytes_of("\0\0\0AIRR"sv)}};
    (void)reflections.group(buffers, GroupSize::WithItself);
  }
  const std::vector<std::byte> contents[] = {std::move(sources).finish(), std::move(name).finish(),
                                             std::move(reflections).finish()};
  library.extension->insert(library.extension->begin(),
                            {{"HSRD", contents[0], true}, {"HDYN", contents[1], true}, {"RLST", contents[2], true}});
  return write(library).value();
}

}  // namespace cupola::metallib
