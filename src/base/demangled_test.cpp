#include "base/demangled.h"

#include <gtest/gtest.h>

// Oracle: c++filt, of names that clang gives to the functions named.

namespace cupola {
namespace {

TEST(Demangled, CppNamesAreAsInTheSource) {
  EXPECT_EQ(demangled("_Z5scalePfi"), "scale(float*, int)");
  EXPECT_EQ(demangled("_ZN4loop4stepIdEEvPT_"), "void loop::step<double>(double*)");
  EXPECT_EQ(demangled("_ZN12_GLOBAL__N_14copyEv"), "(anonymous namespace)::copy()");
}

TEST(Demangled, OtherNamesStayAsTheyAre) {
  for (const char* name : {"", "add", "kernel_4", "_Z", "_Zebra"}) EXPECT_EQ(demangled(name), name);
}

// Their names are those of types in mangled ones.
TEST(Demangled, KernelsOfOneLetterAreNoTypes) {
  for (const char* name : {"f", "i", "k", "v", "Pf"}) EXPECT_EQ(demangled(name), name);
}

}  // namespace
}  // namespace cupola
