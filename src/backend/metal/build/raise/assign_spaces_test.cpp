#include "backend/metal/build/raise/assign_spaces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "kir/test_module.h"

// Oracle: which space each pointer must have, worked out by hand. tests/metal runs what comes of it.

namespace cupola::metal::build {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// The text of a module with one function, `f`, whose pointers have their spaces; a refusal's message.
std::string assigned(const std::string& function) {
  kir::TestModule module(R"(
    declare ptr addrspace(3) @metal.shared()
    declare ptr addrspace(2) @metal.parameters()
    declare i1 @cupola.is_shared(ptr)
    declare void @cupola.free(ptr)
)" + function);
  for (const auto& [refused, error] : assign_spaces(*module, 0)) return error.message;
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  const std::string text = module.text();
  return text.substr(text.find("define"));
}

TEST(AssignSpaces, WhatTheLaunchPassesIsDeviceMemory) {
  EXPECT_THAT(assigned(R"(
    define ptx_kernel void @f() {
      %parameters = call ptr addrspace(2) @metal.parameters()
      %p = load ptr, ptr addrspace(2) %parameters
      %v = load i32, ptr %p
      %q = getelementptr i32, ptr %p, i64 4
      store i32 %v, ptr %q
      ret void
    })"),
              AllOf(HasSubstr("load i64, ptr addrspace(2)"), HasSubstr("load i32, ptr addrspace(1)"),
                    HasSubstr("store i32 %v, ptr addrspace(1)"), Not(HasSubstr("icmp"))));
}

TEST(AssignSpaces, AGenericPointerToOneMemoryIsOfItsSpace) {
  EXPECT_THAT(
      assigned(R"(
    define ptx_kernel void @f() {
      %s = call ptr addrspace(3) @metal.shared()
      %p = addrspacecast ptr addrspace(3) %s to ptr
      store i32 1, ptr %p
      %is = call i1 @cupola.is_shared(ptr %p)
      br i1 %is, label %here, label %there
    here:
      ret void
    there:
      ret void
    })"),
      AllOf(HasSubstr("store i32 1, ptr addrspace(3)"), HasSubstr("br i1 true"), Not(HasSubstr("addrspace(1)"))));
}

TEST(AssignSpaces, APointerToOneOfSeveralMemoriesIsANumberAndItsAccessesAskTheWindow) {
  const std::string text = assigned(R"(
    define ptx_kernel void @f(i1 %which) {
      %parameters = call ptr addrspace(2) @metal.parameters()
      %d = load ptr, ptr addrspace(2) %parameters
      %s = call ptr addrspace(3) @metal.shared()
      %g = addrspacecast ptr addrspace(3) %s to ptr
      %p = select i1 %which, ptr %d, ptr %g
      %v = load i32, ptr %p
      store i32 %v, ptr %d
      ret void
    })");
  EXPECT_THAT(text, AllOf(HasSubstr("select i1 %which, i64"), HasSubstr("load i32, ptr addrspace(3)"),
                          HasSubstr("load i32, ptr addrspace(1)"), HasSubstr("phi i32")));
  EXPECT_THAT(text, Not(HasSubstr("load i32, ptr %"))) << "it never points to the stack";
}

TEST(AssignSpaces, FunctionsTakeAndGivePointersOfTheirCallersMemory) {
  EXPECT_THAT(
      assigned(R"(
    define ptr @second(ptr %first) {
      %p = getelementptr i32, ptr %first, i64 1
      ret ptr %p
    }
    define ptx_kernel void @f() {
      %s = call ptr addrspace(3) @metal.shared()
      %g = addrspacecast ptr addrspace(3) %s to ptr
      %p = call ptr @second(ptr %g)
      store i32 1, ptr %p
      ret void
    })"),
      AllOf(HasSubstr("define ptr addrspace(3) @second(ptr addrspace(3)"), HasSubstr("store i32 1, ptr addrspace(3)")));
}

TEST(AssignSpaces, WhatMetalHasNothingForIsRefusedWithItsPlace) {
  EXPECT_EQ(assigned(R"(
    define ptx_kernel void @f() {
      %parameters = call ptr addrspace(2) @metal.parameters()
      %p = load ptr, ptr addrspace(2) %parameters
      call void @cupola.free(ptr %p)
      ret void
    })"),
            "metal: kernel 'f': kernels on the metal device can neither allocate memory, launch kernels nor ask the "
            "runtime: do it on the host");
}

}  // namespace
}  // namespace cupola::metal::build
