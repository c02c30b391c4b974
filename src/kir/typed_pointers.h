#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cupola::kir {

/// LLVM's text of before version 17, whose pointers say what they point to ("i32 addrspace(3)*"), with opaque pointers
/// ("ptr addrspace(3)"); `byval` and `sret` parameters are given the type that their pointer named. Nothing for text
/// that has no such pointer. What is not a type stays as it is, so that errors are the reader's of the result; line
/// numbers do not change. "LLVM Language Reference Manual", of version 7 for what comes in.
std::optional<std::string> with_opaque_pointers(std::string_view text);

}  // namespace cupola::kir
