#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "backend/metal/metallib/build.h"
#include "backend/metal/metallib/module_summary.h"

// For tests: a module of AIR with one empty kernel, written bit by bit after https://llvm.org/docs/BitCodeFormat.html,
// so that tests need neither LLVM nor a file of Apple's. LLVM 14 reads it.

namespace cupola::metallib {

struct SampleModule {
  std::string function = "add";
  std::string triple = "air64-apple-macosx13.0.0";
  uint32_t air[3] = {2, 5, 0};
  uint32_t language[3] = {3, 0, 0};
  bool opaque_pointers = false;
  bool air_metadata = true;  ///< else there is llvm.ident only
  std::string note;          ///< of kImageNote
};

/// Numbers of any width, one behind the other.
class BitWriter {
 public:
  void fixed(uint64_t value, unsigned bits) {
    for (unsigned i = 0; i < bits; ++i, ++bit_) {
      if (bit_ % 8 == 0) bytes_.push_back(std::byte{0});
      bytes_.back() |= static_cast<std::byte>((value >> i & 1) << bit_ % 8);
    }
  }
  void vbr(uint64_t value, unsigned bits) {
    const uint64_t more = uint64_t{1} << (bits - 1);
    for (; value >= more; value >>= bits - 1) fixed((value & (more - 1)) | more, bits);
    fixed(value, bits);
  }
  void align() {
    while (bit_ % 32) fixed(0, 1);
  }
  void bytes(Bytes value) {
    for (const std::byte byte : value) fixed(std::to_integer<uint64_t>(byte), 8);
  }

  void enter(unsigned block) {
    fixed(1, width());
    vbr(block, 8);
    vbr(kWidth, 4);
    align();
    fixed(0, 32);
    starts_.push_back(bytes_.size());
  }
  void leave() {
    fixed(0, width());
    align();
    const size_t start = starts_.back();
    starts_.pop_back();
    const auto words = static_cast<uint32_t>((bytes_.size() - start) / 4);
    std::memcpy(bytes_.data() + start - 4, &words, sizeof words);
  }
  void record(unsigned code, std::initializer_list<uint64_t> values) { record(code, std::vector<uint64_t>(values)); }
  void record(unsigned code, std::string_view text) { record(code, std::vector<uint64_t>(text.begin(), text.end())); }
  void record(unsigned code, const std::vector<uint64_t>& values) {
    fixed(3, width());
    vbr(code, 6);
    vbr(values.size(), 6);
    for (const uint64_t value : values) vbr(value, 6);
  }
  /// A record that ends in a blob, with an abbreviation of its own: the first that its block defines.
  void blob(unsigned code, std::initializer_list<uint64_t> values, Bytes contents) {
    fixed(2, width());
    vbr(values.size() + 2, 5);
    fixed(1, 1);
    vbr(code, 8);
    for (size_t i = 0; i < values.size(); ++i) {
      fixed(0, 1);
      fixed(2, 3);  // VBR
      vbr(6, 5);
    }
    fixed(0, 1);
    fixed(5, 3);  // blob
    fixed(4, width());
    for (const uint64_t value : values) vbr(value, 6);
    vbr(contents.size(), 6);
    align();
    bytes(contents);
    align();
  }

  std::vector<std::byte> finish() && { return std::move(bytes_); }

 private:
  static constexpr unsigned kWidth = 4;
  unsigned width() const { return starts_.empty() ? 2 : kWidth; }

  std::vector<std::byte> bytes_;
  uint64_t bit_ = 0;
  std::vector<size_t> starts_;
};

/// Metadata: strings first, then the values {function, six numbers}, then nodes.
inline void write_sample_metadata(BitWriter& out, const SampleModule& sample) {
  std::vector<std::string_view> strings = {"Cupola's sample", "Metal"};
  if (!sample.note.empty()) strings.push_back(sample.note);
  BitWriter lengths;
  std::string characters;
  for (const std::string_view text : strings) lengths.vbr(text.size(), 6), characters += text;
  lengths.align();
  std::vector<std::byte> blob = std::move(lengths).finish();
  const uint64_t offset = blob.size();
  for (const char c : characters) blob.push_back(static_cast<std::byte>(c));

  out.enter(15);
  out.blob(35, {strings.size(), offset}, blob);
  const uint64_t function = strings.size();
  for (uint64_t i = 0; i < 7; ++i) out.record(2, {i == 0 ? 2u : 3u, i});  // the function, AIR's numbers, the language's
  const uint64_t air = function + 1, language = air + 3, nodes = language + 3;
  // Operands of nodes are one more than the number; those of named nodes are the number.
  out.record(3, {1});                                            // nodes: the producer
  out.record(3, {air + 1, air + 2, air + 3});                    // nodes + 1
  out.record(3, {2, language + 1, language + 2, language + 3});  // nodes + 2
  out.record(3, {});                                             // nodes + 3
  out.record(3, {function + 1, nodes + 4, nodes + 4});           // nodes + 4: the kernel
  if (!sample.note.empty()) out.record(3, {3});                  // nodes + 5
  out.record(4, "llvm.ident");
  out.record(10, {nodes});
  if (sample.air_metadata) {
    out.record(4, "air.version");
    out.record(10, {nodes + 1});
    out.record(4, "air.language_version");
    out.record(10, {nodes + 2});
    out.record(4, "air.kernel");
    out.record(10, {nodes + 4});
  }
  if (!sample.note.empty()) {
    out.record(4, kImageNote);
    out.record(10, {nodes + 5});
  }
  out.leave();
}

inline std::vector<std::byte> sample_module(const SampleModule& sample = {}) {
  BitWriter out;
  out.fixed(0xDEC04342, 32);
  out.enter(13);
  out.record(1, "LLVM sample");
  out.record(2, {0});
  out.leave();
  out.enter(8);
  out.record(1, {2});
  out.record(2, sample.triple);
  out.enter(17);  // types: void, void(), pointer, i32, metadata
  out.record(1, {5});
  out.record(2, {});
  out.record(21, {0, 0});
  sample.opaque_pointers ? out.record(25, {0}) : out.record(8, {1, 0});
  out.record(7, {32});
  out.record(16, {});
  out.leave();
  out.record(8, {0, sample.function.size(), 1, 0, 0, 0, 0, 0, 0, 0, 0});  // the function is value 0
  out.enter(11);
  out.record(1, {3});
  for (const auto& numbers : {sample.air, sample.language})  // values 1..6
    for (int i = 0; i < 3; ++i) out.record(4, {uint64_t{numbers[i]} << 1});
  out.leave();
  write_sample_metadata(out, sample);
  out.enter(12);  // the function's code: one block, which returns
  out.record(1, {1});
  out.record(10, {});
  out.leave();
  out.leave();
  out.enter(23);
  out.blob(1, {}, std::as_bytes(std::span(sample.function)));
  out.leave();
  return std::move(out).finish();
}

}  // namespace cupola::metallib
