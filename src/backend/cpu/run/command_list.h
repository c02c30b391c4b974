#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "hal/command.h"

namespace cupola::cpu {

/// Commands in chunks of slots: a command stays in its slot until it is popped, and a list that was as long before
/// allocates nothing. Launches in a row of the same code own it together, through their chunk: so who takes the
/// commands out touches its count of owners once a chunk. Not thread-safe.
class CommandList {
 public:
  CommandList() = default;
  CommandList(const CommandList&) = delete;
  CommandList& operator=(const CommandList&) = delete;
  ~CommandList() {
    drop(std::move(first_));
    drop(std::move(spare_));
  }

  /// All commands of the other list, which gets this list's room: this one is empty.
  void take(CommandList& other) noexcept {
    std::swap(first_, other.first_);
    std::swap(last_, other.last_);
    std::swap(begin_, other.begin_);
    std::swap(end_, other.end_);
    std::swap(size_, other.size_);
    while (std::unique_ptr<Chunk> chunk = std::move(spare_)) {
      spare_ = std::move(chunk->next);
      other.keep(std::move(chunk));
    }
    spares_ = 0;
  }

  bool empty() const { return size_ == 0; }
  hal::Command& front() { return first_->slots[begin_]; }

  /// All or none (std::bad_alloc).
  void append(std::span<hal::Command> commands) {
    reserve(commands.size());
    for (hal::Command& command : commands) {
      if (end_ == kSlots) {
        last_ = last_->next.get();
        end_ = 0;
      }
      hal::Command& slot = last_->slots[end_++];
      if (auto* const launch = std::get_if<hal::Launch>(&command)) [[likely]]
        last_->own(slot.emplace<hal::Launch>(std::move(*launch)));
      else
        slot = std::move(command);
    }
    size_ += commands.size();
  }

  /// What the first command owned goes; code that launches own together when no command of their chunk is left.
  void pop() {
    front().emplace<hal::Timestamp>();
    --size_;
    if (++begin_ < kSlots && size_) return;
    begin_ = 0;
    first_->owner.reset();
    if (size_ == 0) {
      end_ = 0;  // the only chunk with commands: it is used again
      return;
    }
    std::unique_ptr<Chunk> used = std::move(first_);
    first_ = std::move(used->next);
    keep(std::move(used));
  }

 private:
  static constexpr size_t kSlots = 16, kMostSpares = 64;
  struct Chunk {
    hal::Command slots[kSlots];
    std::unique_ptr<Chunk> next;
    std::shared_ptr<hal::Executable> owner;  ///< of the code of the launches that do not own it themselves

    /// The launch may come with code that it does not own, as a kernel's launches do, which end before that kernel.
    void own(hal::Launch& launch) {
      if (owner && launch.executable != owner) return;
      if (!owner) owner = std::move(launch.executable);
      launch.executable = {std::shared_ptr<void>(), owner.get()};
    }
  };

  /// Chunks behind the last, for so many more commands.
  void reserve(size_t count) {
    if (!first_) {
      first_ = std::make_unique<Chunk>();
      last_ = first_.get();
    }
    Chunk* chunk = last_;
    for (size_t room = kSlots - end_; room < count; room += kSlots) {
      if (!chunk->next) {
        if (spare_) {
          --spares_;
          chunk->next = std::move(spare_);
          spare_ = std::move(chunk->next->next);
        } else {
          chunk->next = std::make_unique<Chunk>();
        }
      }
      chunk = chunk->next.get();
    }
  }

  void keep(std::unique_ptr<Chunk> chunk) {
    if (spares_ == kMostSpares) return;
    ++spares_;
    chunk->next = std::move(spare_);
    spare_ = std::move(chunk);
  }

  static void drop(std::unique_ptr<Chunk> chunk) {
    while (chunk) chunk = std::move(chunk->next);  // one at a time: a long list would nest its destructors
  }

  std::unique_ptr<Chunk> first_, spare_;
  Chunk* last_ = nullptr;
  size_t begin_ = 0, end_ = 0;  ///< slots: of the first chunk, and behind the last command's
  size_t size_ = 0;
  size_t spares_ = 0;
};

}  // namespace cupola::cpu
