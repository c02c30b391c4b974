#include "doubles/msl/simd_machine.h"

#include <boost/context/fiber.hpp>
#include <boost/context/pooled_fixedsize_stack.hpp>

#include <algorithm>
#include <array>
#include <compare>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "base/fault_router.h"

namespace cupola::doubles {
namespace {

namespace context = boost::context;

constexpr uint32_t kLanes = 32;
constexpr size_t kStackBytes = 256 * 1024;
constexpr uint64_t kResidentThreads = 2048;  ///< of groups that run at the same time; one group may have more
constexpr int kGathers = 1000;               ///< of a SIMD group, before the next one has its turn
constexpr uint32_t kMostYields = 64;         ///< as well: from 1 on, by chance, for locks may be held at a turn's end

enum class State { Ready, Gathering, AtBarrier, Done, Faulted };

/// Where a thread stands: the calls that led there, the outermost first, so that what comes earlier in the code is
/// less.
struct Site {
  static constexpr size_t kDeepest = 16;
  std::array<uintptr_t, kDeepest> calls{};
  friend auto operator<=>(const Site&, const Site&) = default;
};

struct Frame {
  const Frame* caller;
  uintptr_t back;  ///< where it returns to
};

thread_local CodeRange running;  ///< what runs on the thread

Site site_of(const void* frame) {
  Site site;
  size_t depth = 0;
  for (auto* at = static_cast<const Frame*>(frame); at->back >= running.begin && at->back < running.end;
       at = at->caller) {
    if (depth == Site::kDeepest) break;
    site.calls[depth++] = at->back;
  }
  std::reverse(site.calls.begin(), site.calls.begin() + static_cast<std::ptrdiff_t>(depth));
  return site;
}

struct Lane {
  ThreadPlace place;
  context::fiber fibre;  ///< where the thread stands while it does not run
  context::fiber home;   ///< where the scheduler stands while it runs
  State state = State::Ready;
  Site site;
  uint64_t value = 0;
  Gathered gathered;
  void* stack = nullptr;       ///< below the frame that called the kernel: where a fault lands
  uint64_t fault_address = 0;  ///< once Faulted
};

thread_local Lane* current_lane = nullptr;  ///< null while no kernel runs on the thread

/// Back to the scheduler, until it comes back.
void leave() {
  Lane* lane = current_lane;
  lane->home = std::move(lane->home).resume();
}

void barrier(void* frame) {
  current_lane->state = State::AtBarrier;
  current_lane->site = site_of(frame);
  leave();
}

const Gathered* gather(void* frame, uint64_t value) {
  current_lane->state = State::Gathering;
  current_lane->site = site_of(frame);
  current_lane->value = value;
  Lane* lane = current_lane;
  leave();
  return &lane->gathered;
}

void yield() {
  leave();
}

void land(void* lane) {
  static_cast<Lane*>(lane)->state = State::Faulted;
  leave();  // for ever
}

/// A thread that faults goes no further: what lies on its stack is left as it is.
bool handle(const FaultRouter::Fault& fault) {
  Lane* const lane = current_lane;
  if (!lane || lane->state == State::Faulted) return false;
  lane->fault_address = fault.address;
  FaultRouter::redirect(fault, &land, lane, lane->stack);
  return true;
}

void* below_this_frame() {
  constexpr uint64_t kBelow = 1024;
  return reinterpret_cast<void*>((reinterpret_cast<uint64_t>(__builtin_frame_address(0)) - kBelow) & ~uint64_t{63});
}

using Run = std::function<void(const ThreadPlace&, const uint64_t* memory)>;

class Group {
 public:
  Group(const Grid& grid, const Dim3& group, const Run& run) : lanes_(grid.threads.count()) {
    for (const uint32_t bytes : grid.threadgroup_bytes) memory_.emplace_back(2 + (bytes + 7) / 8, 0xcdcdcdcdcdcdcdcd);
    for (auto& words : memory_) addresses_.push_back((reinterpret_cast<uint64_t>(words.data()) + 15) & ~uint64_t{15});
    const auto& [groups, threads] = std::tie(grid.groups, grid.threads);
    for (size_t i = 0; i < lanes_.size(); ++i) {
      const auto number = static_cast<uint32_t>(i);
      Lane& lane = lanes_[i];
      lane.place = {{number % threads.x, number / threads.x % threads.y, number / threads.x / threads.y},
                    {threads.x, threads.y, threads.z},
                    {group.x, group.y, group.z},
                    {groups.x, groups.y, groups.z},
                    number % kLanes,
                    number / kLanes,
                    static_cast<uint32_t>((lanes_.size() + kLanes - 1) / kLanes)};
      lane.fibre = context::fiber(std::allocator_arg, stacks(), [this, &lane, &run](context::fiber&& from) {
        lane.home = std::move(from);
        lane.stack = below_this_frame();
        run(lane.place, addresses_.data());
        lane.state = State::Done;
        return std::move(lane.home);
      });
    }
  }

  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  /// Of a grid that failed, threads are where they are: nothing there can be unwound, so that they are never ended.
  ~Group() {
    for (Lane& lane : lanes_)
      if (lane.fibre) (void)new context::fiber(std::move(lane.fibre));
  }

