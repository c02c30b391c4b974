#include "cupola/pipeline.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

using ::testing::HasSubstr;

extern "C" int cupola_pipeline_example(const float* in, float* out, size_t n, float factor);

namespace {

/// y = x * 3 + s of i64, a pipeline of one output, one input and one scalar.
cupola_pipeline* times_three_plus() {
  cupola_expression* e = nullptr;
  EXPECT_EQ(cupola_expression_create(CUPOLA_I64, &e), 0);
  uint32_t x = 0, s = 0, three = 0, y = 0;
  const int64_t factor = 3;
  EXPECT_EQ(cupola_expression_input(e, &x), 0);
  EXPECT_EQ(cupola_expression_scalar(e, &s), 0);
  EXPECT_EQ(cupola_expression_constant(e, &factor, &three), 0);
  const std::array product{x, three};
  EXPECT_EQ(cupola_expression_apply(e, "multiply", 0, product.data(), 2, &y), 0);
  const std::array sum{y, s};
  EXPECT_EQ(cupola_expression_apply(e, "add", 0, sum.data(), 2, &y), 0);
  EXPECT_EQ(cupola_expression_output(e, y), 0);
  cupola_pipeline* p = nullptr;
  EXPECT_EQ(cupola_pipeline_compile(e, &p), 0) << cupola_pipeline_last_error();
  cupola_expression_destroy(e);
  return p;
}

/// A function of the pipeline's own libcuda, which is open once there is a pipeline.
template <typename... Arguments>
int call(const char* name, Arguments... arguments) {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  return reinterpret_cast<int (*)(Arguments...)>(dlsym(driver, name))(arguments...);
}

/// Makes a pipeline, runs and ends it on a thread that has no context.
void run_on_a_new_thread() {
  std::thread([] {
    cupola_pipeline* const p = times_three_plus();
    int64_t x = 5;
    void* outputs[] = {&x};
    const void* inputs[] = {&x};
    const int64_t addend = -1;
    EXPECT_EQ(cupola_pipeline_run_host(p, outputs, inputs, &addend, 1), 0) << cupola_pipeline_last_error();
    EXPECT_EQ(x, 14);
    cupola_pipeline_destroy(p);
  }).join();
}

#define EXPECT_REFUSED(call, words)                              \
  do {                                                           \
    EXPECT_EQ(call, CUPOLA_PIPELINE_INVALID_VALUE);              \
    EXPECT_THAT(cupola_pipeline_last_error(), HasSubstr(words)); \
  } while (0)

TEST(Pipeline, RunsTheExampleOfItsHeader) {
  std::vector<float> in(1000), out(1000);
  for (size_t i = 0; i < in.size(); ++i) in[i] = 0.01f * static_cast<float>(i) - 5;
  ASSERT_EQ(cupola_pipeline_example(in.data(), out.data(), in.size(), 0.5f), 0) << cupola_pipeline_last_error();
  for (size_t i = 0; i < in.size(); ++i) EXPECT_NEAR(out[i], 1 / (1 + std::exp(-0.5 * in[i])), 1e-6) << i;
}

TEST(Pipeline, RunsInPlaceOnSeveralThreads) {
  cupola_pipeline* const p = times_three_plus();
  std::vector<std::thread> threads;
  std::array<int, 4> wrong{};
  for (size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&wrong, p, t] {
      std::vector<int64_t> x(777 + t);
      for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int64_t>(i << 33);
      void* outputs[] = {x.data()};
      const void* inputs[] = {x.data()};
      const int64_t addend = static_cast<int64_t>(t) - 2;
      wrong[t] = cupola_pipeline_run_host(p, outputs, inputs, &addend, x.size());
      for (size_t i = 0; i < x.size(); ++i) wrong[t] += x[i] != static_cast<int64_t>(3 * (i << 33)) + addend;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(wrong, ::testing::Each(0));
  cupola_pipeline_destroy(p);
}

TEST(Pipeline, TakesTheDevicesAddresses) {
  cupola_pipeline* const p = times_three_plus();
  uint64_t address = 0;
  std::vector<int64_t> x(3000, 5);
  ASSERT_EQ(call("cuMemAlloc_v2", &address, x.size() * 8), 0);
  ASSERT_EQ(call("cuMemcpyHtoD_v2", address, static_cast<const void*>(x.data()), x.size() * 8), 0);
  const int64_t addend = -16;
  ASSERT_EQ(cupola_pipeline_run(p, &address, &address, &addend, x.size(), nullptr), 0) << cupola_pipeline_last_error();
  ASSERT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(x.data()), address, x.size() * 8), 0);
  EXPECT_THAT(x, ::testing::Each(-1));
  EXPECT_EQ(call("cuMemFree_v2", address), 0);
  cupola_pipeline_destroy(p);
}

TEST(Pipeline, RetainsTheFirstContextOnce) {
  for (int i = 0; i < 3; ++i) run_on_a_new_thread();
  ASSERT_EQ(call("cuDevicePrimaryCtxReset_v2", 0), 0);
  for (int i = 0; i < 3; ++i) run_on_a_new_thread();
  EXPECT_EQ(call("cuDevicePrimaryCtxRelease_v2", 0), 0);
  EXPECT_NE(call("cuDevicePrimaryCtxRelease_v2", 0), 0) << "it was retained more than once";
  void* context = nullptr;
  EXPECT_EQ(call("cuDevicePrimaryCtxRetain", &context, 0), 0);  // gives the library's back
}

