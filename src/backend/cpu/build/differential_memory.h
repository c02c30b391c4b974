#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/cpu/build/fenced_memory.h"
#include "backend/cpu/build/random_kernel.h"

// Memory for running one kernel of random_kernel.h in several ways, and comparing what it wrote.

namespace cupola::cpu::build::testing {

/// What kernels of random_kernel.h are given and write.
struct DifferentialMemory {
  static constexpr const char* kNames[] = {"o8", "o16", "o32", "o64", "in", "sums", "table"};
  std::vector<Fenced> bytes;  ///< in the order of kNames
  std::string failure;

  explicit DifferentialMemory(uint64_t threads) {
    for (const uint64_t width : {1, 2, 4, 8}) bytes.emplace_back(threads * (kCells + kMostFields) * width);
    bytes.emplace_back(kInputs * 4);
    bytes.emplace_back(kSums * 4);
    bytes.emplace_back(size_t{kTableRows} * kTableColumns * 4);
    std::mt19937 random(5);
    for (std::byte& one : bytes[4].bytes()) one = static_cast<std::byte>(random() >> (random() % 24));
  }

  /// How the other, which ran in another way, differs from this, the reference; empty: in nothing. That either failed
  /// is a difference: what was written before says nothing.
  std::string compare(const DifferentialMemory& other) const {
    if (!failure.empty()) return formatted("the reference failed: {}", failure);
    if (!other.failure.empty()) return formatted("failed: {}", other.failure);
    for (size_t i = 0; i < bytes.size(); ++i) {
      const std::span<std::byte> ours = bytes[i].bytes(), theirs = other.bytes[i].bytes();
      if (memcmp(ours.data(), theirs.data(), ours.size()) == 0) continue;
      // Byte by byte, which takes long where tests are compiled without optimisation.
      const auto [our, their] = std::ranges::mismatch(ours, theirs);
      if (our != ours.end())
        return formatted("{}: byte {} of {} is {}, in the other {}", kNames[i], our - ours.begin(), ours.size(),
                         static_cast<int>(*our), static_cast<int>(*their));
    }
    return {};
  }

  /// The kernel's parameter block.
  struct Parameters {
    std::byte* memory[6];
    int32_t n = 37;
    uint32_t total;
    std::byte* table;
  };
  /// `arena`: how far from there the kernel's addresses are.
  Parameters parameters(uint64_t arena = 0) const {
    Parameters made;
    for (size_t i = 0; i < std::size(made.memory); ++i) made.memory[i] = bytes[i].bytes().data() - arena;
    made.table = bytes.back().bytes().data() - arena;
    made.total = static_cast<uint32_t>(bytes[0].bytes().size() / (kCells + kMostFields));
    return made;
  }
};

}  // namespace cupola::cpu::build::testing
