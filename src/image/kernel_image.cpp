#include "image/kernel_image.h"

#include <algorithm>
#include <bit>

#include "image/content_hash.h"
#include "image/library_calls.h"
#include "image/wire.h"

// magic, version, body, hash of all before it. The body is the members of KernelImage in their order.

namespace cupola::image {
namespace {

constexpr uint64_t kMagic = 0x6567616d69707563;  // "cupimage"
constexpr size_t kHashBytes = 16;
constexpr uint64_t kSlotsAlignment = 4096;
constexpr uint64_t kMaxDataAlignment = 2 * 1024 * 1024;

// The least that one item of each list takes, in bytes.
constexpr size_t kKernelBytes = 111, kParameterBytes = 8, kSymbolBytes = 25, kRelocationBytes = 20, kImportBytes = 12,
                 kFileBytes = 8, kLineBytes = 16;

void write_kernel(wire::Writer& out, const Kernel& kernel) {
  const KernelInfo& info = kernel.info;
  out.text(info.name);
  out.count(info.parameters.size());
  for (const KernelInfo::Parameter& parameter : info.parameters) {
    out.number(parameter.offset);
    out.number(parameter.size);
  }
  out.number(info.parameter_bytes);
  out.number(info.static_shared_bytes);
  out.number(info.local_bytes);
  out.number(info.max_threads_per_block);
  out.number(info.required_block.x);
  out.number(info.required_block.y);
  out.number(info.required_block.z);
  out.number(info.registers);
  out.number(info.constant_bytes);
  out.blob(kernel.unit);
  out.number(kernel.entry);
  for (const BlockClass blocks : kBlockClasses) {
    out.number(kernel.wide_entries[blocks].place);
    out.flag(kernel.wide_entries[blocks].whole_block);
  }
  out.number(static_cast<uint32_t>(kernel.rung));
  out.flag(kernel.polls);
  out.flag(kernel.flush_denormals);
}

Result<Kernel> read_kernel(wire::Reader& in) {
  Kernel kernel;
  KernelInfo& info = kernel.info;
  TRY(info.name, in.text("kernel name"));
  TRY(uint32_t parameters, in.count("kernel parameters", kParameterBytes));
  info.parameters.resize(parameters);
  for (KernelInfo::Parameter& parameter : info.parameters) {
    TRY(parameter.offset, in.number<uint32_t>("parameter offset"));
    TRY(parameter.size, in.number<uint32_t>("parameter size"));
  }
  TRY(info.parameter_bytes, in.number<uint32_t>("parameter bytes"));
  TRY(info.static_shared_bytes, in.number<uint32_t>("static shared bytes"));
  TRY(info.local_bytes, in.number<uint32_t>("local bytes"));
  TRY(info.max_threads_per_block, in.number<uint32_t>("max threads per block"));
  TRY(info.required_block.x, in.number<uint32_t>("required block x"));
  TRY(info.required_block.y, in.number<uint32_t>("required block y"));
  TRY(info.required_block.z, in.number<uint32_t>("required block z"));
  TRY(info.registers, in.number<uint32_t>("registers"));
  TRY(info.constant_bytes, in.number<uint32_t>("constant bytes"));
  TRY(kernel.unit, in.bytes("unit"));
  TRY(kernel.entry, in.number<uint64_t>("kernel entry"));
  for (const BlockClass blocks : kBlockClasses) {
    WideEntry& entry = kernel.wide_entries[blocks];
    TRY(entry.place, in.number<uint64_t>("wide entry"));
    TRY(entry.whole_block, in.flag("whole block"));
  }
  TRY(uint32_t rung, in.number<uint32_t>("rung"));
  if (rung > static_cast<uint32_t>(Rung::ThreadFibres))
    return fail(ErrorCode::InvalidImage, "image: kernel '{}' asks for rung {}, which this version does not know",
                info.name, rung);
  kernel.rung = static_cast<Rung>(rung);
  TRY(kernel.polls, in.flag("polls"));
  TRY(kernel.flush_denormals, in.flag("flush denormals"));
  return kernel;
}

Result<DataSymbol> read_symbol(wire::Reader& in) {
  DataSymbol symbol;
  TRY(symbol.name, in.text("symbol name"));
  TRY(symbol.offset, in.number<uint64_t>("symbol offset"));
  TRY(symbol.size, in.number<uint64_t>("symbol size"));
  TRY(symbol.constant, in.flag("symbol constant"));
  return symbol;
}

Result<DataRelocation> read_relocation(wire::Reader& in) {
  DataRelocation relocation;
  TRY(relocation.offset, in.number<uint64_t>("relocation offset"));
  TRY(uint32_t kind, in.number<uint32_t>("relocation kind"));
  if (kind > static_cast<uint32_t>(DataRelocation::Kind::CodeAddress))
    return fail(ErrorCode::InvalidImage, "image: relocation kind {} is unknown", kind);
  relocation.kind = static_cast<DataRelocation::Kind>(kind);
  TRY(relocation.addend, in.number<uint64_t>("relocation addend"));
  return relocation;
}

Result<Import> read_import(wire::Reader& in) {
  Import import;
  TRY(import.slot, in.number<uint64_t>("import slot"));
  TRY(import.function, in.number<uint32_t>("import function"));
  return import;
}

Result<KernelImage> read_body(wire::Reader& in) {
  KernelImage image;
  TRY(image.target, in.text("target"));
  TRY(uint32_t kernels, in.count("kernels", kKernelBytes));
  for (uint32_t i = 0; i < kernels; ++i) {
    TRY(Kernel kernel, read_kernel(in));
    image.kernels.push_back(std::move(kernel));
  }
  TRY(uint32_t symbols, in.count("symbols", kSymbolBytes));
  for (uint32_t i = 0; i < symbols; ++i) {
    TRY(DataSymbol symbol, read_symbol(in));
    image.symbols.push_back(std::move(symbol));
  }
  TRY(image.data, in.bytes("data"));
  TRY(image.data_alignment, in.number<uint64_t>("data alignment"));
  TRY(uint32_t relocations, in.count("relocations", kRelocationBytes));
  for (uint32_t i = 0; i < relocations; ++i) {
    TRY(DataRelocation relocation, read_relocation(in));
    image.relocations.push_back(relocation);
  }
  TRY(image.segment, in.bytes("segment"));
  TRY(image.slots_offset, in.number<uint64_t>("slots offset"));
  TRY(uint32_t imports, in.count("imports", kImportBytes));
  for (uint32_t i = 0; i < imports; ++i) {
    TRY(Import import, read_import(in));
    image.imports.push_back(import);
  }
  TRY(uint32_t files, in.count("source files", kFileBytes));
  for (uint32_t i = 0; i < files; ++i) {
    TRY(std::string file, in.text("source file"));
    image.lines.files.push_back(std::move(file));
  }
  TRY(uint32_t rows, in.count("source lines", kLineBytes));
  for (uint32_t i = 0; i < rows; ++i) {
    LineTable::Row row;
    TRY(row.offset, in.number<uint64_t>("code offset"));
    TRY(row.file, in.number<uint32_t>("file number"));
    TRY(row.line, in.number<uint32_t>("line"));
    image.lines.rows.push_back(row);
  }
  return image;
}

/// True when [offset, offset + size) lies within [0, total).
bool fits(uint64_t offset, uint64_t size, uint64_t total) {
  return size <= total && offset <= total - size;
}

Result<> check_kernel(const KernelImage& image, const Kernel& kernel) {
  const KernelInfo& info = kernel.info;
  const auto may_be = [&](uint64_t entry) { return entry == kNoEntry || entry < image.slots_offset; };
  if (!may_be(kernel.entry) || !std::ranges::all_of(kernel.wide_entries, may_be, &WideEntry::place))
    return fail(ErrorCode::InvalidImage, "image: kernel '{}' begins outside of the code, which ends at {}", info.name,
                image.slots_offset);
  for (const KernelInfo::Parameter& parameter : info.parameters)
    if (!fits(parameter.offset, parameter.size, info.parameter_bytes))
      return fail(ErrorCode::InvalidImage, "image: kernel '{}' has a parameter of {} bytes at {} in a block of {}",
                  info.name, parameter.size, parameter.offset, info.parameter_bytes);
  return {};
}

Result<> check_data(const KernelImage& image) {
  const uint64_t size = image.data.size();
  if (!std::has_single_bit(image.data_alignment) || image.data_alignment > kMaxDataAlignment)
    return fail(ErrorCode::InvalidImage, "image: data alignment {} is not a power of two up to {}",
                image.data_alignment, kMaxDataAlignment);
  for (const DataSymbol& symbol : image.symbols)
    if (!fits(symbol.offset, symbol.size, size))
      return fail(ErrorCode::InvalidImage, "image: symbol '{}' has {} bytes at {} in {} bytes of data", symbol.name,
                  symbol.size, symbol.offset, size);
  for (const DataRelocation& relocation : image.relocations) {
    const bool in_data = relocation.kind == DataRelocation::Kind::DataAddress;
    const bool target_fits = in_data ? relocation.addend <= size : relocation.addend < image.slots_offset;
    if (!fits(relocation.offset, 8, size) || !target_fits)
      return fail(ErrorCode::InvalidImage, "image: relocation at {} to {} {} leaves {} bytes of data or {} of code",
                  relocation.offset, in_data ? "data" : "code", relocation.addend, size, image.slots_offset);
  }
  return {};
}

Result<> check(const KernelImage& image) {
  const uint64_t size = image.segment.size();
  if (image.slots_offset % kSlotsAlignment != 0 || image.slots_offset > size)
    return fail(ErrorCode::InvalidImage,
                "image: import slots at {} in a segment of {}; need a multiple of {} within it", image.slots_offset,
                size, kSlotsAlignment);
  for (const Import& import : image.imports)
    if (import.slot < image.slots_offset || import.slot % 8 != 0 || !fits(import.slot, 8, size) ||
        import.function >= library_call_count())
      return fail(ErrorCode::InvalidImage,
                  "image: import of library call {} into slot {} (slots are [{}, {}), calls {})", import.function,
                  import.slot, image.slots_offset, size, library_call_count());
  for (const LineTable::Row& row : image.lines.rows)
    if (row.line != 0 && row.file >= image.lines.files.size())
      return fail(ErrorCode::InvalidImage, "image: a source line is in file {} of {}", row.file,
                  image.lines.files.size());
  for (const Kernel& kernel : image.kernels) TRY(check_kernel(image, kernel));
  return check_data(image);
}

}  // namespace

std::string LineTable::place(uint64_t offset) const {
  auto row = std::ranges::upper_bound(rows, offset, {}, &Row::offset);
  if (row == rows.begin() || (--row)->line == 0) return {};
  return formatted("{}:{}", files[row->file], row->line);
}

std::vector<std::byte> serialize(const KernelImage& image) {
  wire::Writer out;
  out.number(kMagic);
  out.number(kFormatVersion);
  out.text(image.target);
  out.count(image.kernels.size());
  for (const Kernel& kernel : image.kernels) write_kernel(out, kernel);
  out.count(image.symbols.size());
  for (const DataSymbol& symbol : image.symbols) {
    out.text(symbol.name);
    out.number(symbol.offset);
    out.number(symbol.size);
    out.flag(symbol.constant);
  }
  out.blob(image.data);
  out.number(image.data_alignment);
  out.count(image.relocations.size());
  for (const DataRelocation& relocation : image.relocations) {
    out.number(relocation.offset);
    out.number(static_cast<uint32_t>(relocation.kind));
    out.number(relocation.addend);
  }
  out.blob(image.segment);
  out.number(image.slots_offset);
  out.count(image.imports.size());
  for (const Import& import : image.imports) {
    out.number(import.slot);
    out.number(import.function);
  }
  out.count(image.lines.files.size());
  for (const std::string& file : image.lines.files) out.text(file);
  out.count(image.lines.rows.size());
  for (const LineTable::Row& row : image.lines.rows) {
    out.number(row.offset);
    out.number(row.file);
    out.number(row.line);
  }
  const Hash128 hash = content_hash(out.written());
  out.number(hash.low);
  out.number(hash.high);
  return out.take();
}

Result<KernelImage> deserialize(std::span<const std::byte> bytes) {
  wire::Reader head(bytes);
  TRY(uint64_t magic, head.number<uint64_t>("magic"));
  if (magic != kMagic) return fail(ErrorCode::InvalidImage, "image: magic is {:#x}; this is no kernel image", magic);
  TRY(uint32_t version, head.number<uint32_t>("version"));
  if (version != kFormatVersion)
    return fail(ErrorCode::InvalidImage, "image: format version {}; this build reads {}", version, kFormatVersion);
  if (head.left() < kHashBytes) return fail(ErrorCode::InvalidImage, "image: {} bytes are too few", bytes.size());

  const size_t hashed = bytes.size() - kHashBytes;
  wire::Reader tail(bytes.subspan(hashed));
  Hash128 stored;
  TRY(stored.low, tail.number<uint64_t>("hash"));
  TRY(stored.high, tail.number<uint64_t>("hash"));
  if (stored != content_hash(bytes.first(hashed)))
    return fail(ErrorCode::InvalidImage, "image: the hash does not match; the {} bytes were damaged or cut",
                bytes.size());

  wire::Reader in(bytes.subspan(12, hashed - 12));
  TRY(KernelImage image, read_body(in));
  if (in.left() != 0) return fail(ErrorCode::InvalidImage, "image: {} bytes follow the imports", in.left());
  TRY(check(image));
  return image;
}

std::optional<std::string> target_of(std::span<const std::byte> bytes) {
  wire::Reader in(bytes);
  const auto magic = in.number<uint64_t>("magic");
  if (!magic || *magic != kMagic) return std::nullopt;
  const auto version = in.number<uint32_t>("version");
  if (!version || *version != kFormatVersion) return std::nullopt;
  auto target = in.text("target");
  if (!target) return std::nullopt;
  return std::move(*target);
}

}  // namespace cupola::image
