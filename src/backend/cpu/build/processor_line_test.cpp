#include "backend/cpu/build/processor_line.h"

#include <gtest/gtest.h>

#include "backend/cpu/build/test_machine.h"

// Oracle: AMD's and Intel's names of their processors.

namespace cupola::cpu::build::testing {
namespace {

TEST(ProcessorLines, AreToldByName) {
  if (!machine_of("")->getTargetTriple().isX86()) GTEST_SKIP() << "names of x86";
  for (const char* zen : {"znver1", "znver2", "znver3", "znver4", "znver5"})
    EXPECT_EQ(line_of(*machine_of(zen)), ProcessorLine::Zen) << zen;
  for (const char* intel : {"sandybridge", "haswell", "skylake", "skylake-avx512", "icelake-server", "rocketlake",
                            "alderlake", "sapphirerapids", "graniterapids", "gracemont", "core2", "nehalem"})
    EXPECT_EQ(line_of(*machine_of(intel)), ProcessorLine::Intel) << intel;
  for (const char* other :
       {"", "generic", "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "bdver4", "btver2", "amdfam10", "k8-sse3"})
    EXPECT_EQ(line_of(*machine_of(other)), ProcessorLine::Other) << other;
}

}  // namespace
}  // namespace cupola::cpu::build::testing
