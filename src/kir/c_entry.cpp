#include "kir/c_entry.h"

#include <cstdlib>
#include <cstring>
#include <span>

namespace cupola::kir {

int hand_over(const Result<std::vector<std::byte>>& answer, void** output, size_t* output_bytes) {
  const auto bytes = answer ? std::span<const std::byte>(*answer) : std::as_bytes(std::span(answer.error().message));
  *output = std::malloc(bytes.empty() ? 1 : bytes.size());
  *output_bytes = *output ? bytes.size() : 0;
  if (*output_bytes) std::memcpy(*output, bytes.data(), bytes.size());
  return answer ? 0 : static_cast<int>(answer.error().code);
}

}  // namespace cupola::kir
