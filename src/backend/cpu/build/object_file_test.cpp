#include "backend/cpu/build/object_file.h"

#include <gtest/gtest.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

namespace cupola::cpu::build {
namespace {

TEST(MachineFor, TakesTheLevelThatATargetEndsIn) {
  const llvm::StringRef host = llvm::sys::getHostCPUName();
  const auto cpu = [](const std::string& target) { return (*machine_for(target))->getTargetCPU().str(); };
  EXPECT_EQ(cpu("cpu:x86_64:0123456789abcdef"), host);
  EXPECT_EQ(cpu("cpu:test"), host);
  if (llvm::sys::getDefaultTargetTriple().starts_with("x86_64")) {
    EXPECT_EQ(cpu("cpu:x86_64:x86-64-v3"), "x86-64-v3");
    EXPECT_EQ((*machine_for("cpu:x86_64:x86-64"))->getTargetFeatureString(), "");
  }
}

}  // namespace
}  // namespace cupola::cpu::build
