#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace cupola::image {

/// A file that exists in memory only.
struct SourceHeader {
  std::string name;  ///< as #include directives write it
  std::string text;
  bool operator==(const SourceHeader&) const = default;
};

/// What is asked of libcupola-frontend: kir of a CUDA C++ source. Serialised, because it crosses a C boundary.
struct SourceRequest {
  std::string name;      ///< of the source, for messages; its folder is searched for "headers"
  std::string source;    ///< its text
  std::string prologue;  ///< what comes before its first line: #define, #include
  std::vector<SourceHeader> headers;
  std::vector<std::string> include_folders;   ///< searched in this order
  std::vector<std::string> name_expressions;  ///< whose lowered names are wanted; what they name is instantiated
  std::string architecture = "sm_89";         ///< what __CUDA_ARCH__ says, with its suffix
  std::string standard = "c++17";
  std::string cache;  ///< folder that keeps the precompiled preamble; empty: none does
  /// SourceFlag bits.
  uint32_t flags = 0;

  bool operator==(const SourceRequest&) const = default;
};

enum SourceFlag : uint32_t {
  kDefaultDevice = 1 << 0,  ///< a function or variable without an execution space is the device's
  kRelocatable = 1 << 1,    ///< code that is linked with other files'
  kNoContraction = 1 << 2,  ///< a * b + c is rounded twice
  kFlushDenormals = 1 << 3,
  kFastMath = 1 << 4,  ///< sinf and its like are their fast versions
  kDebug = 1 << 5,     ///< __CUDACC_DEBUG__, and line numbers
  kLineNumbers = 1 << 6,
  kNoWarnings = 1 << 7,
  kWarningsAsErrors = 1 << 8,
  kNoInitializerList = 1 << 9,      ///< no built-in std::initializer_list
  kNoMoveForward = 1 << 10,         ///< no built-in std::move and std::forward
  kMinimal = 1 << 11,               ///< __CUDACC_RTC_MINIMAL__
  kNoSourceFolder = 1 << 12,        ///< the folder of `name` is not searched
  kInt128 = 1 << 13,                ///< __int128 is announced
  kSyntaxOnly = 1 << 14,            ///< no code is made
  kReorder = 1 << 15,               ///< warn about initialisers out of order
  kApproximateQuotients = 1 << 16,  ///< of f32; with kFastMath they are __fdividef's
  kApproximateRoots = 1 << 17,      ///< of f32
  kAllFlags = (1 << 18) - 1,
};

/// What becomes of it. A source with errors is an answer too.
struct SourceAnswer {
  bool compiled = false;
  std::string log;                         ///< messages, as people read them; empty if there are none
  std::vector<std::byte> kir;              ///< bitcode; empty if it was not compiled
  std::vector<std::string> lowered_names;  ///< one for each of name_expressions
  bool operator==(const SourceAnswer&) const = default;
};

std::vector<std::byte> serialize(const SourceRequest& request);
std::vector<std::byte> serialize(const SourceAnswer& answer);
Result<SourceRequest> deserialize_source_request(std::span<const std::byte> bytes);
Result<SourceAnswer> deserialize_source_answer(std::span<const std::byte> bytes);

}  // namespace cupola::image
