#include <numeric>

#include "cupola/selftest/check.h"

namespace cupola::tool::selftest {
namespace {

using Word = uint32_t;

std::vector<Word> numbers(size_t count) {
  std::vector<Word> all(count);
  for (size_t i = 0; i < count; ++i) all[i] = static_cast<Word>(i * 2654435761u);
  return all;
}

Result<std::string> copies(const Session& session) {
  const std::vector<Word> data = numbers(100'000);
  TRY(const Memory first, session.upload(data));
  TRY(const Memory second, session.zeroes<Word>(data.size()));
  TRY(session.call("cuMemcpyDtoD_v2", second.address(), first.address(), first.bytes()));
  TRY(const std::vector<Word> there, second.values<Word>());
  TRY(expect_same(there, data, "device to device"));
  // Parts at odd places.
  std::vector<uint8_t> bytes(1000, 7), expected = bytes;
  TRY(const Memory third, session.upload(bytes));
  TRY(third.write("odd", 3, 501));
  std::memcpy(&expected[501], "odd", 3);
  TRY(session.call("cuMemcpyDtoD_v2", third.address() + 77, third.address() + 501, size_t{3}));
  std::memcpy(&expected[77], "odd", 3);
  TRY(const std::vector<uint8_t> parts, third.values<uint8_t>());
  TRY(expect_same(parts, expected, "parts"));
  return "";
}

Result<std::string> fills(const Session& session) {
  TRY(const Memory memory, session.zeroes<Word>(1000));
  TRY(session.call("cuMemsetD32_v2", memory.address() + 40, 0xdeadbeefu, size_t{500}));
  TRY(session.call("cuMemsetD8_v2", memory.address() + 3, static_cast<unsigned char>(9), size_t{2}));
  std::vector<Word> expected(1000);
  for (size_t i = 10; i < 510; ++i) expected[i] = 0xdeadbeef;
  expected[0] = 9u << 24;
  expected[1] = 9;
  TRY(const std::vector<Word> got, memory.values<Word>());
  TRY(expect_same(got, expected, "fills"));
  return "";
}

/// A pointer into the middle of an allocation is as good as one to its beginning, for copies and kernels.
Result<std::string> offsets(const Session& session) {
  const std::vector<Word> data = numbers(5000);
  TRY(const Memory memory, session.upload(data));
  TRY(session.run("plus_one", {{8}, {128}}, memory.address() + 1234 * sizeof(Word), 1000));
  std::vector<Word> expected = data;
  for (size_t i = 1234; i < 2234; ++i) ++expected[i];
  TRY(const std::vector<Word> got, memory.values<Word>());
  TRY(expect_same(got, expected, "words"));
  return "";
}

Result<std::string> pointers_in_memory(const Session& session) {
  TRY(const Memory memory, session.zeroes<uint64_t>(8));
  const DevicePointer at = memory.address();
  const uint64_t chain[] = {at + 40, 0, 4242, 0, 0, at + 48, at + 16};
  TRY(memory.write(&chain[0], sizeof chain));
  TRY(const Memory out, session.zeroes<uint64_t>(1));
  TRY(session.run("follow", {{1}, {1}}, at, 3, out.address()));
  TRY(const std::vector<uint64_t> got, out.values<uint64_t>());
  TRY(expect_same(got, {4242}, "the end of the chain"));
  return "";
}

Result<std::string> managed(const Session& session) {
  DevicePointer address = 0;
  constexpr size_t kCount = 3000;
  TRY(session.call("cuMemAllocManaged", &address, kCount * sizeof(Word), 1u));
  const Memory memory(session, address, kCount * sizeof(Word));
  auto* const words = reinterpret_cast<volatile Word*>(address);
  for (size_t i = 0; i < kCount; ++i) words[i] = static_cast<Word>(i);
  TRY(session.run("plus_one", {{24}, {128}}, address, static_cast<int>(kCount)));
  for (size_t i = 0; i < kCount; ++i)
    if (words[i] != i + 1) return fail(ErrorCode::InvalidValue, "word {} is {}, not {}", i, words[i], i + 1);
  return "";
}

Result<std::string> page_locked(const Session& session) {
  void* host = nullptr;
  DevicePointer address = 0;
  TRY(session.call("cuMemHostAlloc", &host, size_t{4096}, 2u));
  TRY(session.call("cuMemHostGetDevicePointer_v2", &address, host, 0u));
  auto* const words = static_cast<volatile Word*>(host);
  for (Word i = 0; i < 1024; ++i) words[i] = i * 3;
  const Result<> ran = session.run("plus_one", {{8}, {128}}, address, 1024);
  size_t wrong = 0;
  for (Word i = 0; i < 1024; ++i) wrong += words[i] != i * 3 + 1;
  TRY(session.call("cuMemFreeHost", host));
  TRY(ran);
  if (wrong) return fail(ErrorCode::InvalidValue, "{} of 1024 words are wrong", wrong);
  return "";
}

Result<std::string> variables(const Session& session) {
  size_t bytes = 0;
  const DevicePointer table = session.symbol("table", bytes), counted = session.symbol("counted", bytes);
  if (!table || !counted || bytes != 4) return fail(ErrorCode::NotFound, "the module's variables are not found");
  const Word written = 1000, before = 5;
  TRY(session.call("cuMemcpyHtoD_v2", counted, static_cast<const void*>(&before), sizeof before));
  TRY(session.call("cuMemcpyHtoD_v2", table + 8, static_cast<const void*>(&written), sizeof written));
  TRY(const Memory out, session.zeroes<Word>(64));
  TRY(session.run("variables", {{1}, {64}}, out.address()));
  std::vector<Word> expected(64, 5);
  expected[0] = 6, expected[1] = 9, expected[2] = 1005, expected[3] = 21;
  TRY(const std::vector<Word> got, out.values<Word>());
  TRY(expect_same(got, expected, "what the kernel read"));
  Word after = 0;
  TRY(session.call("cuMemcpyDtoH_v2", static_cast<void*>(&after), counted, sizeof after));
  if (after != 6) return fail(ErrorCode::InvalidValue, "the variable is {} afterwards, not 6", after);
  return "";
}

/// Two streams, one of which waits for the other's event.
Result<std::string> streams(const Session& session) {
  void *first = nullptr, *second = nullptr, *event = nullptr;
  TRY(session.call("cuStreamCreate", &first, 1u));
  TRY(session.call("cuStreamCreate", &second, 1u));
  TRY(session.call("cuEventCreate", &event, 0u));
  const std::vector<Word> data = numbers(10'000);
  TRY(const Memory memory, session.upload(data));
  TRY(const Memory copy, session.zeroes<Word>(data.size()));
  for (int i = 0; i < 5; ++i)
    TRY(session.start("plus_one", {{79}, {128}, 0, first}, memory.address(), static_cast<int>(data.size())));
  TRY(session.call("cuEventRecord", event, first));
  TRY(session.call("cuStreamWaitEvent", second, event, 0u));
  TRY(session.call("cuMemcpyDtoDAsync_v2", copy.address(), memory.address(), memory.bytes(), second));
  TRY(session.call("cuStreamSynchronize", second));
  std::vector<Word> expected = data;
  for (Word& word : expected) word += 5;
  TRY(const std::vector<Word> got, copy.values<Word>());
  TRY(expect_same(got, expected, "words"));
  TRY(session.call("cuEventDestroy_v2", event));
  TRY(session.call("cuStreamDestroy_v2", first));
  TRY(session.call("cuStreamDestroy_v2", second));
  return "";
}

constexpr Check kChecks[] = {
    {"memory/copies", copies},
    {"memory/fills", fills},
    {"memory/offsets", offsets},
    {"memory/pointers in memory", pointers_in_memory},
    {"memory/managed", managed},
    {"memory/page-locked", page_locked},
    {"memory/module variables", variables},
    {"memory/streams and events", streams},
};

}  // namespace

std::span<const Check> memory_checks() {
  return kChecks;
}

}  // namespace cupola::tool::selftest
