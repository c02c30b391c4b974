#include "backend/metal/metallib/module_summary.h"

#include <unordered_map>

#include "backend/metal/metallib/bitcode_wrapper.h"
#include "backend/metal/metallib/bitstream.h"

// Numbers of blocks and records: llvm/Bitcode/LLVMBitCodes.h (https://llvm.org/docs/BitCodeFormat.html).

namespace cupola::metallib {
namespace {

using Item = BitstreamReader::Item;

enum BlockNumber : uint32_t {
  kModule = 8,
  kConstants = 11,
  kIdentification = 13,
  kMetadata = 15,
  kTypes = 17,
  kStrings = 23
};

namespace identification_record {
enum : uint32_t { Text = 1, Epoch = 2 };
}
namespace module_record {
enum : uint32_t {
  Version = 1,
  Triple = 2,
  DataLayout = 3,
  GlobalVariable = 7,
  Function = 8,
  Alias = 14,
  SourceFile = 16,
  Ifunc = 15
};
}
namespace type_record {
enum : uint32_t { Pointer = 8, OpaquePointer = 25 };
}
namespace constants_record {
enum : uint32_t { SetType = 1, Null = 2, Integer = 4 };
}
namespace metadata_record {
enum : uint32_t {
  Value = 2,
  Node = 3,
  Name = 4,
  Kind = 6,
  NamedNode = 10,
  Attachment = 11,
  Strings = 35,
  GlobalAttachment = 36,
  IndexOffset = 38,
  Index = 39
};
}

/// Numbers are written with the sign in the lowest bit.
uint64_t integer_of(uint64_t stored) {
  return stored & 1 ? ~(stored >> 1) + 1 : stored >> 1;
}

class Summarizer {
 public:
  explicit Summarizer(Bytes bitcode) : reader_(bitcode) {}

  Result<ModuleSummary> read() {
    TRY(reader_.word());  // the magic
    while (!reader_.at_end()) {
      TRY(const Item item, reader_.next());
      if (item.kind == Item::Kind::Block) TRY(read_block(item.block));
    }
    if (!has_module_) return fail(ErrorCode::InvalidImage, "bitcode: it holds no module");
    TRY(name_functions());
    resolve_metadata();
    return std::move(summary_);
  }

 private:
  struct FunctionRecord {
    uint64_t name_offset, name_bytes;
    bool declared;
    uint64_t value;
  };

  Result<> read_block(uint32_t block) {
    switch (block) {
      case kModule:
        has_module_ = true;
        break;
      case kIdentification:
      case kTypes:
      case kConstants:
      case kMetadata:
      case kStrings:
        break;
      default:
        reader_.skip();
        return {};
    }
    TRY(reader_.enter());
    while (true) {
      TRY(Item item, reader_.next());
      switch (item.kind) {
        case Item::Kind::End:
          return {};
        case Item::Kind::Block:
          TRY(read_block(item.block));
          break;
        case Item::Kind::Record:
          read_record(block, item.record);
          break;
      }
    }
  }

  void read_record(uint32_t block, const Record& record) {
    switch (block) {
      case kIdentification:
        return read_identification(record);
      case kModule:
        return read_module(record);
      case kTypes:
        return read_type(record);
      case kConstants:
        return read_constant(record);
      case kMetadata:
        return read_metadata(record);
      case kStrings:
        strings_ = record.blob;
        return;
      default:
        return;
    }
  }

  void read_identification(const Record& record) {
    if (record.code == identification_record::Text) summary_.identification = record.text();
    if (record.code == identification_record::Epoch && !record.values.empty()) summary_.epoch = record.values[0];
  }

  void read_module(const Record& record) {
    switch (record.code) {
      case module_record::Version:
        if (!record.values.empty()) summary_.record_version = record.values[0];
        break;
      case module_record::Triple:
        summary_.triple = record.text();
        break;
      case module_record::DataLayout:
        summary_.data_layout = record.text();
        break;
      case module_record::SourceFile:
        summary_.source_file = record.text();
        break;
      case module_record::Function:  // name's offset and size, type, calling convention, whether declared only, ...
        if (record.values.size() > 4)
          functions_.push_back({record.values[0], record.values[1], record.values[4] != 0, values_});
        [[fallthrough]];
      case module_record::GlobalVariable:
      case module_record::Alias:
      case module_record::Ifunc:
        ++values_;
        break;
      default:
        break;
    }
  }

  void read_type(const Record& record) {
    summary_.typed_pointers |= record.code == type_record::Pointer;
    summary_.opaque_pointers |= record.code == type_record::OpaquePointer;
  }

  /// Constants of the module are numbered behind its globals.
  void read_constant(const Record& record) {
    if (record.code == constants_record::SetType) return;
    if (record.code == constants_record::Null) integers_[values_] = 0;
    if (record.code == constants_record::Integer && !record.values.empty())
      integers_[values_] = integer_of(record.values[0]);
    ++values_;
  }

