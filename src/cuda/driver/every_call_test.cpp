// What every function of the table answers in the states that its wrapper knows: before cuInit, in a child of fork(),
// in a host function of a stream; and that none comes to grief over arguments that are nothing but zeros. Oracle: "CUDA
// Driver API", Initialization ("any function from the driver API will return CUDA_ERROR_NOT_INITIALIZED") and
// cuLaunchHostFunc ("the host function must not make any CUDA API calls").

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <set>
#include <string>

#include "cuda/driver/with_context.h"

namespace cupola::driver {
namespace {

struct Function {
  const char* name;
  const char* status;
};

constexpr Function kFunctions[] = {
#define CU_FN(base, suffix, since, status, signature) {#base #suffix, #status},
#define CU_REFUSED(base, suffix, since, signature, why) {#base #suffix, "Refused"},  // names as they stand, not renamed
#include "cuda/driver/driver.def"
};

/// What may be called at any time: initialisation itself, and questions about the library.
const std::set<std::string> kAnyTime = {"cuInit",           "cuDriverGetVersion", "cuGetErrorName",
                                        "cuGetErrorString", "cuGetProcAddress",   "cuGetProcAddress_v2",
                                        "cuGetExportTable"};

bool is_there(const Function& function) {
  return std::string(function.status) == "Full" || std::string(function.status) == "Partial";
}

/// Calls the function with more zeros than any has parameters: in registers, and on the stack.
__attribute__((no_sanitize("function"))) CUresult call_with_zeros(const char* name) {
  using Call = CUresult (*)(long, long, long, long, long, long, long, long, long, long, long, long, long, long, long,
                            long, long, long);
  const auto call = reinterpret_cast<Call>(dlsym(RTLD_DEFAULT, name));
  return call ? call(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) : CUDA_ERROR_NOT_FOUND;
}

/// How many functions answer anything else than `expected`; each is printed. At most 100, to fit an exit status.
int others_than(CUresult expected) {
  int others = 0, called = 0;
  for (const Function& function : kFunctions) {
    if (!is_there(function) || kAnyTime.contains(function.name)) continue;
    ++called;
    const CUresult status = call_with_zeros(function.name);
    if (status == expected) continue;
    ++others;
    std::fprintf(stderr, "%s answers %d\n", function.name, static_cast<int>(status));
  }
  return called < 400 ? 100 : std::min(others, 100);
}

TEST(EveryCallDeathTest, NeedsInit) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // in a new process, in which no test has initialised
  EXPECT_EXIT(_exit(others_than(CUDA_ERROR_NOT_INITIALIZED)), testing::ExitedWithCode(0), "");
}

using EveryCall = WithContext;

TEST_F(EveryCall, IsRefusedInAForkedChild) {
  const pid_t child = fork();
  if (child == 0) _exit(others_than(CUDA_ERROR_NOT_INITIALIZED));
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(EveryCall, IsRefusedInAHostFunction) {
  int others = -1;
  const auto call_all = [](void* answer) { *static_cast<int*>(answer) = others_than(CUDA_ERROR_NOT_PERMITTED); };
  ASSERT_EQ(cuLaunchHostFunc(nullptr, call_all, &others), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(others, 0);
}

/// Ends the capture that a call with zeros may have begun: of the thread's stream in the default mode.
void end_capture() {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  CUgraph graph = nullptr;
  ASSERT_EQ(cuStreamIsCapturing(CU_STREAM_PER_THREAD, &status), CUDA_SUCCESS);
  if (status == CU_STREAM_CAPTURE_STATUS_NONE) return;
  EXPECT_EQ(cuStreamEndCapture(CU_STREAM_PER_THREAD, &graph), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

TEST_F(EveryCall, AnswersZerosWithACodeThatHasAName) {
  for (const Function& function : kFunctions) {
    ASSERT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
    end_capture();
    const CUresult status = call_with_zeros(function.name);
    const char* name = nullptr;
    EXPECT_EQ(cuGetErrorName(status, &name), CUDA_SUCCESS) << function.name << " answers " << status;
    EXPECT_NE(status, CUDA_ERROR_UNKNOWN) << function.name;
    if (!is_there(function)) EXPECT_EQ(status, CUDA_ERROR_NOT_SUPPORTED) << function.name;
  }
  ASSERT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  CUdeviceptr memory = 0;
  EXPECT_EQ(cuMemAlloc(&memory, 64), CUDA_SUCCESS);  // the context is as good as before
  EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
}

}  // namespace
}  // namespace cupola::driver
