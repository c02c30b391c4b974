#include <numeric>
#include <thread>

#include "hal/cts/test_case.h"

// Oracle: the same copy or fill, byte by byte on the host.

namespace cupola::hal::cts {
namespace {

std::vector<uint8_t> pattern(size_t bytes, uint32_t seed = 1) {
  std::vector<uint8_t> result(bytes);
  uint32_t state = seed;
  for (uint8_t& byte : result) byte = static_cast<uint8_t>((state = state * 1664525 + 1013904223) >> 24);
  return result;
}

void copy_there_and_back(TestCase& t) {
  for (const size_t bytes :
       {size_t{1}, size_t{7}, size_t{4096}, size_t{1000003}, size_t{33} << 20, (size_t{9} << 20) + 5}) {
    auto buffer = t.make_buffer(2 * bytes);
    const auto from = pattern(bytes);
    std::vector<uint8_t> to(bytes);
    t.queue->submit(Copy{.destination = buffer->address(), .source = address_of(from.data()), .width = bytes});
    t.queue->submit(Copy{.destination = buffer->address() + bytes, .source = buffer->address(), .width = bytes});
    t.run(Copy{.destination = address_of(to.data()), .source = buffer->address() + bytes, .width = bytes});
    EXPECT_TRUE(from == to) << bytes;
  }
}

/// Runs a copy between two host blocks and compares with the plain loops.
void check_copy(TestCase& t, Copy copy, size_t source_bytes, size_t destination_bytes) {
  const auto source = pattern(source_bytes);
  auto expected = pattern(destination_bytes, 99);
  auto actual = expected;
  for (uint64_t z = 0; z < copy.depth; ++z)
    for (uint64_t y = 0; y < copy.height; ++y)
      for (uint64_t x = 0; x < copy.width; ++x)
        expected[z * copy.destination_slice + y * copy.destination_pitch + x] =
            source[z * copy.source_slice + y * copy.source_pitch + x];
  copy.source = address_of(source.data());
  copy.destination = address_of(actual.data());
  t.run(copy);
  EXPECT_TRUE(expected == actual);
}

void copy_of_rows_leaves_the_gaps(TestCase& t) {
  check_copy(t, {.width = 13, .height = 29, .destination_pitch = 20, .source_pitch = 17}, 29 * 17, 29 * 20);
  check_copy(t, {.width = 4099, .height = 3001, .destination_pitch = 5000, .source_pitch = 4100}, 3001 * 4100,
             3001 * 5000);
}

void copy_of_slices_leaves_the_gaps(TestCase& t) {
  check_copy(t,
             {.width = 5,
              .height = 7,
              .depth = 11,
              .destination_pitch = 6,
              .source_pitch = 9,
              .destination_slice = 50,
              .source_slice = 70},
             11 * 70, 11 * 50);
}

void copy_of_nothing_is_done(TestCase& t) {
  t.run(Copy{.destination = 16, .source = 16, .width = 0});
  t.run(Copy{.destination = 16, .source = 16, .width = 4, .height = 0});
  t.run(Fill{.destination = 16, .width = 0});
}

void check_fill(TestCase& t, Fill fill, size_t bytes) {
  auto buffer = t.make_buffer(bytes);
  const auto before = pattern(bytes);
  auto expected = before;
  std::vector<uint8_t> actual(bytes);
  for (uint64_t y = 0; y < fill.height; ++y)
    for (uint64_t x = 0; x < fill.width * fill.value_bytes; ++x)
      expected[y * fill.pitch + x] = static_cast<uint8_t>(fill.value >> 8 * (x % fill.value_bytes));
  fill.destination = buffer->address();
  t.queue->submit(Copy{.destination = buffer->address(), .source = address_of(before.data()), .width = bytes});
  t.queue->submit(fill);
  t.run(Copy{.destination = address_of(actual.data()), .source = buffer->address(), .width = bytes});
  EXPECT_TRUE(expected == actual) << fill.value_bytes << " bytes, width " << fill.width;
}

void fill_writes_every_width(TestCase& t) {
  for (const uint32_t value_bytes : {1u, 2u, 4u}) {
    check_fill(t, {.value = 0xA1B2C3D4, .value_bytes = value_bytes, .width = 101}, 500);
    check_fill(t, {.value = 0xA1B2C3D4, .value_bytes = value_bytes, .width = 5000017}, 20000100);
  }
}

void fill_of_rows_leaves_the_gaps(TestCase& t) {
  for (const uint32_t value_bytes : {1u, 2u, 4u})
    check_fill(t, {.value = 0xA1B2C3D4, .value_bytes = value_bytes, .width = 11, .height = 13, .pitch = 64}, 13 * 64);
}

void owners_live_until_it_is_done(TestCase& t) {
  uint32_t from = 5, to = 0;
  const auto gate = t.device->create_semaphore(0);
  std::weak_ptr<int> owners[3];
  uint64_t last = 0;
  {
    std::shared_ptr<int> all[3];
    for (int i = 0; i < 3; ++i) owners[i] = all[i] = std::make_shared<int>(i);
    t.queue->submit(Wait{gate, 1});
    t.queue->submit(Copy{.destination = address_of(&to),
                         .source = address_of(&from),
                         .width = 4,
                         .destination_owner = all[0],
                         .source_owner = all[1]});
    last = t.queue->submit(Fill{.destination = address_of(&from), .width = 4, .owner = all[2]});
  }
  for (const auto& owner : owners) EXPECT_FALSE(owner.expired());
  gate->signal(1);
  TestCase::expect_done(*t.queue, last);
  EXPECT_EQ(to, 5u);
  EXPECT_EQ(from, 0u);
  for (const auto& owner : owners)
    while (!owner.expired()) std::this_thread::yield();  // soon after
}

}  // namespace

std::vector<Test> transfer_tests() {
  return {
      {"Transfer", "CopyThereAndBack", false, copy_there_and_back},
      {"Transfer", "CopyOfRowsLeavesTheGaps", false, copy_of_rows_leaves_the_gaps},
      {"Transfer", "CopyOfSlicesLeavesTheGaps", false, copy_of_slices_leaves_the_gaps},
      {"Transfer", "CopyOfNothingIsDone", false, copy_of_nothing_is_done},
      {"Transfer", "FillWritesEveryWidth", false, fill_writes_every_width},
      {"Transfer", "FillOfRowsLeavesTheGaps", false, fill_of_rows_leaves_the_gaps},
      {"Transfer", "OwnersLiveUntilItIsDone", false, owners_live_until_it_is_done},
  };
}

}  // namespace cupola::hal::cts