  enum class Step { Waited, WentOn, Ended };  ///< WentOn: a thread ended, or all passed a barrier

  /// Every SIMD group has a turn. `resumes` counts how often a thread was taken up.
  Result<Step> step(uint64_t& resumes) {
    const size_t done = done_;
    bool turning = false;
    for (size_t first = 0; first < lanes_.size(); first += kLanes) turning |= !run_simdgroup(first, resumes);
    if (faulted_)
      return fail(ErrorCode::IllegalAddress, "software Metal: illegal memory access at {:#x}", faulted_->fault_address);
    if (done_ == lanes_.size()) return Step::Ended;
    if (turning) return done_ != done ? Step::WentOn : Step::Waited;
    TRY(pass_barrier());
    return Step::WentOn;
  }

 private:
  static context::pooled_fixedsize_stack& stacks() {
    thread_local context::pooled_fixedsize_stack pool(kStackBytes);
    return pool;
  }

  void resume(Lane& lane) {
    current_lane = &lane;
    lane.fibre = std::move(lane.fibre).resume();
    current_lane = nullptr;
    if (lane.state == State::Done) ++done_;
    if (lane.state == State::Faulted) faulted_ = &lane;
  }

  /// Until all its lanes are done or at a barrier; false: some let others have their turn, for whom they may wait.
  bool run_simdgroup(size_t first, uint64_t& resumes) {
    const std::span<Lane> lanes = std::span(lanes_).subspan(first, std::min<size_t>(kLanes, lanes_.size() - first));
    chance_ = chance_ * 1664525 + 1013904223;
    uint32_t yields = (chance_ >> 16) % kMostYields;
    for (int gathers = 0; gathers < kGathers; ++gathers) {
      bool yielded = false;
      for (Lane& lane : lanes)
        if (lane.state == State::Ready) {
          ++resumes;
          resume(lane);
          if (faulted_) return true;
          yielded |= lane.state == State::Ready;
        }
      if (yielded && yields-- == 0) return false;
      if (yielded) continue;
      const Site* earliest = nullptr;
      for (const Lane& lane : lanes)
        if (lane.state == State::Gathering && (!earliest || lane.site < *earliest)) earliest = &lane.site;
      if (!earliest) return true;
      const Site site = *earliest;
      Gathered gathered{};
      for (const Lane& lane : lanes)
        if (lane.state == State::Gathering && lane.site == site) {
          gathered.values[lane.place.lane] = lane.value;
          gathered.active |= 1u << lane.place.lane;
        }
      for (Lane& lane : lanes)
        if (lane.state == State::Gathering && lane.site == site) {
          lane.gathered = gathered;
          lane.state = State::Ready;
        }
    }
    return false;
  }

  Result<> pass_barrier() {
    const Site* site = nullptr;
    size_t waiting = 0;
    for (const Lane& lane : lanes_) {
      if (lane.state != State::AtBarrier) continue;
      ++waiting;
      if (site && lane.site != *site)
        return fail(ErrorCode::LaunchFailed, "software Metal: threads of a threadgroup wait at different barriers");
      site = &lane.site;
    }
    if (waiting != lanes_.size())
      return fail(ErrorCode::LaunchFailed, "software Metal: {} of a threadgroup's {} threads ended before a barrier",
                  lanes_.size() - waiting, lanes_.size());
    for (Lane& lane : lanes_) lane.state = State::Ready;
    return {};
  }

  std::vector<Lane> lanes_;
  std::vector<std::vector<uint64_t>> memory_;
  std::vector<uint64_t> addresses_;
  size_t done_ = 0;
  uint32_t chance_ = 0;
  const Lane* faulted_ = nullptr;
};

}  // namespace

Machine machine{barrier, gather, yield};

Result<> run_grid(const Grid& grid, const Run& run) {
  running = grid.code;
  [[maybe_unused]] static const bool routed = (FaultRouter::add(&handle), true);
  FaultRouter::prepare_thread();
  const uint64_t all = grid.groups.count(), most = std::max<uint64_t>(1, kResidentThreads / grid.threads.count());
  std::vector<std::unique_ptr<Group>> resident;
  uint64_t resumes = 0;
  for (uint64_t next = 0; next < all || !resident.empty();) {
    for (; next < all && resident.size() < most; ++next) {
      const auto& [x, y, z] = grid.groups;
      const Dim3 group{static_cast<uint32_t>(next % x), static_cast<uint32_t>(next / x % y),
                       static_cast<uint32_t>(next / x / y)};
      resident.push_back(std::make_unique<Group>(grid, group, run));
    }
    for (std::unique_ptr<Group>& group : resident) {
      TRY(const Group::Step step, group->step(resumes));
      if (step != Group::Step::Waited) resumes = 0;
      if (step == Group::Step::Ended) group.reset();
    }
    std::erase(resident, nullptr);
    if (resumes > grid.patience)
      return fail(ErrorCode::LaunchTimeout, "software Metal: no thread got on while threads were taken up {} times",
                  resumes);
  }
  return {};
}

}  // namespace cupola::doubles
