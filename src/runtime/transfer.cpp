#include "runtime/transfer.h"

#include "runtime/runtime.h"

namespace cupola::runtime {
namespace {

/// From the first to the last byte of a box.
uint64_t extent(uint64_t width, uint64_t height, uint64_t depth, uint64_t pitch, uint64_t slice) {
  return (depth - 1) * slice + (height - 1) * pitch + width;
}

/// Where an end lies: nothing for pageable host memory.
Result<std::optional<MemoryRange>> locate(hal::Address address, uint64_t bytes, End end, const char* what) {
  if (address == 0) return fail(ErrorCode::InvalidValue, "the {} is null", what);
  auto range = Runtime::get().addresses.find(address);
  if (!range && end == End::Device)
    return fail(ErrorCode::InvalidValue, "the {} {:#x} is not device memory", what, address);
  if (range && !range->holds(address, bytes)) {
    return fail(ErrorCode::InvalidValue, "the {} {:#x} has {} bytes left in its allocation; {} are asked for", what,
                address, range->address + range->size - address, bytes);
  }
  return range;
}

/// Only the device sees it, so that nobody can tell when a transfer ends but through the stream.
bool is_private(const std::optional<MemoryRange>& range) {
  return range && (range->kind == MemoryKind::Device || range->kind == MemoryKind::ModuleData);
}

}  // namespace

Result<> copy(Stream& stream, const hal::Copy& command, End destination, End source, bool asynchronous) {
  if (command.width == 0 || command.height == 0 || command.depth == 0) return {};
  const uint64_t destination_bytes =
      extent(command.width, command.height, command.depth, command.destination_pitch, command.destination_slice);
  const uint64_t source_bytes =
      extent(command.width, command.height, command.depth, command.source_pitch, command.source_slice);
  TRY(auto to, locate(command.destination, destination_bytes, destination, "destination"));
  TRY(auto from, locate(command.source, source_bytes, source, "source"));
  TRY(stream.context().check());
  const Ticket done = stream.submit(command);
  const bool waits = asynchronous ? !to || !from : !is_private(to) || !is_private(from);
  return waits ? done.wait() : Result<>{};
}

Result<> fill(Stream& stream, const hal::Fill& command, bool asynchronous) {
  if (command.width == 0 || command.height == 0) return {};
  if (command.destination % command.value_bytes || (command.height > 1 && command.pitch % command.value_bytes))
    return fail(ErrorCode::InvalidValue, "the destination {:#x} with pitch {} is not aligned to {} bytes",
                command.destination, command.pitch, command.value_bytes);
  if (command.height > 1 && command.pitch < command.width * command.value_bytes)
    return fail(ErrorCode::InvalidValue, "the pitch of {} bytes is less than a row", command.pitch);
  const uint64_t bytes = extent(command.width * command.value_bytes, command.height, 1, command.pitch, 0);
  TRY(auto to, locate(command.destination, bytes, End::Device, "destination"));
  TRY(stream.context().check());
  const Ticket done = stream.submit(command);
  return asynchronous || is_private(to) ? Result<>{} : done.wait();
}

}  // namespace cupola::runtime