  void read_metadata(const Record& record) {
    switch (record.code) {
      case metadata_record::Kind:
      case metadata_record::Attachment:
      case metadata_record::GlobalAttachment:
      case metadata_record::IndexOffset:
      case metadata_record::Index:
        return;  // these have no number
      case metadata_record::Strings:
        return read_metadata_strings(record);
      case metadata_record::Name:
        summary_.named_metadata.push_back(record.text());
        return;
      case metadata_record::NamedNode:
        if (!summary_.named_metadata.empty()) named_[summary_.named_metadata.back()] = record.values;
        return;
      case metadata_record::Value:
        if (record.values.size() == 2) metadata_values_[metadata_] = record.values[1];
        break;
      case metadata_record::Node:
        nodes_[metadata_] = record.values;
        break;
      default:
        break;
    }
    ++metadata_;
  }

  /// How many, where their characters are in the blob; in front of those their lengths, as a bitstream.
  void read_metadata_strings(const Record& record) {
    if (record.values.size() != 2 || record.values[1] > record.blob.size()) return;
    BitstreamReader lengths(record.blob.first(record.values[1]));
    Bytes characters = record.blob.subspan(record.values[1]);
    for (uint64_t i = 0; i < record.values[0]; ++i) {
      const Result<uint64_t> length = lengths.vbr(6);
      if (!length || *length > characters.size()) return;
      metadata_strings_[metadata_++] = std::string(reinterpret_cast<const char*>(characters.data()), *length);
      characters = characters.subspan(*length);
    }
  }

  Result<> name_functions() {
    for (const FunctionRecord& function : functions_) {
      if (function.name_offset > strings_.size() || function.name_bytes > strings_.size() - function.name_offset)
        return fail(ErrorCode::InvalidImage, "bitcode: a function's name is at {}, behind the {} bytes of names",
                    function.name_offset, strings_.size());
      std::string name(reinterpret_cast<const char*>(strings_.data()) + function.name_offset, function.name_bytes);
      function_names_[function.value] = name;
      (function.declared ? summary_.declared : summary_.defined).push_back(std::move(name));
    }
    return {};
  }

  /// The operands of the nodes of a named node; each as its number, with 0 for null.
  std::vector<std::vector<uint64_t>> nodes_of(const std::string& name) const {
    std::vector<std::vector<uint64_t>> found;
    const auto named = named_.find(name);
    if (named == named_.end()) return found;
    for (const uint64_t id : named->second)
      if (const auto node = nodes_.find(id); node != nodes_.end()) found.push_back(node->second);
    return found;
  }

  const std::string* string_of(uint64_t operand) const {
    const auto found = metadata_strings_.find(operand - 1);
    return operand == 0 || found == metadata_strings_.end() ? nullptr : &found->second;
  }

  /// What the operand's value is in `table`: an integer, a function's name.
  template <typename T>
  const T* value_of(uint64_t operand, const std::unordered_map<uint64_t, T>& table) const {
    const auto value = metadata_values_.find(operand - 1);
    if (operand == 0 || value == metadata_values_.end()) return nullptr;
    const auto found = table.find(value->second);
    return found == table.end() ? nullptr : &found->second;
  }

  void resolve_metadata() {
    for (const auto& node : nodes_of("llvm.ident"))
      for (const uint64_t operand : node)
        if (const std::string* text = string_of(operand)) summary_.producer = *text;
    for (const auto& node : nodes_of("air.version"))
      for (const uint64_t operand : node)
        if (const uint64_t* number = value_of(operand, integers_)) summary_.air_version.push_back(*number);
    for (const auto& node : nodes_of("air.language_version"))
      for (const uint64_t operand : node) {
        if (const std::string* text = string_of(operand)) summary_.language = *text;
        if (const uint64_t* number = value_of(operand, integers_)) summary_.language_version.push_back(*number);
      }
    for (const auto& node : nodes_of("air.compile_options"))
      for (const uint64_t operand : node)
        if (const std::string* text = string_of(operand)) summary_.compile_options.push_back(*text);
    for (const auto& node : nodes_of(kImageNote))
      for (const uint64_t operand : node)
        if (const std::string* text = string_of(operand)) summary_.image_note = *text;
    for (const auto& node : nodes_of("air.kernel"))
      if (!node.empty())
        if (const std::string* name = value_of(node[0], function_names_)) summary_.kernels.push_back(*name);
  }

  BitstreamReader reader_;
  ModuleSummary summary_;
  bool has_module_ = false;
  uint64_t values_ = 0, metadata_ = 0;  // how many have a number so far
  std::vector<FunctionRecord> functions_;
  Bytes strings_;
  std::unordered_map<uint64_t, std::string> function_names_, metadata_strings_;
  std::unordered_map<uint64_t, uint64_t> integers_, metadata_values_;
  std::unordered_map<uint64_t, std::vector<uint64_t>> nodes_;
  std::unordered_map<std::string, std::vector<uint64_t>> named_;
};

}  // namespace

Result<ModuleSummary> summarize(Bytes module) {
  TRY(const Bytes bitcode, unwrapped(module));
  TRY(ModuleSummary summary, Summarizer(bitcode).read());
  summary.bitcode_bytes = bitcode.size();
  summary.wrapper_bytes = is_wrapped(module) ? bitcode.data() - module.data() : 0;
  return summary;
}

bool has_metadata(const ModuleSummary& summary, std::string_view name) {
  return std::ranges::find(summary.named_metadata, name) != summary.named_metadata.end();
}

}  // namespace cupola::metallib
