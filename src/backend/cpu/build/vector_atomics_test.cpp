#include "backend/cpu/build/vector_atomics.h"

#include "backend/cpu/build/analysed_kernel.h"

// How many updates a warp makes of one that each of its threads makes. What they come to is VectorDifferential's to
// show.

namespace cupola::cpu::build::testing {
namespace {

struct Updates {
  unsigned written = 0;
  bool in_a_loop = false;  ///< one lane after the other
};

/// Of the kernel whose threads do `update`; %l is the lane, %p the same place for all, %q one of the lane's own.
Updates updates_of(const std::string& update, const std::string& more = "") {
  AnalysedKernel kernel(R"(
    define ptx_kernel void @k(ptr %context, ptr %p, ptr %in) {
      %l = call i32 @cupola.laneid()
      %l64 = zext i32 %l to i64
      %from = getelementptr i8, ptr %in, i64 %l64
      %byte = load i8, ptr %from
      %bin = zext i8 %byte to i64
      %q = getelementptr i32, ptr %p, i64 %bin
      )" + update + "\n  br label %end\nend:\n  ret void\n}\n" +
                        more);
  llvm::Function& widened = kernel.widened();
  llvm::DominatorTree dominators(widened);
  const llvm::LoopInfo loops(dominators);
  Updates found;
  for (llvm::Instruction& instruction : llvm::instructions(widened)) {
    if (!llvm::isa<llvm::AtomicRMWInst>(instruction)) continue;
    ++found.written;
    found.in_a_loop |= loops.getLoopFor(instruction.getParent()) != nullptr;
  }
  return found;
}

void expect(const std::string& update, unsigned written, bool in_a_loop, const std::string& more = "") {
  const Updates found = updates_of(update, more);
  EXPECT_EQ(found.written, written) << update;
  EXPECT_EQ(found.in_a_loop, in_a_loop) << update;
}

TEST(VectorAtomics, LanesUpdateOnePlaceTogether) {
  for (const std::string operation : {"add", "sub", "and", "or", "xor", "max", "min", "umax", "umin"})
    expect("%r = atomicrmw " + operation + " ptr %p, i32 %l monotonic", 1, false);
}

TEST(VectorAtomics, WhatLanesFoundInASumIsKnown) {
  expect("%r = atomicrmw add ptr %p, i32 %l monotonic\n %s = add i32 %r, 1\n store i32 %s, ptr %q", 1, false);
  expect("%r = atomicrmw or ptr %p, i32 %l monotonic\n %s = add i32 %r, 1\n store i32 %s, ptr %q", 1, true);
}

TEST(VectorAtomics, OtherUpdatesAreDoneLaneByLane) {
  expect("%r = atomicrmw add ptr %q, i32 1 monotonic", 1, true);
  expect("%r = atomicrmw xchg ptr %p, i32 %l monotonic", 1, true);
  expect("%f = sitofp i32 %l to float\n %r = atomicrmw fadd ptr %p, float %f monotonic", 1, true);
}

// Each lane reads its bin where the warp would have read all of them, and takes no turn of a loop.
TEST(VectorAtomics, UpdatesOfSharedBinsStandInALine) {
  const std::string mark = "!0 = !{}";
  expect("%r = atomicrmw add ptr %q, i32 1 monotonic, !cupola.shared_atomic !0", kLanes, false, mark);
  // A shift of a number of bits that the launch says, which clamps.
  const std::string shift =
      "%far = icmp ne ptr %in, %context\n %bits = select i1 %far, i64 %bin, i64 0\n"
      "%place = getelementptr i32, ptr %p, i64 %bits\n";
  expect(shift + "%r = atomicrmw add ptr %place, i32 1 monotonic, !cupola.shared_atomic !0", kLanes, false, mark);
  // Which of the two it is comes out of a vector.
  const std::string choice =
      "%odd = icmp ult i8 %byte, 7\n %bits = select i1 %odd, i64 %bin, i64 0\n"
      "%place = getelementptr i32, ptr %p, i64 %bits\n";
  expect(choice + "%r = atomicrmw add ptr %place, i32 1 monotonic, !cupola.shared_atomic !0", 1, true, mark);
  // What is found would go through memory to the warp.
  expect("%r = atomicrmw add ptr %q, i32 1 monotonic, !cupola.shared_atomic !0\n store i32 %r, ptr %q", 1, true, mark);
  // What was read may have been written over since.
  expect("store i8 0, ptr %p\n %r = atomicrmw add ptr %q, i32 1 monotonic, !cupola.shared_atomic !0", 1, true, mark);
}

}  // namespace
}  // namespace cupola::cpu::build::testing
