// What libcudart.so.13 exports. Oracle: tests/api/runtime_names.txt, the public names of CUDA 13.0's.

#include <dlfcn.h>
#include <driver_types.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "cuda/exported_names.h"

using namespace cupola;

namespace {

std::set<std::string> table_names() {
  std::set<std::string> names;
#define CUDART_FN(name, suffix, since, status, signature) names.insert(#name #suffix);
#define CUDART_FN_AS(type, name, suffix, since, status, signature) names.insert(#name #suffix);
#define CUDART_INTERNAL(type, name, since, status, signature) names.insert(#name);
#define CUDART_ABSENT(name, why) names.insert(#name);
#include "cuda/cudart/runtime.def"
  return names;
}

TEST(Exports, AreExactlyTheTable) {
  EXPECT_EQ(exported_names(CUPOLA_CUDART), table_names());
}

TEST(Exports, AreThePublicNames) {
  const std::set<std::string> none, ours{"cudaInit"}, public_names = listed_names(CUPOLA_RUNTIME_NAMES),
                                                      names = exported_names(CUPOLA_CUDART);
  EXPECT_EQ(public_names.size(), 422u);
  EXPECT_EQ(without(public_names, names), none) << "are not exported";
  EXPECT_EQ(without(names, public_names), ours) << "are nobody's";
}

TEST(Exports, CarryTheVersionNode) {
  void* library = dlopen(CUPOLA_CUDART, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  for (const std::string& name : table_names()) {
    EXPECT_NE(dlvsym(library, name.c_str(), "libcudart.so.13"), nullptr) << name;
  }
}

TEST(Exports, TodoFunctionsSayNotSupported) {
  void* library = dlopen(CUPOLA_CUDART, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  auto todo = reinterpret_cast<int (*)()>(dlsym(library, "cudaGetExportTable"));
  auto last = reinterpret_cast<cudaError_t (*)()>(dlsym(library, "cudaGetLastError"));
  ASSERT_NE(todo, nullptr);
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(todo(), 801);
  EXPECT_EQ(last(), 801);
  EXPECT_EQ(last(), 0);
}

TEST(Exports, RefuseWhatTheTableRefuses) {
  void* library = dlopen(CUPOLA_CUDART, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const char* const names[] = {
#define CUDART_REFUSED(name, suffix, since, signature, why) #name #suffix,
#define CUDART_ABSENT(name, why) #name,
#include "cuda/cudart/runtime.def"
  };
  for (const char* name : names) {
    auto call = reinterpret_cast<int (*)()>(dlsym(library, name));
    ASSERT_NE(call, nullptr) << name;
    EXPECT_EQ(call(), 801) << name;  // cudaErrorNotSupported
  }
}

}  // namespace
