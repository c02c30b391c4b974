#include <algorithm>
#include <bit>

#include "cupola/selftest/check.h"

// Launches, barriers, lanes of a warp and atomics. Oracle: the same worked out on the host, thread by thread.

namespace cupola::tool::selftest {
namespace {

using Word = uint32_t;

Result<std::string> grids(const Session& session) {
  struct Case {
    Dim3 grid, block;
  };
  for (const Case& each :
       {Case{{3}, {100}}, {{2, 3, 2}, {4, 5, 6}}, {{70}, {1024}}, {{1}, {1}}, {{5, 1, 3}, {33, 2}}}) {
    const size_t threads = each.grid.count() * each.block.count();
    TRY(const Memory out, session.zeroes<Word>(threads));
    TRY(session.run("places", {each.grid, each.block}, out.address()));
    std::vector<Word> expected;
    const Dim3 &g = each.grid, &b = each.block;
    for (Word bz = 0; bz < g.z; ++bz)
      for (Word by = 0; by < g.y; ++by)
        for (Word bx = 0; bx < g.x; ++bx)
          for (Word tz = 0; tz < b.z; ++tz)
            for (Word ty = 0; ty < b.y; ++ty)
              for (Word tx = 0; tx < b.x; ++tx)
                expected.push_back(static_cast<Word>(expected.size()) * 8 + (tx + ty + tz + bx + by + bz) % 8);
    TRY(const std::vector<Word> got, out.values<Word>());
    TRY(expect_same(got, expected, formatted("grid {} x {} x {}", g.x, g.y, g.z)));
  }
  return "";
}

Result<std::string> parameters(const Session& session) {
  struct Mixed {
    char letter;
    double number;
    short half;
  };
  TRY(const Memory out, session.zeroes<double>(1));
  TRY(session.run("mixed", {{1}, {1}}, out.address(), char{3}, Mixed{-4, 0.125, 900}, short{-7}, 2.5f, 1ull << 40));
  TRY(const std::vector<double> got, out.values<double>());
  TRY(expect_same(got, {3 - 4 + 0.125 + 900 - 7 + 2.5 + 1099511627776.0}, "the sum of all"));
  return "";
}

/// More than the 4 KiB that Metal takes in place.
Result<std::string> large_parameters(const Session& session) {
  struct Large {
    Word words[1100];
  } given;
  std::vector<Word> expected(32);
  for (Word i = 0; i < 1100; ++i) {
    given.words[i] = i * 2654435761u;
    expected[i % 32] += given.words[i] * (i + 1);
  }
  TRY(const Memory out, session.zeroes<Word>(32));
  TRY(session.run("large", {{1}, {32}}, given, out.address()));
  TRY(const std::vector<Word> got, out.values<Word>());
  TRY(expect_same(got, expected, "sums"));
  return "";
}

Result<std::string> shared_memory(const Session& session) {
  std::vector<Word> data(256);
  for (Word i = 0; i < 256; ++i) data[i] = i * i;
  TRY(const Memory memory, session.upload(data));
  TRY(session.run("shared_reversed", {{1}, {256}, 1024}, memory.address()));
  for (Word& word : data) word *= 3;
  std::ranges::reverse(data);
  TRY(const std::vector<Word> got, memory.values<Word>());
  TRY(expect_same(got, data, "words"));
  return "";
}

Result<std::string> barriers(const Session& session) {
  std::vector<Word> data(1024 * 3), expected(3);
  for (Word i = 0; i < data.size(); ++i) expected[i / 1024] += data[i] = i * 31 + 7;
  TRY(const Memory in, session.upload(data));
  TRY(const Memory out, session.zeroes<Word>(3));
  TRY(session.run("block_sum", {{3}, {1024}}, in.address(), out.address()));
  TRY(const std::vector<Word> got, out.values<Word>());
  TRY(expect_same(got, expected, "sums of blocks"));
  return "";
}

/// CUDA counts threads that are gone as arrived, and those that wait at another place as waiting at this one.
Result<std::string> parted_barriers(const Session& session) {
  TRY(const Memory out, session.zeroes<Word>(200));
  TRY(session.run("parted", {{1}, {200}}, out.address(), 130u));
  // Of the even threads those below 10 count, of the odd ones those below 20: 5 + 10 at the one barrier that all pass.
  std::vector<Word> expected(200);
  std::fill_n(expected.begin(), 130, 15);
  TRY(const std::vector<Word> got, out.values<Word>());
  TRY(expect_same(got, expected, "counts"));
  return "";
}

Result<std::string> lanes(const Session& session) {
  TRY(const int width, session.attribute(10));  // CU_DEVICE_ATTRIBUTE_WARP_SIZE
  if (width != 32) return fail(ErrorCode::InvalidValue, "the device says that a warp has {} threads", width);
  TRY(const Memory out, session.zeroes<Word>(256));
  TRY(session.run("lanes", {{1}, {256}}, out.address()));
  std::vector<Word> expected(256);
  for (Word i = 0; i < 256; ++i) expected[i] = i % 32;
  TRY(const std::vector<Word> got, out.values<Word>());
  TRY(expect_same(got, expected, "lanes"));
  return "32 consecutive threads run in step";
}

Result<std::string> shuffles(const Session& session) {
  TRY(const Memory out, session.zeroes<Word>(64 * 8));
  TRY(session.run("shuffles", {{1}, {64}}, out.address()));
  std::vector<Word> expected;
  for (Word i = 0; i < 64; ++i) {
    const Word warp = i & ~31u, lane = i & 31;
    const auto value = [&](Word from) { return (warp + from) * (warp + from) + 1; };
    const Word rows[] = {value(i * 7 % 32),
                         value(lane >= 3 ? lane - 3 : lane),
                         value(lane + 5 < 32 ? lane + 5 : lane),
                         value(lane ^ 9),
                         value((lane & 24) + 2),
                         value(lane % 8 >= 1 ? lane - 1 : lane),
                         value(lane % 16 < 15 ? lane + 1 : lane),
                         value((lane ^ 4) / 4 <= lane / 4 ? lane ^ 4 : lane)};
    expected.insert(expected.end(), std::begin(rows), std::end(rows));
  }
  TRY(const std::vector<Word> got, out.values<Word>());
  TRY(expect_same(got, expected, "shuffles, eight a thread"));
  return "";
}

Result<std::string> votes(const Session& session) {
  TRY(const Memory out, session.zeroes<Word>(32 * 6));
  TRY(session.run("votes", {{1}, {32}}, out.address()));
  Word thirds = 0, part = 0, sum = 0;
  for (Word i = 0; i < 32; ++i) {
    thirds |= (i % 3 == 0) << i;
    part |= (i % 4 < 2 && i % 8 < 3) << i;
    sum += i * i;
  }
  std::vector<Word> expected;
  for (Word i = 0; i < 32; ++i) {
    const Word same = i / 5 == 6 ? 0xC0000000u : 31u << i / 5 * 5;
    for (const Word word : {thirds, 3u, same, sum, i % 4 < 2 ? part : 0u, 32u}) expected.push_back(word);
  }
  TRY(const std::vector<Word> got, out.values<Word>());
  TRY(expect_same(got, expected, "votes, six a thread"));
  return "";
}

Result<std::string> atomics(const Session& session) {
  constexpr Word kBlocks = 5, kThreads = 96, kAll = kBlocks * kThreads;
  TRY(const Memory words, session.zeroes<Word>(9));
  TRY(const Memory wide, session.zeroes<uint64_t>(2));
  TRY(const Memory sum, session.zeroes<float>(1));
  TRY(session.run("atomics", {{kBlocks}, {kThreads}}, words.address(), wide.address(), sum.address()));
  std::vector<Word> expected(9);
  uint64_t wide_sum = 0, largest = 0;
  for (Word i = 0; i < kAll; ++i) {
    expected[0] += i;
    expected[1] = std::max(expected[1], i * 7 % 1000);
    expected[3] ^= 1u << i % 32;
    expected[5 + i % 4] += i;
    wide_sum += uint64_t{i} << 20;
    largest = std::max(largest, uint64_t{i} << 40 | 5);
  }
  expected[2] = -(kAll - 1);
  expected[4] = kAll * 3;
  TRY(const std::vector<Word> got, words.values<Word>());
  TRY(expect_same(got, expected, "words"));
  TRY(const std::vector<uint64_t> got_wide, wide.values<uint64_t>());
  TRY(expect_same(got_wide, {wide_sum, largest}, "words of 64 bits"));
  TRY(const std::vector<float> got_sum, sum.values<float>());
  TRY(expect_same(got_sum, {0.25f * kAll}, "the sum of floats"));
  return "";
}

/// A compare-and-swap that fails by chance would leave a word to nobody.
Result<std::string> compare_and_swap(const Session& session) {
  constexpr Word kWords = 64;
  TRY(const Memory words, session.zeroes<Word>(kWords));
  TRY(const Memory times, session.zeroes<Word>(kWords));
  TRY(session.run("taken_once", {{8}, {128}}, words.address(), times.address(), static_cast<int>(kWords)));
  TRY(const std::vector<Word> got, times.values<Word>());
  TRY(expect_same(got, std::vector<Word>(kWords, 1), "how often each word was taken"));
  return "";
}

Result<std::string> fences(const Session& session) {
  constexpr Word kBlocks = 20, kThreads = 64;
  std::vector<Word> data(kBlocks * kThreads);
  Word sum = 0;
  for (Word i = 0; i < data.size(); ++i) sum += data[i] = i * 2654435761u;
  TRY(const Memory in, session.upload(data));
  TRY(const Memory parts, session.zeroes<Word>(kBlocks));
  TRY(const Memory arrived, session.zeroes<Word>(1));
  TRY(const Memory out, session.zeroes<Word>(1));
  TRY(session.run("last_block_sum", {{kBlocks}, {kThreads}}, in.address(), parts.address(), arrived.address(),
                  out.address()));
  TRY(const std::vector<Word> got, out.values<Word>());
  TRY(expect_same(got, {sum}, "the last block's sum"));
  return "";
}

constexpr Check kChecks[] = {
    {"launches/grids and blocks", grids},
    {"launches/parameters", parameters},
    {"launches/parameters above 4 KiB", large_parameters},
    {"blocks/shared memory", shared_memory},
    {"blocks/barriers", barriers},
    {"blocks/barriers of threads that part", parted_barriers},
    {"warps/width 32", lanes},
    {"warps/shuffles", shuffles},
    {"warps/votes, matches, reductions", votes},
    {"atomics/of every size", atomics},
    {"atomics/compare-and-swap never fails by chance", compare_and_swap},
    {"atomics/fences between blocks", fences},
};

}  // namespace

std::span<const Check> thread_checks() {
  return kChecks;
}

}  // namespace cupola::tool::selftest
