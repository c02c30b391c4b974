#include "image/kernel_image.h"

#include <algorithm>

#include "image/library_calls.h"
#include "image/wire.h"

// In the frame of image_frame.h: the kernels, the variables, and the other members of KernelImage in their order.

namespace cupola::image {
namespace {

constexpr uint64_t kSlotsAlignment = 4096;

// The least that one item of each list takes, in bytes.
constexpr size_t kKernelBytes = kLeastInfoBytes + 64, kImportBytes = 12, kFileBytes = 8, kLineBytes = 16;

void write_kernel(wire::Writer& out, const Kernel& kernel) {
  write_info(out, kernel.info);
  out.blob(kernel.unit);
  out.number(kernel.entry);
  for (const BlockClass blocks : kBlockClasses) {
    out.number(kernel.wide_entries[blocks].place);
    out.flag(kernel.wide_entries[blocks].whole_block);
  }
  out.number(static_cast<uint32_t>(kernel.rung));
  out.flag(kernel.polls);
  out.flag(kernel.flush_denormals);
  out.flag(kernel.improvable);
  out.flag(kernel.begins_by_thread);
  out.number(kernel.most_instructions);
}

Result<Kernel> read_kernel(wire::Reader& in) {
  Kernel kernel;
  TRY(kernel.info, read_info(in));
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
                kernel.info.name, rung);
  kernel.rung = static_cast<Rung>(rung);
  TRY(kernel.polls, in.flag("polls"));
  TRY(kernel.flush_denormals, in.flag("flush denormals"));
  TRY(kernel.improvable, in.flag("improvable"));
  TRY(kernel.begins_by_thread, in.flag("begins by thread"));
  TRY(kernel.most_instructions, in.number<uint32_t>("most instructions"));
  return kernel;
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
  TRY(read_variables(in, image));
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

Result<> check_kernel(const KernelImage& image, const Kernel& kernel) {
  const KernelInfo& info = kernel.info;
  const auto may_be = [&](uint64_t entry) { return entry == kNoEntry || entry < image.slots_offset; };
  if (!may_be(kernel.entry) || !std::ranges::all_of(kernel.wide_entries, may_be, &WideEntry::place))
    return fail(ErrorCode::InvalidImage, "image: kernel '{}' begins outside of the code, which ends at {}", info.name,
                image.slots_offset);
  return check_info(info);
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
  return check_variables(image, image.slots_offset);
}

}  // namespace

std::string LineTable::place(uint64_t offset) const {
  auto row = std::ranges::upper_bound(rows, offset, {}, &Row::offset);
  if (row == rows.begin() || (--row)->line == 0) return {};
  return formatted("{}:{}", files[row->file], row->line);
}

std::vector<std::byte> serialize(const KernelImage& image) {
  wire::Writer out;
  begin_image(out, image.target);
  out.count(image.kernels.size());
  for (const Kernel& kernel : image.kernels) write_kernel(out, kernel);
  write_variables(out, image);
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
  return end_image(std::move(out));
}

Result<KernelImage> deserialize(std::span<const std::byte> bytes) {
  TRY(wire::Reader in, open_image(bytes));
  TRY(KernelImage image, read_body(in));
  if (in.left() != 0) return fail(ErrorCode::InvalidImage, "image: {} bytes follow the imports", in.left());
  TRY(check(image));
  return image;
}

}  // namespace cupola::image
