#include "backend/cpu/run/cpu_queue.h"

#include <new>
#include <utility>
#include <variant>

#include "backend/cpu/run/command_list.h"
#include "backend/cpu/run/command_trace.h"
#include "backend/cpu/run/cpu_semaphore.h"
#include "backend/cpu/run/device_queues.h"
#include "backend/cpu/run/grid.h"
#include "backend/cpu/run/ready.h"
#include "backend/cpu/run/transfer.h"
#include "base/steady_clock.h"

// Who drives a queue. Commands that come while nobody does are in turn at once, and the first start() after that makes
// its thread the driver: it begins command after command, as long as each is done at once. A command that takes longer
// carries the driving to the thread that ends it: the driver begins it and touches the queue no more. The driver that
// finds no command left is the last. One thread at a time, then, has what only the driver uses: the commands in turn,
// which stay in their slots until they are done, and `work_`, so that launches run without an allocation. When it has
// none left it takes all that came meanwhile, and only then meets those who enqueue.
//
// A queue that ends while it is driven leaves its state to the driver, and the device waits for that.

namespace cupola::cpu {

namespace {
constexpr size_t kCacheLine = 128;  // of the largest that we run on

/// Short grids that a thread runs which starts a queue, some tens of microseconds: others may enqueue as fast as it
/// runs.
constexpr uint32_t kMostShort = 32;
}  // namespace

class CpuQueue::State final : public std::enable_shared_from_this<State>,
                              public SemaphoreHelper,
                              public DeviceFault::Listener,
                              private Ready,
                              private Work::Owner,
                              private DeviceQueues::Owner,
                              private SemaphoreWaiter,
                              private HostCalls::Call {
 public:
  State(const QueueServices& services, std::shared_ptr<CpuDomain> domain, uint32_t depth, CpuQueue::Listener* listener)
      : services_(services),
        depth_(depth),
        listener_(listener),
        domain_(std::move(domain)),
        progress_(std::make_shared<CpuSemaphore>(0, domain_)) {}
  ~State() { domain_->faults.remove(*this); }

  /// Once, before any other call: from now on it helps who waits and hears of faults. It has an owner by then, so that
  /// it can be pinned.
  void introduce() noexcept {
    static_cast<CpuSemaphore&>(*progress_).set_helper(weak_from_this());
    domain_->faults.add(*this);
  }

  uint64_t enqueue(std::span<hal::Command> commands) EXCLUDES(mutex_) {
    Lock lock(mutex_);
    if (driven_) {
      coming_.append(commands);
    } else if (!commands.empty()) {
      in_turn_.append(commands);
      driven_ = true;
      needs_driver_.store(true, std::memory_order_release);
    }
    return submitted_ += commands.size();
  }

  void start() {
    if (!needs_driver_.load(std::memory_order_relaxed)) return;  // the driver sees what was enqueued before
    if (!needs_driver_.exchange(false, std::memory_order_acquire)) return;
    short_left_ = kMostShort;
    run_in_turn(*this);
  }

  /// The queue ends: whoever drives it keeps the state until the last command is done.
  void leave_to_driver() EXCLUDES(mutex_) {
    Lock lock(mutex_);
    if (!driven_) return;
    self_ = shared_from_this();
    services_.busy.enter();
  }

  const std::shared_ptr<hal::Semaphore>& progress() const { return progress_; }

 private:
  // ---- the driver ----

  /// Begins commands until one is not done at once or none is left.
  void run() override {
    if (std::exchange(head_done_, false) && !finish_head()) return;
    while (begin_head())
      if (!finish_head()) return;
  }

  /// True if the command is done. Else whoever ends it is the driver, perhaps already.
  bool begin_head() {
    return begin_or_fault([this] { return std::visit([this](auto& each) { return begin(each); }, in_turn_.front()); });
  }

  /// Done, with a fault, where the host has no memory to begin. A grid that was made gives its slot back itself.
  template <typename Begin>
  bool begin_or_fault(const Begin& begin) {
    try {
      return begin();
    } catch (const std::bad_alloc&) {
      domain_->faults.record_out_of_memory("no host memory");
      return true;
    }
  }

  /// The command that begin_head() left is done, on any thread without a lock.
  void head_is_done() {
    head_done_ = true;
    short_left_ = 0;  // this thread has something else to do
    run_in_turn(*this);
  }

  /// False when no command is left: then this may have ended.
  bool finish_head() EXCLUDES(mutex_) {
    work_.emplace<std::monostate>();
    if (const uint64_t begin = std::exchange(traced_from_, 0)) [[unlikely]]
      record_command(in_turn_.front(), traced_as_, begin);
    progress_->signal(++finished_);
    in_turn_.pop();
    std::shared_ptr<State> self;
    BusyQueues& busy = services_.busy;
    CpuQueue::Listener* const listener = listener_;
    bool more = !in_turn_.empty();
    if (!more) {
      Lock lock(mutex_);
      in_turn_.take(coming_);
      more = !in_turn_.empty();
      if (!more) {
        driven_ = false;
        self = std::move(self_);
      }
    }
    if (self) {
      self.reset();
      busy.leave();
    }
    if (listener) listener->command_done();
    return more;
  }

  Work::Owner& owner() { return *this; }
  void trace_head() {
    if (trace::recording()) [[unlikely]]
      traced_from_ = trace::now();
  }

  bool faulted() const { return domain_->faults.any(); }

  // ---- commands: true if done ----

  bool begin(const hal::Launch& launch) {
    if (faulted() || launch.grid.count() == 0) return drop(launch);
    trace_head();
    if (const KernelCode* code = code_of(launch)) [[likely]]
      return begin_grid(launch, *code);
    // It is compiled on another thread: this may be the small stack of a kernel that launches it.
    return submit_call(domain_->compile_calls) ? false : drop(launch);
  }

  /// Null: it is to be made.
  static const KernelCode* code_of(const hal::Launch& launch) {
    return static_cast<const CpuExecutable&>(*launch.executable).code(launch.kernel, launch.block);
  }

  bool begin_grid(const hal::Launch& launch, const KernelCode& code) {
    Grid& grid = work_.emplace<Grid>(launch, code, services_, *domain_, owner(), depth_);
    if (short_left_ != 0 && services_.pool.run_here(grid)) {
      --short_left_;
      return true;
    }
    return !submit(grid);
  }

  bool drop(const hal::Launch&) {
    if (depth_) domain_->launch_slots.give_back();
    return true;
  }

  /// On a thread of its own. True if the launch is done.
  bool compile_and_begin(const hal::Launch& launch) {
    try {
      const Result<> prepared = launch.executable->prepare(launch.kernel, launch.block);
      if (!prepared) domain_->faults.record(prepared.error());
    } catch (const std::bad_alloc&) {
      domain_->faults.record_out_of_memory("no host memory to compile a kernel");
    }
    if (faulted()) return drop(launch);
    return begin_or_fault([&] { return begin_grid(launch, *code_of(launch)); });
  }

  bool begin(const hal::Copy& copy) { return begin_transfer(copy); }
  bool begin(const hal::Fill& fill) { return begin_transfer(fill); }

  template <typename Command>
  bool begin_transfer(const Command& command) {
    if (faulted()) return true;
    trace_head();
    if (depth_ == 0 && is_small(command)) {
      transfer_here(command, *domain_);
      return true;
    }
    return !submit(work_.emplace<Transfer<Command>>(command, *domain_, owner()));
  }

  /// False, and a fault, when it cannot be done.
  bool submit(Work& work) {
    auto submitted = services_.pool.submit(work);
    if (submitted) return true;
    domain_->faults.record(std::move(submitted).error());
    return false;
  }

  bool begin(const hal::HostCall&) { return faulted() || !submit_call(domain_->host_calls); }

  /// call() comes next. False, and a fault, when it cannot.
  bool submit_call(HostCalls& calls) {
    auto submitted = calls.submit(*this);
    if (submitted) return true;
    domain_->faults.record(std::move(submitted).error());
    return false;
  }

  bool begin(const hal::Callback& callback) {
    auto submitted = domain_->host_calls.submit(*this);
    if (submitted) return false;
    const Error error = std::move(submitted).error();
    domain_->faults.record(error);
    callback.function(&error);
    return true;
  }

  bool begin(const hal::Wait& wait) EXCLUDES(mutex_) {
    if (faulted() || wait.semaphore->value() >= wait.value) return true;
    auto& semaphore = static_cast<CpuSemaphore&>(*wait.semaphore);
    Lock lock(mutex_);
    if (!semaphore.add(*this, wait.value)) return true;
    // A fault that is recorded from here on finds `awaited_`; one that was before is seen here.
    if (faulted() && semaphore.remove(*this)) return true;
    awaited_ = &semaphore;
    return false;
  }

  bool begin(const hal::Signal& signal) {
    signal.semaphore->signal(signal.value);
    return true;
  }

  bool begin(const hal::Timestamp& timestamp) {
    timestamp.nanoseconds->store(steady_nanoseconds(), std::memory_order_release);
    return true;
  }

  // ---- their ends ----

  void work_done() override {
    Grid* const grid = std::get_if<Grid>(&work_);
    if (!grid || grid->end(*this)) head_is_done();
  }
  void all_done() override { head_is_done(); }

  void call() override {
    hal::Command& head = in_turn_.front();
    if (const auto* launch = std::get_if<hal::Launch>(&head)) {
      if (!compile_and_begin(*launch)) return;
    } else if (const auto* call = std::get_if<hal::HostCall>(&head)) {
      call->function();
    } else {
      const std::optional<Error> fault = domain_->faults.get();
      std::get<hal::Callback>(head).function(fault ? &*fault : nullptr);
    }
    head_is_done();
  }

  void reached() override EXCLUDES(mutex_) {
    {
      Lock lock(mutex_);
      awaited_ = nullptr;
    }
    head_is_done();
  }

  /// A fault ends a wait.
  void fault_recorded() override EXCLUDES(mutex_) {
    {
      Lock lock(mutex_);
      if (!awaited_ || !awaited_->remove(*this)) return;
      awaited_ = nullptr;
    }
    head_is_done();
  }
  std::shared_ptr<Listener> pin() override { return weak_from_this().lock(); }

  // ---- host threads that wait ----

  bool help(const std::function<bool()>& over, HostPatience& patience) override {
    return services_.pool.help(*this, over, patience);
  }

  const QueueServices services_;
  const uint32_t depth_;
  CpuQueue::Listener* const listener_;
  const std::shared_ptr<CpuDomain> domain_;
  const std::shared_ptr<hal::Semaphore> progress_;
  const uint64_t traced_as_ = next_traced_queue();

  // The driver's, in cache lines of its own.
  alignas(kCacheLine) CommandList in_turn_;
  uint64_t finished_ = 0;
  bool head_done_ = false;
  uint32_t short_left_ = 0;   ///< grids that the thread which called start() may run itself
  uint64_t traced_from_ = 0;  ///< when the first command began, if that is recorded
  std::variant<std::monostate, Grid, Transfer<hal::Copy>, Transfer<hal::Fill>> work_;  ///< of the first command

  alignas(kCacheLine) std::atomic<bool> needs_driver_{false};  ///< there are commands in turn: start() is to come
  Mutex mutex_;
  bool driven_ GUARDED_BY(mutex_) = false;  ///< or about to be
  CommandList coming_ GUARDED_BY(mutex_);
  uint64_t submitted_ GUARDED_BY(mutex_) = 0;
  CpuSemaphore* awaited_ GUARDED_BY(mutex_) = nullptr;  ///< what the first command waits for
  std::shared_ptr<State> self_ GUARDED_BY(mutex_);      ///< once the queue has ended
};

CpuQueue::CpuQueue(const QueueServices& services, std::shared_ptr<CpuDomain> domain, uint32_t depth, Listener* listener)
    : state_(std::make_shared<State>(services, std::move(domain), depth, listener)) {
  state_->introduce();
}

CpuQueue::~CpuQueue() {
  state_->leave_to_driver();
}

uint64_t CpuQueue::enqueue(std::span<hal::Command> commands) {
  return state_->enqueue(commands);
}

void CpuQueue::start() {
  state_->start();
}

const std::shared_ptr<hal::Semaphore>& CpuQueue::progress() const {
  return state_->progress();
}

}  // namespace cupola::cpu
