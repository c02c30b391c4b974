#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

namespace cupola {

/// Sleeps while the word is `value`: until another thread wakes who sleeps on it, at most so long if asked. May return
/// early, for no reason. Any thread.
void sleep_on(const std::atomic<uint32_t>& word, uint32_t value, std::optional<uint64_t> nanoseconds = std::nullopt);

/// Wakes one thread, or all, that sleep on the word, which must have been changed. The word is not looked at, so its
/// life may have ended. Any thread.
void wake_one_on(const std::atomic<uint32_t>& word);
void wake_all_on(const std::atomic<uint32_t>& word);

}  // namespace cupola
