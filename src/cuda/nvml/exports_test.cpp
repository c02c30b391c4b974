// What is exported, and what every function answers before nvmlInit and for arguments that are nothing but zeros.
// Oracle: tests/api/nvml_names.txt, the public names; "NVML API Reference": NVML_ERROR_UNINITIALIZED "if the library
// has not been successfully initialized", NVML_ERROR_INVALID_ARGUMENT for invalid devices and null pointers.

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "cuda/exported_names.h"
#include "cuda/nvml/with_nvml.h"

namespace cupola::nvml {
namespace {

struct Function {
  const char* name;
  bool there;
};

constexpr Function kFunctions[] = {
#define NVML_FN(base, suffix, status, signature) {#base #suffix, true},
#define NVML_REFUSED(base, suffix, signature, why) {#base #suffix, false},
#define NVML_ABSENT(name, why) {#name, false},
#include "cuda/nvml/nvml.def"
};

/// What begins and ends the use, and questions about libcuda.
const std::set<std::string> kAnyTime = {"nvmlInit",
                                        "nvmlInit_v2",
                                        "nvmlInitWithFlags",
                                        "nvmlShutdown",
                                        "nvmlSystemGetCudaDriverVersion",
                                        "nvmlSystemGetCudaDriverVersion_v2"};

/// Calls the function with more zeros than any has parameters: in registers, and on the stack.
__attribute__((no_sanitize("function"))) int call_with_zeros(const char* name) {
  using Call = int (*)(long, long, long, long, long, long, long, long, long, long);
  const auto call = reinterpret_cast<Call>(dlsym(RTLD_DEFAULT, name));
  return call ? call(0, 0, 0, 0, 0, 0, 0, 0, 0, 0) : -1;
}

/// How many answer anything else than these; each is printed. At most 100, to fit an exit status.
int others_than(nvmlReturn_t there, nvmlReturn_t refused) {
  int others = 0;
  for (const Function& function : kFunctions) {
    if (kAnyTime.contains(function.name)) continue;
    const int status = call_with_zeros(function.name);
    if (status == (function.there ? there : refused)) continue;
    ++others;
    std::fprintf(stderr, "%s answers %d\n", function.name, status);
  }
  return std::min(others, 100);
}

TEST(Exports, AreExactlyTheTable) {
  std::set<std::string> names = {"nvmlErrorString"};
  for (const Function& function : kFunctions) names.insert(function.name);
  EXPECT_EQ(exported_names(CUPOLA_LIBNVML), names);
}

TEST(Exports, AreThePublicNames) {
  const std::set<std::string> none, public_names = listed_names(CUPOLA_NVML_NAMES),
                                    names = exported_names(CUPOLA_LIBNVML);
  EXPECT_EQ(public_names.size(), 395u);
  EXPECT_EQ(without(public_names, names), none) << "are not exported";
  EXPECT_EQ(without(names, public_names), none) << "are nobody's";
}

TEST(EveryCallDeathTest, NeedsInit) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // in a new process, in which no test has initialised
  EXPECT_EXIT(_exit(others_than(NVML_ERROR_UNINITIALIZED, NVML_ERROR_UNINITIALIZED)), testing::ExitedWithCode(0), "");
}

using EveryCall = WithNvml;

TEST_F(EveryCall, TakesNoNullPointersAndSaysWhatIsNotThere) {
  EXPECT_EQ(others_than(NVML_ERROR_INVALID_ARGUMENT, NVML_ERROR_NOT_SUPPORTED), 0);
}

}  // namespace
}  // namespace cupola::nvml
