#include "base/fault_router.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <thread>

namespace cupola {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kStackBytes = 64 * 1024;

/// A page that nobody may touch, and how a thread comes back from touching it.
struct Trap {
  volatile char* page =
      static_cast<volatile char*>(mmap(nullptr, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  void* stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  FaultRouter::Fault seen = {};
  ucontext_t before;
  volatile bool came_back = false;
  bool stack_was_aligned = false;
};

thread_local Trap* trap = nullptr;

void land(void* argument) {
  auto* landed = static_cast<Trap*>(argument);
  // Compilers assume 16-byte alignment of such a local; that holds only if the function was entered as if called.
  alignas(16) volatile char local = 0;
  landed->stack_was_aligned = reinterpret_cast<uint64_t>(&local) % 16 == 0 && local == 0;
  landed->came_back = true;
  setcontext(&landed->before);
}

bool recover(const FaultRouter::Fault& fault) {
  if (!trap) return false;
  const uint64_t page = reinterpret_cast<uint64_t>(trap->page);
  const bool ours = fault.signal == SIGFPE || (fault.address >= page && fault.address < page + kPage);
  if (!ours) return false;
  trap->seen = fault;
  FaultRouter::redirect(fault, land, trap, static_cast<char*>(trap->stack) + kStackBytes - 3);
  return true;
}

bool decline(const FaultRouter::Fault&) {
  return false;
}

/// Runs `faulting` and returns what the router saw, or nothing happened.
template <typename Function>
Trap& fault_and_return(Function faulting) {
  FaultRouter::add(decline);
  FaultRouter::add(recover);
  FaultRouter::prepare_thread();
  auto* mine = new Trap;  // alive across the two returns of getcontext
  trap = mine;
  getcontext(&mine->before);
  if (!mine->came_back) faulting(*mine);
  trap = nullptr;
  return *mine;
}

TEST(FaultRouter, SendsTheThreadToItsLanding) {
  Trap& result = fault_and_return([](Trap& t) { t.page[100] = 1; });
  EXPECT_TRUE(result.came_back);
  EXPECT_EQ(result.seen.signal, SIGSEGV);
  EXPECT_EQ(result.seen.address, reinterpret_cast<uint64_t>(result.page) + 100);
  EXPECT_TRUE(result.stack_was_aligned);
  delete &result;
}

TEST(FaultRouter, RecoversAgainAndOnOtherThreads) {
  for (int round = 0; round < 3; ++round)
    std::thread([] {
      Trap& first = fault_and_return([](Trap& t) { t.page[0] = 1; });
      Trap& second = fault_and_return([](Trap& t) { t.page[8] = 1; });
      EXPECT_TRUE(first.came_back && second.came_back);
      delete &first;
      delete &second;
    }).join();
}

TEST(FaultRouter, ArithmeticFaultHasTheProgramCounterAsAddress) {
#if defined(__x86_64__)
  Trap& result = fault_and_return([](Trap&) {
    asm volatile("xorl %%ecx, %%ecx; movl $1, %%eax; cltd; idivl %%ecx" ::: "eax", "ecx", "edx", "cc");
  });
  EXPECT_TRUE(result.came_back);
  EXPECT_EQ(result.seen.signal, SIGFPE);
  EXPECT_EQ(result.seen.address, result.seen.program_counter);
  delete &result;
#else
  GTEST_SKIP() << "integer division does not trap here";
#endif
}

#if defined(__linux__)
TEST(FaultRouter, ThreadKeepsAStackItAlreadyHas) {
  std::thread([] {
    static char own[128 * 1024];
    stack_t mine = {};
    mine.ss_sp = own;
    mine.ss_size = sizeof own;
    ASSERT_EQ(sigaltstack(&mine, nullptr), 0);
    FaultRouter::prepare_thread();
    stack_t now = {};
    sigaltstack(nullptr, &now);
    EXPECT_EQ(now.ss_sp, own);
    mine.ss_flags = SS_DISABLE;
    sigaltstack(&mine, nullptr);
  }).join();
}
#endif

// Each of these runs in a program of its own ("threadsafe"), which sets the handlers up as its statement says.
class FaultRouterDeathTest : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

constexpr int kChained = 7, kReturned = 8;

void earlier_siginfo(int signal, siginfo_t* info, void*) {
  _exit(signal == SIGSEGV && info->si_addr == reinterpret_cast<void*>(64) ? kChained : 1);
}
void earlier_plain(int signal) {
  _exit(signal == SIGSEGV ? kChained : 1);
}

void set_action(int signal, void (*plain)(int), void (*with_info)(int, siginfo_t*, void*) = nullptr) {
  struct sigaction action = {};
  action.sa_handler = plain;
  if (with_info) {
    action.sa_sigaction = with_info;
    action.sa_flags = SA_SIGINFO;
  }
  sigaction(signal, &action, nullptr);
}

void touch_low_address() {
  FaultRouter::add(decline);
  FaultRouter::prepare_thread();
  *reinterpret_cast<volatile char*>(64) = 1;
  _exit(kReturned);
}

TEST_F(FaultRouterDeathTest, EarlierHandlerGetsWhatNobodyClaims) {
  EXPECT_EXIT((set_action(SIGSEGV, nullptr, earlier_siginfo), touch_low_address()), testing::ExitedWithCode(kChained),
              "");
  EXPECT_EXIT((set_action(SIGSEGV, earlier_plain), touch_low_address()), testing::ExitedWithCode(kChained), "");
}

TEST_F(FaultRouterDeathTest, UnclaimedFaultStillKills) {
  EXPECT_EXIT((set_action(SIGSEGV, SIG_DFL), touch_low_address()), testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT((set_action(SIGSEGV, SIG_IGN), touch_low_address()), testing::KilledBySignal(SIGSEGV), "");
}

TEST_F(FaultRouterDeathTest, SignalThatWasSentKeepsItsMeaning) {
  auto send_to_self = [](void (*before)(int)) {
    set_action(SIGFPE, before);
    FaultRouter::add([](const FaultRouter::Fault&) { return true; });  // claims every fault; this is none
    kill(getpid(), SIGFPE);
    _exit(kReturned);
  };
  EXPECT_EXIT(send_to_self(SIG_DFL), testing::KilledBySignal(SIGFPE), "");
  EXPECT_EXIT(send_to_self(SIG_IGN), testing::ExitedWithCode(kReturned), "");
}

}  // namespace
}  // namespace cupola
