#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cupola::image {

enum class CodeKind : uint8_t { Kir, Ptx, KernelUnit, Nvvm, NvvmLibrary, Expression };

/// One piece of kernel code: kir bitcode or text, PTX text, the unit of a kernel that an image holds, or NVVM IR as
/// libnvvm takes it: bitcode or text, of LLVM 7 (whose pointers have types) or later; of an NvvmLibrary only what other
/// units use is taken. Or an expression of arrays (src/array/expression.h).
struct CodeUnit {
  CodeKind kind = CodeKind::Kir;
  std::vector<std::byte> bytes;
  bool operator==(const CodeUnit&) const = default;
};

/// What a compiler's options say of the code itself.
struct CodeOptions {
  bool flush_denormals = false;  ///< Nvvm: f32 arithmetic flushes denormals
  bool contract = true;          ///< Nvvm: a product and the sum that uses it are fused
  bool relocatable = false;      ///< "ptx:sm_89": what others may call stays, and what is defined nowhere is an extern
  bool approximate_roots = false, approximate_quotients = false;  ///< Nvvm: of f32, as kir::may_approximate has it
  bool externs = false;      ///< "ptx:sm_89": what is defined nowhere is an extern, though nothing else is left open
  bool keep_inline = false;  ///< Nvvm: functions that may be left out where nobody calls them stay for other modules
  bool operator==(const CodeOptions&) const = default;
};

/// What the run half asks of the compiler. Serialised, because it crosses a C boundary and is hashed for the cache key.
struct CompileRequest {
  std::string target;  ///< hal::DeviceProperties::image_target; or "kir", "ptx:sm_89", "explain": text made of the code
  std::string keep;    ///< folder for intermediate files, or empty (not part of the key)
  std::vector<CodeUnit> units;  ///< linked into one image; at least one
  /// Which code an image holds: empty: none, it is left for later; "all"; or, made of a KernelUnit alone, the code for
  /// some blocks (image::request_name of image/block_class.h). Of an explanation: which code it is of; empty or
  /// "all": that for each class of blocks.
  std::string code;
  CodeOptions options = {};
};

std::vector<std::byte> serialize(const CompileRequest& request);
Result<CompileRequest> deserialize_request(std::span<const std::byte> bytes);

/// Hash of what decides the result: format version, compiler, target, code. 128 bits as 32 hexadecimal digits.
/// `compiler` names the compiler that would be asked; file_identity() (cache.h) of its library is a good name.
std::string cache_key(const CompileRequest& request, std::string_view compiler = {});

}  // namespace cupola::image
