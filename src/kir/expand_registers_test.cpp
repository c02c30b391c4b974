// Oracle: the PTX ISA's "Special Registers", worked out by hand for the values that the stand-ins of the rows answer.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kir/passes.h"
#include "kir/test_module.h"

namespace cupola::kir {
namespace {

/// The register's value where `row`, a row of intrinsics.def, answers `answer`.
uint64_t read(const std::string& name, const std::string& row, const std::string& row_type, uint64_t answer,
              const std::string& type = "i32") {
  const std::string callee = type + " @llvm.nvvm." + name + "()";
  TestModule module("declare " + callee + "\ndefine i64 @f() { %r = call " + callee +
                    (type == "i64"  ? "\n%w = add i64 %r, 0"
                     : type == "i1" ? "\n%w = zext i1 %r to i64"
                                    : "\n%w = zext i32 %r to i64") +
                    "\n ret i64 %w }\ndefine " + row_type + " @cupola." + row + "() { ret " + row_type + " " +
                    std::to_string(answer) + " }");
  const Result<> expanded = expand_nvvm(*module);
  EXPECT_TRUE(expanded) << expanded.error().message;
  return module.function<uint64_t()>("f")();
}

uint64_t sreg(const std::string& name, const std::string& row, uint64_t answer = 77) {
  return read("read.ptx.sreg." + name, row, "i32", answer);
}

TEST(ExpandRegisters, EachReadsItsRow) {
  for (const std::string axis : {"x", "y", "z"}) {
    for (const std::string name : {"tid.", "ntid.", "ctaid.", "nctaid."})
      EXPECT_EQ(sreg(name + axis, name + axis), 77u);
    EXPECT_EQ(sreg("clusterid." + axis, "ctaid." + axis), 77u);  // every block is a cluster
    EXPECT_EQ(sreg("nclusterid." + axis, "nctaid." + axis), 77u);
  }
  for (const std::string name : {"laneid", "warpid", "nwarpid", "smid", "nsmid"}) EXPECT_EQ(sreg(name, name), 77u);
  EXPECT_EQ(sreg("dynamic_smem_size", "dynamic_shared_bytes"), 77u);
  EXPECT_EQ(sreg("total_smem_size", "total_shared_bytes"), 77u);
}

TEST(ExpandRegisters, WideOnesAreCutOrKept) {
  const uint64_t answer = 0x123456789a;
  EXPECT_EQ(read("read.ptx.sreg.clock", "clock", "i64", answer), 0x3456789au);
  EXPECT_EQ(read("read.ptx.sreg.clock64", "clock", "i64", answer, "i64"), answer);
  EXPECT_EQ(read("read.ptx.sreg.globaltimer", "global_timer", "i64", answer, "i64"), answer);
}

TEST(ExpandRegisters, MasksOfALane) {
  EXPECT_EQ(sreg("lanemask.eq", "laneid", 5), 0x20u);
  EXPECT_EQ(sreg("lanemask.lt", "laneid", 5), 0x1fu);
  EXPECT_EQ(sreg("lanemask.le", "laneid", 5), 0x3fu);
  EXPECT_EQ(sreg("lanemask.ge", "laneid", 5), 0xffffffe0u);
  EXPECT_EQ(sreg("lanemask.gt", "laneid", 5), 0xffffffc0u);
  EXPECT_EQ(sreg("lanemask.gt", "laneid", 31), 0u);
  EXPECT_EQ(sreg("lanemask.lt", "laneid", 0), 0u);
}

TEST(ExpandRegisters, ConstantsAndClustersOfOneBlock) {
  EXPECT_EQ(sreg("warpsize", "laneid"), 32u);
  EXPECT_EQ(sreg("tid.w", "laneid"), 0u);
  EXPECT_EQ(sreg("nctaid.w", "laneid"), 1u);
  EXPECT_EQ(sreg("cluster.ctaid.x", "laneid"), 0u);
  EXPECT_EQ(sreg("cluster.nctaid.y", "laneid"), 1u);
  EXPECT_EQ(sreg("cluster.ctarank", "laneid"), 0u);
  EXPECT_EQ(sreg("cluster.nctarank", "laneid"), 1u);
  EXPECT_EQ(read("is_explicit_cluster", "laneid", "i32", 77, "i1"), 0u);
}

}  // namespace
}  // namespace cupola::kir
