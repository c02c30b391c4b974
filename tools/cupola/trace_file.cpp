#include "cupola/trace_file.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <tuple>

namespace cupola::tool {
namespace {

using trace::Kind;
using trace::Record;

/// The records of one chunk, of which `bytes` are there.
void read_chunk(const std::vector<std::byte>& bytes, std::vector<TraceEvent>& events) {
  struct Header {  // trace::ChunkHeader, plain
    uint64_t magic;
    uint32_t process, thread;
    uint64_t used;
  } header{};
  static_assert(sizeof(Header) == sizeof(trace::ChunkHeader));
  if (bytes.size() < sizeof header) return;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != trace::kChunkMagic) return;
  const uint64_t used = std::min<uint64_t>(header.used, bytes.size());
  for (uint64_t at = sizeof header; at + sizeof(Record) <= used;) {
    Record record;
    std::memcpy(&record, bytes.data() + at, sizeof record);
    const bool sound = record.bytes >= sizeof record && record.bytes % 8 == 0 && record.bytes <= used - at &&
                       record.name_bytes <= record.bytes - sizeof record &&
                       static_cast<uint32_t>(record.kind) < trace::kKinds && record.begin <= record.end;
    if (!sound) return;
    const char* name = reinterpret_cast<const char*>(bytes.data() + at + sizeof record);
    events.push_back({record.kind, header.process, header.thread, record.begin, record.end, record.queue, record.amount,
                      record.grid, record.block, std::string(name, record.name_bytes)});
    at += record.bytes;
  }
}

/// The runtime is made of calls of the driver, which the program did not make.
void mark_nested(std::vector<TraceEvent>& events) {
  const TraceEvent* outer = nullptr;
  for (TraceEvent& event : events) {
    if (event.kind == Kind::RuntimeCall) outer = &event;
    if (event.kind != Kind::DriverCall || !outer) continue;
    event.nested = outer->process == event.process && outer->thread == event.thread && outer->end >= event.end;
  }
}

}  // namespace

Result<std::vector<TraceEvent>> read_trace(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(ErrorCode::FileNotFound, "cannot read '{}'", path.string());
  std::vector<std::byte> chunk(trace::kChunkBytes);
  const auto next = [&] {
    chunk.resize(trace::kChunkBytes);
    file.read(reinterpret_cast<char*>(chunk.data()), std::ssize(chunk));
    chunk.resize(static_cast<size_t>(file.gcount()));
    return !chunk.empty();
  };
  uint64_t magic = 0;
  if (next() && chunk.size() >= sizeof magic) std::memcpy(&magic, chunk.data(), sizeof magic);
  if (magic != trace::kFileMagic)
    return fail(ErrorCode::InvalidValue, "'{}' is no trace that CUPOLA_TRACE made", path.string());
  std::vector<TraceEvent> events;
  while (next()) read_chunk(chunk, events);
  std::ranges::sort(events, {}, [](const TraceEvent& event) {
    return std::tuple(event.process, event.thread, event.begin, ~event.end, event.kind);  // what contains comes first
  });
  mark_nested(events);
  return events;
}

}  // namespace cupola::tool
