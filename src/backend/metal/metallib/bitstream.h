#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "backend/metal/metallib/tags.h"

// LLVM's bitstream container (https://llvm.org/docs/BitCodeFormat.html#bitstream-format), as far as a reader needs it
// that looks at some blocks and skips the others. The half that runs has no LLVM, hence a reader of our own.

namespace cupola::metallib {

struct Record {
  uint32_t code = 0;
  std::vector<uint64_t> values;
  Bytes blob;

  /// Values from `first` on as characters.
  std::string text(size_t first = 0) const;
};

/// What an abbreviated record's field looks like.
struct AbbreviationField {
  enum class Encoding : uint8_t { Literal = 0, Fixed = 1, Vbr = 2, Array = 3, Char6 = 4, Blob = 5 };
  Encoding encoding = Encoding::Literal;
  uint64_t value = 0;  ///< the literal, or how many bits
};
using Abbreviation = std::vector<AbbreviationField>;
/// Shared: every block of a kind has those of BLOCKINFO.
using Abbreviations = std::vector<std::shared_ptr<const Abbreviation>>;

/// Walks through a bitstream block by block. Nothing is read outside; errors are InvalidImage and name the bit.
class BitstreamReader {
 public:
  explicit BitstreamReader(Bytes bytes) : bytes_(bytes) {}

  struct Item {
    enum class Kind : uint8_t { End, Block, Record } kind = Kind::End;
    uint32_t block = 0;  ///< the block's number
    Record record;
  };

  Result<uint32_t> word();  ///< the next 32 bits
  bool at_end() const;      ///< fewer than 32 bits are left

  /// The next thing in the block that is entered: a record, a block (enter or skip it), or the end, which leaves the
  /// block; outside all blocks, the end of the bytes. BLOCKINFO is read on the way.
  Result<Item> next();
  Result<> enter();  ///< the block that next() told of
  void skip() { bit_ = next_end_; }
  Result<uint64_t> vbr(uint64_t bits);  ///< a number in chunks of so many bits

 private:
  struct Scope {
    uint32_t block;
    unsigned width;  ///< of an abbreviation's number
    Abbreviations abbreviations;
  };
  static constexpr size_t kMostScopes = 16;

  std::unexpected<Error> wrong(std::string_view what) const;
  Result<uint64_t> fixed(uint64_t bits);
  Result<> align();
  Result<uint64_t> field(AbbreviationField field);
  Result<std::shared_ptr<const Abbreviation>> abbreviation();
  Result<Record> unabbreviated_record();
  Result<Record> abbreviated_record(const Abbreviation& abbreviation);
  Result<> read_block_info();

  Bytes bytes_;
  uint64_t bit_ = 0;
  std::vector<Scope> scopes_;
  std::map<uint32_t, Abbreviations> block_info_;
  // Of the block that next() told of:
  uint32_t next_block_ = 0;
  unsigned next_width_ = 0;
  uint64_t next_end_ = 0;  ///< as a bit
};

}  // namespace cupola::metallib