/// A run that the driver refuses, and what is said of it.
struct BadRun {
  const cupola_pipeline* pipeline;
  std::string said;
  static void begin(void* run, int, char*, size_t) {
    auto* const bad = static_cast<BadRun*>(run);
    uint64_t address = 64;
    const int64_t addend = 0;
    auto* const stream = reinterpret_cast<CUstream_st*>(&address);  // is none
    EXPECT_NE(cupola_pipeline_run(bad->pipeline, &address, &address, &addend, 1, stream), 0);
    bad->said = cupola_pipeline_last_error();
  }
};

TEST(Pipeline, SaysNothingOfOthersFailures) {
  cupola_pipeline* const p = times_three_plus();
  BadRun run{p, {}};
  void* handle = nullptr;
  // The driver tells nobody of failures while it tells of one: the run's own has no words.
  ASSERT_EQ(call("cuLogsRegisterCallback", &BadRun::begin, static_cast<void*>(&run), &handle), 0);
  EXPECT_NE(call("cuMemFree_v2", uint64_t{1}), 0);
  EXPECT_EQ(call("cuLogsUnregisterCallback", handle), 0);
  EXPECT_EQ(run.said, "cuLaunchKernel: CUDA_ERROR_INVALID_HANDLE");
  cupola_pipeline_destroy(p);
}

TEST(Pipeline, RefusesBadRuns) {
  cupola_pipeline* const p = times_three_plus();
  int64_t x[2] = {1, 2};
  const int64_t s = 0;
  void* outputs[] = {x};
  const void* inputs[] = {x};
  void* none[] = {nullptr};
  void* odd[] = {reinterpret_cast<char*>(x) + 4};
  EXPECT_REFUSED(cupola_pipeline_run_host(nullptr, outputs, inputs, &s, 2), "pipeline is null");
  EXPECT_REFUSED(cupola_pipeline_run_host(p, nullptr, inputs, &s, 2), "list of outputs is null");
  EXPECT_REFUSED(cupola_pipeline_run_host(p, outputs, nullptr, &s, 2), "list of inputs is null");
  EXPECT_REFUSED(cupola_pipeline_run_host(p, outputs, inputs, nullptr, 2), "list of scalars is null");
  EXPECT_REFUSED(cupola_pipeline_run_host(p, none, inputs, &s, 2), "output 0 is null");
  EXPECT_REFUSED(cupola_pipeline_run_host(p, odd, inputs, &s, 1), "no multiple of the element's 8 bytes");
  EXPECT_REFUSED(cupola_pipeline_run_host(p, outputs, inputs, &s, size_t{1} << 60), "at most 549755813632 elements");
  int64_t y[3] = {1, 2, 3};
  void* behind[] = {y + 1};
  const void* whole[] = {y};
  EXPECT_REFUSED(cupola_pipeline_run_host(p, behind, whole, &s, 2), "output 0 overlaps a part of input 0");
  EXPECT_EQ(cupola_pipeline_run_host(p, behind, whole, &s, 1), 0);
  EXPECT_EQ(cupola_pipeline_run_host(p, outputs, inputs, &s, 0), 0);
  EXPECT_EQ(x[0], 1);
  cupola_pipeline_destroy(p);
  cupola_pipeline_destroy(nullptr);
}

TEST(Pipeline, RefusesBadExpressions) {
  cupola_expression* e = nullptr;
  cupola_pipeline* p = nullptr;
  uint32_t x = 0;
  EXPECT_REFUSED(cupola_expression_create(static_cast<cupola_element_type>(5), &e), "5 is no element type");
  EXPECT_REFUSED(cupola_expression_create(CUPOLA_F32, nullptr), "expression is null");
  ASSERT_EQ(cupola_expression_create(CUPOLA_U32, &e), 0);
  EXPECT_REFUSED(cupola_expression_input(e, nullptr), "node is null");
  EXPECT_REFUSED(cupola_expression_input(nullptr, &x), "expression is null");
  ASSERT_EQ(cupola_expression_input(e, &x), 0);
  EXPECT_REFUSED(cupola_expression_constant(e, nullptr, &x), "value is null");
  EXPECT_REFUSED(cupola_expression_apply(e, "nonsense", 0, &x, 1, &x), "'nonsense'");
  EXPECT_REFUSED(cupola_expression_apply(e, nullptr, 0, &x, 1, &x), "name is null");
  EXPECT_REFUSED(cupola_expression_apply(e, "add", 0, nullptr, 2, &x), "arguments is null");
  EXPECT_REFUSED(cupola_expression_apply(e, "add", 4, &x, 1, &x), "CUPOLA_FAST is the only one");
  EXPECT_REFUSED(cupola_expression_apply(e, "sin", 0, &x, 1, &x), "does not take elements of type u32");
  EXPECT_REFUSED(cupola_expression_output(e, 9), "no node");
  EXPECT_REFUSED(cupola_pipeline_compile(e, &p), "no output");
  EXPECT_REFUSED(cupola_pipeline_compile(nullptr, &p), "expression is null");
  EXPECT_EQ(p, nullptr);
  cupola_expression_destroy(e);
  cupola_expression_destroy(nullptr);
}

TEST(Pipeline, DescribesItsOperations) {
  cupola_operation row{}, found{};
  ASSERT_GT(cupola_operation_count(), 0u);
  for (size_t i = 0; i < cupola_operation_count(); ++i) {
    ASSERT_EQ(cupola_operation_get(i, &row), 0);
    ASSERT_EQ(cupola_operation_find(row.name, &found), 0);
    EXPECT_EQ(found.name, row.name);
    EXPECT_NE(std::string(row.formula), "");
  }
  EXPECT_REFUSED(cupola_operation_get(cupola_operation_count(), &row), "there is no operation");
  EXPECT_REFUSED(cupola_operation_find("", &row), "there is no operation ''");
}

}  // namespace
