#pragma once

#include <cstdint>
#include <string>

struct objc_object;
struct objc_selector;

// Metal's and Objective-C's types and numbers as far as Cupola uses them, by hand: no header of Apple's is needed.

namespace cupola::metal {

using Id = objc_object*;
using Selector = objc_selector*;
using Unsigned = unsigned long;  ///< NSUInteger
using Integer = long;            ///< NSInteger
#if defined(__APPLE__) && defined(__x86_64__)
using Bool = signed char;
#else
using Bool = bool;
#endif
struct Block;  ///< closures are only ever null here
using BlockPointer = Block*;

struct Size {  ///< MTLSize
  Unsigned width, height, depth;
};
struct SystemVersion {  ///< NSOperatingSystemVersion
  Integer major, minor, patch;
};

// Numbers of Metal's enumerations.
inline constexpr Unsigned kStorageShared = 0;  ///< MTLResourceStorageModeShared
inline constexpr Unsigned kUsageReadWrite = 3;
inline constexpr Integer kMathModeSafe = 0;
inline constexpr Unsigned kFailOnArchiveMiss = 4;  ///< MTLPipelineOptionFailOnBinaryArchiveMiss
inline constexpr Unsigned kStatusCompleted = 4;
inline constexpr Unsigned kMostInlineBytes = 4096;  ///< of setBytes:length:atIndex:

/// MTLLanguageVersion of "31": 3.1.
constexpr Unsigned language_version(uint32_t msl) {
  return Unsigned{msl / 10} << 16 | msl % 10;
}

/// A type as the Objective-C runtime writes it (Objective-C Runtime Programming Guide, "Type Encodings").
template <typename T>
struct Encoding;
// clang-format off
template <> struct Encoding<void> { static constexpr const char* text = "v"; };
template <> struct Encoding<Id> { static constexpr const char* text = "@"; };
template <> struct Encoding<Id*> { static constexpr const char* text = "^@"; };
template <> struct Encoding<Selector> { static constexpr const char* text = ":"; };
template <> struct Encoding<BlockPointer> { static constexpr const char* text = "@?"; };
template <> struct Encoding<unsigned long> { static constexpr const char* text = "Q"; };
template <> struct Encoding<unsigned long long> { static constexpr const char* text = "Q"; };
template <> struct Encoding<long> { static constexpr const char* text = "q"; };
template <> struct Encoding<bool> { static constexpr const char* text = "B"; };
template <> struct Encoding<signed char> { static constexpr const char* text = "c"; };
template <> struct Encoding<const char*> { static constexpr const char* text = "*"; };
template <> struct Encoding<void*> { static constexpr const char* text = "^v"; };
template <> struct Encoding<const void*> { static constexpr const char* text = "^v"; };
template <> struct Encoding<Size> { static constexpr const char* text = "{?=QQQ}"; };
template <> struct Encoding<SystemVersion> { static constexpr const char* text = "{?=qqq}"; };
// clang-format on

/// Of a method's result and parameters behind the receiver and the selector.
template <typename R, typename... A>
std::string encoding_of() {
  std::string text = std::string(Encoding<R>::text) + "@:";
  ((text += Encoding<A>::text), ...);
  return text;
}

}  // namespace cupola::metal
