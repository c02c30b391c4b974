#include "runtime/transfer.h"

#include <cstring>

#include "runtime/capture.h"
#include "runtime/runtime.h"

namespace cupola::runtime {
namespace {

/// From the first to the last byte of a box; UINT64_MAX, which fits nowhere, when 64 bits do not hold it.
uint64_t extent(uint64_t width, uint64_t height, uint64_t depth, uint64_t pitch, uint64_t slice) {
  uint64_t slices = 0, rows = 0, bytes = 0;
  const bool overflows = __builtin_mul_overflow(depth - 1, slice, &slices) ||
                         __builtin_mul_overflow(height - 1, pitch, &rows) ||
                         __builtin_add_overflow(slices, rows, &bytes) || __builtin_add_overflow(bytes, width, &bytes);
  return overflows ? UINT64_MAX : bytes;
}

bool is_empty(const hal::Copy& command) {
  return command.width == 0 || command.height == 0 || command.depth == 0;
}

bool is_onto_itself(const hal::Copy& command) {
  return command.destination == command.source && command.height == 1 && command.depth == 1;
}

/// Where an end lies: nothing for pageable host memory.
Result<std::optional<MemoryRange>> locate(hal::Address address, uint64_t bytes, End end, const char* what) {
  if (address == 0) return fail(ErrorCode::InvalidValue, "the {} is null", what);
  if (bytes > UINT64_MAX - address)
    return fail(ErrorCode::InvalidValue, "the {} {:#x} runs past the end of the address space", what, address);
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
  return range &&
         (range->kind == MemoryKind::Device || range->kind == MemoryKind::ModuleData ||
          range->kind == MemoryKind::Graph || range->kind == MemoryKind::Mapped || range->kind == MemoryKind::Opened);
}

/// A command and where its memory lies.
struct LocatedCopy {
  hal::Copy command;
  std::optional<MemoryRange> to, from;
};

Result<LocatedCopy> locate_copy(const hal::Copy& command, End destination, End source) {
  const uint64_t destination_bytes =
      extent(command.width, command.height, command.depth, command.destination_pitch, command.destination_slice);
  const uint64_t source_bytes =
      extent(command.width, command.height, command.depth, command.source_pitch, command.source_slice);
  TRY(auto to, locate(command.destination, destination_bytes, destination, "destination"));
  TRY(auto from, locate(command.source, source_bytes, source, "source"));
  hal::Copy kept = command;
  if (to) kept.destination_owner = to->owner;
  if (from) kept.source_owner = from->owner;
  return LocatedCopy{std::move(kept), std::move(to), std::move(from)};
}

struct LocatedFill {
  hal::Fill command;
  std::optional<MemoryRange> to;
};

Result<LocatedFill> locate_fill(const hal::Fill& command) {
  if (command.destination % command.value_bytes || (command.height > 1 && command.pitch % command.value_bytes))
    return fail(ErrorCode::InvalidValue, "the destination {:#x} with pitch {} is not aligned to {} bytes",
                command.destination, command.pitch, command.value_bytes);
  uint64_t row = 0;
  if (__builtin_mul_overflow(command.width, uint64_t{command.value_bytes}, &row))
    return fail(ErrorCode::InvalidValue, "a row of {} elements is larger than any memory", command.width);
  if (command.height > 1 && command.pitch < row)
    return fail(ErrorCode::InvalidValue, "the pitch of {} bytes is less than a row", command.pitch);
  const uint64_t bytes = extent(row, command.height, 1, command.pitch, 0);
  TRY(auto to, locate(command.destination, bytes, End::Device, "destination"));
  hal::Fill kept = command;
  if (to) kept.owner = to->owner;
  return LocatedFill{std::move(kept), std::move(to)};
}

/// "CUDA C++ Programming Guide, Peer-to-Peer Memory Copy": a copy in the NULL stream between the memories of two
/// devices "does not start until all commands previously issued to either device have completed and runs to completion
/// before any commands issued after the copy to either device can start". So it has a place in the default stream of
/// each; these are those of other devices than the stream's.
Result<std::vector<std::shared_ptr<Stream>>> default_streams_of_peers(const Stream& stream, const LocatedCopy& copy) {
  std::vector<std::shared_ptr<Stream>> streams;
  if (stream.kind() != Stream::Kind::Legacy || !copy.to || !copy.from) return streams;
  Context *const to = copy.to->context, *const from = copy.from->context;
  if (copy.to->is_host() || copy.from->is_host() || !to || !from || &to->device() == &from->device()) return streams;
  for (Context* context : {to, from}) {
    if (&context->device() == &stream.context().device()) continue;
    TRY(std::shared_ptr<Stream> peer, context->legacy_stream());
    streams.push_back(std::move(peer));
  }
  return streams;
}

/// Waits; after a fault too, until the command is over: from here on the memory is the caller's alone.
Result<> wait_out(const Ticket& done) {
  Result<> result = done.wait();
  done.drain();
  return result;
}

/// Adds the node, when the stream is captured. True when it is.
Result<bool> capture_work(Stream& stream, Work work, bool asynchronous) {
  if (!asynchronous) {
    TRY(check_unsafe_call("a copy or fill that waits"));
    TRY(stream.check_not_captured());
  }
  const std::shared_ptr<Capture> capture = stream.capture();
  if (!capture) return false;
  TRY(capture->add(stream, std::move(work)));
  return true;
}

const std::byte* bytes_at(hal::Address address) {
  return reinterpret_cast<const std::byte*>(address);  // NOLINT(performance-no-int-to-ptr)
}

/// Reads the source now: the command copies what was read, without gaps.
void stage(hal::Copy& command) {
  const uint64_t slice = command.width * command.height;
  auto staged = std::make_shared<std::vector<std::byte>>(slice * command.depth);
  std::byte* to = staged->data();
  for (uint64_t z = 0; z < command.depth; ++z)
    for (uint64_t y = 0; y < command.height; ++y, to += command.width)
      std::memcpy(to, bytes_at(command.source + z * command.source_slice + y * command.source_pitch), command.width);
  command.source = reinterpret_cast<hal::Address>(staged->data());
  command.source_pitch = command.width;
  command.source_slice = slice;
  command.source_owner = std::move(staged);
}

}  // namespace

Result<hal::Copy> checked(const hal::Copy& command, End destination, End source) {
  TRY(LocatedCopy located, locate_copy(command, destination, source));
  return std::move(located.command);
}

Result<hal::Fill> checked(const hal::Fill& command) {
  TRY(LocatedFill located, locate_fill(command));
  return std::move(located.command);
}

Result<> copy(Stream& stream, const hal::Copy& command, End destination, End source, bool asynchronous) {
  if (is_empty(command)) return {};
  TRY(LocatedCopy located, locate_copy(command, destination, source));
  TRY(stream.context().check());
  TRY(const bool captured, capture_work(stream, CopyWork{command, destination, source}, asynchronous));
  if (captured) return {};
  if (is_onto_itself(command)) return {};
  const auto &to = located.to, &from = located.from;
  TRY(const auto peers, default_streams_of_peers(stream, located));
  for (const auto& peer : peers) stream.wait(peer->mark());
  const Ticket done = stream.submit(std::move(located.command));
  for (const auto& peer : peers) peer->wait(done);
  const bool waits = asynchronous ? !to || !from : !is_private(to) || !is_private(from);
  return waits ? wait_out(done) : Result<>{};
}

Result<> copy_batch(Stream& stream, std::span<const BatchedCopy> batch, size_t& failed) {
  std::vector<std::pair<LocatedCopy, SourceAccess>> copies;
  for (failed = 0; failed < batch.size(); ++failed) {
    const auto& [command, destination, source, access] = batch[failed];
    if (is_empty(command) || is_onto_itself(command)) continue;
    TRY(LocatedCopy located, locate_copy(command, destination, source));
    copies.emplace_back(std::move(located), access);
  }
  failed = SIZE_MAX;
  TRY(stream.context().check());
  std::vector<hal::Command> commands;
  bool waits = false;
  for (auto& [located, access] : copies) {
    if (access == SourceAccess::DuringCall) {
      if (is_private(located.from)) {
        waits = true;
      } else {
        stage(located.command);
      }
    }
    commands.emplace_back(std::move(located.command));
  }
  const Ticket done = stream.submit_between([&](const Ticket&) { return std::move(commands); });
  return waits ? wait_out(done) : Result<>{};
}

Result<> fill(Stream& stream, const hal::Fill& command, bool asynchronous) {
  if (command.width == 0 || command.height == 0) return {};
  TRY(LocatedFill located, locate_fill(command));
  TRY(stream.context().check());
  TRY(const bool captured, capture_work(stream, FillWork{command}, asynchronous));
  if (captured) return {};
  const Ticket done = stream.submit(std::move(located.command));
  return asynchronous || is_private(located.to) ? Result<>{} : wait_out(done);
}

}  // namespace cupola::runtime
