#include "backend/cpu/build/segment.h"

#include <llvm/BinaryFormat/ELF.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/MathExtras.h>
#include <llvm/Support/MemoryBufferRef.h>

#include <cstring>
#include <string_view>

#include "backend/cpu/build/line_table.h"
#include "backend/cpu/build/relocator.h"
#include "image/library_calls.h"

namespace cupola::cpu::build {
namespace {

using Object = llvm::object::ELFObjectFileBase;

constexpr uint64_t kPage = 4096;
constexpr uint64_t kSlotBytes = 8;

using image::kLibraryCalls;

template <typename T>
Result<T> take(llvm::Expected<T> value) {
  if (value) return std::move(*value);
  return fail(ErrorCode::InvalidImage, "cpu: the object file of a module is malformed: {}",
              llvm::toString(value.takeError()));
}

class Packer {
 public:
  Packer(const Object& object, const Relocator& relocator) : object_(object), relocator_(relocator) {}

  Result<Segment> run() {
    TRY(place_sections());
    TRY(collect_symbols());
    TRY(collect_imports());
    place_imports();
    TRY(relocate());
    segment_.lines = line_table(object_, sections_);
    return std::move(segment_);
  }

 private:
  struct Imported {
    uint64_t stub, slot;
  };

  /// Code first, then read-only data.
  Result<> place_sections() {
    for (const bool code : {true, false})
      for (const llvm::object::ELFSectionRef section : object_.sections()) {
        const uint64_t flags = section.getFlags();
        if (!(flags & llvm::ELF::SHF_ALLOC) || section.getSize() == 0) continue;
        TRY(const llvm::StringRef name, take(section.getName()));
        if (name == ".eh_frame") continue;  // nothing unwinds through kernels
        if (flags & llvm::ELF::SHF_WRITE)
          return fail(ErrorCode::NotSupported, "cpu: generated code holds the writable section '{}'", name.str());
        if (section.isText() != code) continue;
        TRY(const llvm::StringRef contents, take(section.getContents()));
        const uint64_t offset = append(contents.size(), section.getAlignment().value());
        std::memcpy(&segment_.bytes[offset], contents.data(), contents.size());
        sections_[section.getIndex()] = offset;
      }
    return {};
  }

  uint64_t append(uint64_t size, uint64_t alignment) {
    const uint64_t offset = llvm::alignTo(segment_.bytes.size(), alignment);
    segment_.bytes.resize(offset + size);
    return offset;
  }

  Result<> collect_symbols() {
    for (const llvm::object::ELFSymbolRef symbol : object_.symbols()) {
      if (symbol.getELFType() != llvm::ELF::STT_FUNC) continue;
      TRY(const uint64_t offset, offset_of(symbol));
      TRY(const llvm::StringRef name, take(symbol.getName()));
      segment_.symbols[name.str()] = offset;
    }
    return {};
  }

  /// Where a defined symbol lies in the segment.
  Result<uint64_t> offset_of(const llvm::object::ELFSymbolRef& symbol) const {
    TRY(const llvm::object::section_iterator section, take(symbol.getSection()));
    TRY(const uint64_t value, take(symbol.getValue()));
    if (section != object_.section_end())
      if (auto base = sections_.find(llvm::object::ELFSectionRef(*section).getIndex()); base != sections_.end())
        return base->second + value;
    TRY(const llvm::StringRef name, take(symbol.getName()));
    return fail(ErrorCode::NotSupported, "cpu: generated code refers to '{}', which is not part of it", name.str());
  }

  template <typename Visit>
  Result<> for_each_relocation(Visit visit) const {
    for (const llvm::object::SectionRef section : object_.sections()) {
      TRY(const llvm::object::section_iterator target, take(section.getRelocatedSection()));
      if (target == object_.section_end()) continue;
      auto base = sections_.find(llvm::object::ELFSectionRef(*target).getIndex());
      if (base == sections_.end()) continue;
      for (const llvm::object::ELFRelocationRef relocation : section.relocations())
        TRY(visit(relocation, base->second + relocation.getOffset()));
    }
    return {};
  }

  static bool is_undefined(const llvm::object::ELFSymbolRef& symbol) {
    return llvm::cantFail(symbol.getFlags()) & llvm::object::SymbolRef::SF_Undefined;
  }

  Result<> collect_imports() {
    return for_each_relocation([this](const llvm::object::ELFRelocationRef& relocation, uint64_t) -> Result<> {
      const auto iterator = relocation.getSymbol();
      if (iterator == object_.symbol_end() || !is_undefined(*iterator)) return {};
      TRY(const llvm::StringRef name, take(iterator->getName()));
      if (imports_.contains(name.str())) return {};
      for (uint32_t i = 0; i < std::size(kLibraryCalls); ++i)
        if (kLibraryCalls[i] == std::string_view(name)) {
          segment_.imports.push_back({0, i});
          imports_[name.str()] = {};
          return {};
        }
      return fail(ErrorCode::NotSupported,
                  "cpu: the module calls '{}', which is neither defined in it nor a library function of the cpu device",
                  name.str());
    });
  }

  /// Stubs after the read-only data, slots on pages of their own.
  void place_imports() {
    for (const image::Import& import : segment_.imports)
      imports_[std::string(kLibraryCalls[import.function])].stub = append(relocator_.stub_bytes, 8);
    segment_.slots_offset = llvm::alignTo(segment_.bytes.size(), kPage);
    segment_.bytes.resize(segment_.slots_offset);
    for (image::Import& import : segment_.imports) {
      import.slot = append(kSlotBytes, kSlotBytes);
      Imported& imported = imports_[std::string(kLibraryCalls[import.function])];
      imported.slot = import.slot;
    }
    for (const auto& [name, imported] : imports_) relocator_.write_stub(segment_.bytes, imported.stub, imported.slot);
  }

  Result<> relocate() {
    return for_each_relocation([this](const llvm::object::ELFRelocationRef& relocation, uint64_t place) -> Result<> {
      TRY(const RelocationTarget wanted, relocator_.target_of(relocation.getType()));
      TRY(const int64_t addend, take(relocation.getAddend()));
      const auto symbol = relocation.getSymbol();
      if (symbol == object_.symbol_end()) return fail(ErrorCode::InvalidImage, "cpu: a relocation without a symbol");
      uint64_t target = 0;
      if (is_undefined(*symbol)) {
        TRY(const llvm::StringRef name, take(symbol->getName()));
        const Imported& imported = imports_.at(name.str());
        target = wanted == RelocationTarget::Slot ? imported.slot : imported.stub;
      } else {
        if (wanted == RelocationTarget::Slot)
          return fail(ErrorCode::NotSupported,
                      "cpu: generated code loads the address of a symbol of its own from a table");
        TRY(target, offset_of(*symbol));
      }
      return relocator_.apply(relocation.getType(), segment_.bytes, place, target, addend);
    });
  }

  const Object& object_;
  const Relocator& relocator_;
  Segment segment_;
  std::map<uint64_t, uint64_t> sections_;  ///< section index to offset in the segment
  std::map<std::string, Imported> imports_;
};

}  // namespace

Result<Segment> pack_segment(llvm::MemoryBufferRef buffer) {
  TRY(const std::unique_ptr<llvm::object::ObjectFile> file,
      take(llvm::object::ObjectFile::createELFObjectFile(buffer)));
  const auto& object = llvm::cast<Object>(*file);
  if (object.getEMachine() != llvm::ELF::EM_X86_64)
    return fail(ErrorCode::NotSupported, "cpu: only x86-64 code can be packed so far");
  return Packer(object, kRelocatorX86_64).run();
}

}  // namespace cupola::cpu::build
