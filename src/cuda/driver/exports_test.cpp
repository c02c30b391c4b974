#include <dlfcn.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "cuda/exported_names.h"

// Oracle: tests/api/driver_names.txt, the public names that libcuda.so.1 of CUDA 13.0 exports.
using namespace cupola;

namespace {

std::set<std::string> table() {
  std::set<std::string> names;
#define CU_FN(base, suffix, since, status, signature) names.insert(#base #suffix);
#define CU_ABSENT(name, why) names.insert(#name);
#include "cuda/driver/driver.def"
  return names;
}

}  // namespace

TEST(Exports, AreExactlyTheTable) {
  EXPECT_EQ(exported_names(CUPOLA_LIBCUDA), table());
}

TEST(Exports, AreThePublicNames) {
  const std::set<std::string> none, public_names = listed_names(CUPOLA_DRIVER_NAMES),
                                    names = exported_names(CUPOLA_LIBCUDA);
  EXPECT_EQ(public_names.size(), 637u);
  EXPECT_EQ(without(public_names, names), none) << "are not exported";
  EXPECT_EQ(without(names, public_names), none) << "are nobody's";
}

TEST(Exports, RefuseWhatTheTableRefuses) {
  void* library = dlopen(CUPOLA_LIBCUDA, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const char* const names[] = {
#define CU_REFUSED(base, suffix, since, signature, why) #base #suffix,
#define CU_ABSENT(name, why) #name,
#include "cuda/driver/driver.def"
  };
  for (const char* name : names) {
    auto call = reinterpret_cast<int (*)()>(dlsym(library, name));
    ASSERT_NE(call, nullptr) << name;
    EXPECT_EQ(call(), 801) << name;  // CUDA_ERROR_NOT_SUPPORTED
  }
}
