#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <string>

#include "compile/ptx_fixture.h"

// PTX text through the C entry onto the cpu device: what needs memory or other threads. Oracles: the PTX ISA's words,
// worked out by hand in the expectation, unless a test says otherwise.

namespace cupola {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
struct Loading {
  const char* instruction;
  uint64_t expected;  ///< of the bytes 80 81 82 ... 8f
};

class PtxLoad : public Ptx, public ::testing::WithParamInterface<Loading> {};

TEST_P(PtxLoad, ExtendsByItsType) {
  alignas(16) unsigned char in[16];
  for (unsigned i = 0; i < 16; ++i) in[i] = static_cast<unsigned char>(0x80 + i);
  const std::string body = std::string(GetParam().instruction) + "\nst.global.b64 [%x2], %x9;";
  EXPECT_THAT(results(body, 1, in), ElementsAre(GetParam().expected)) << GetParam().instruction;
}

INSTANTIATE_TEST_SUITE_P(
    Forms, PtxLoad,
    ::testing::Values(
        Loading{"ld.global.u8 %x9, [%x0];", 0x80}, Loading{"ld.global.s8 %x9, [%x0];", 0xffffffffffffff80},
        Loading{"ld.global.b8 %x9, [%x0+1];", 0x81}, Loading{"ld.s16 %x9, [%x0];", 0xffffffffffff8180},
        Loading{"ld.global.nc.u16 %x9, [%x0+2];", 0x8382}, Loading{"ld.volatile.global.u32 %x9, [%x0];", 0x83828180},
        Loading{"ld.global.s32 %x9, [%x0+4];", 0xffffffff87868584}, Loading{"ldu.global.u32 %x9, [%x0];", 0x83828180},
        Loading{"ld.relaxed.gpu.s16 %x9, [%x0];", 0xffffffffffff8180},
        Loading{"ld.acquire.sys.global.u8 %x9, [%x0];", 0x80},
        Loading{"ld.acquire.gpu.b64 %x9, [%x0];", 0x8786858483828180},
        Loading{"ld.global.L1::no_allocate.L2::128B.b64 %x9, [%x0+8];", 0x8f8e8d8c8b8a8988},
        Loading{"ld.global.cs.f32 %f1, [%x0]; mov.b32 %r9, %f1; cvt.u64.u32 %x9, %r9;", 0x83828180},
        Loading{"ld.global.f64 %d1, [%x0]; mov.b64 %x9, %d1;", 0x8786858483828180},
        Loading{"ld.global.b128 %q1, [%x0]; mov.b128 {%x8, %x9}, %q1;", 0x8f8e8d8c8b8a8988},
        Loading{"ld.global.v4.u8 {%r2, %r3, %r4, %r5}, [%x0]; shl.b32 %r5, %r5, 8; or.b32 %r5, %r5, %r3; cvt.u64.u32 "
                "%x9, %r5;",
                0x8381},
        Loading{"ld.global.v4.s8 {%r2, %r3, %r4, %r5}, [%x0]; cvt.u64.u32 %x9, %r5;", 0xffffff83},
        Loading{"ld.global.v2.u64 {%x8, %x9}, [%x0];", 0x8f8e8d8c8b8a8988},
        Loading{"ld.relaxed.gpu.v2.u64 {%x8, %x9}, [%x0];", 0x8f8e8d8c8b8a8988},
        Loading{"ld.acquire.gpu.v2.u32 {%r8, %r9}, [%x0]; cvt.u64.u32 %x9, %r9;", 0x87868584},
        Loading{"ld.volatile.global.v4.u32 {%r6, %r7, %r8, %r9}, [%x0]; cvt.u64.u32 %x9, %r9;", 0x8f8e8d8c},
        Loading{"ld.global.nc.v4.u16 {%h1, %h2, %h3, %h4}, [%x0]; cvt.u64.u16 %x9, %h4;", 0x8786},
        Loading{"ld.relaxed.cta.v4.s16 {%r6, %r7, %r8, %r9}, [%x0]; cvt.u64.u32 %x9, %r9;", 0xffff8786},
        Loading{".reg .v2 .b32 %v; ld.global.v2.b32 %v, [%x0]; cvt.u64.u32 %x9, %v.y;", 0x87868584}));

class PtxStore : public Ptx, public ::testing::WithParamInterface<Loading> {};

TEST_P(PtxStore, WritesItsTypesBits) {
  const std::string body = std::string("mov.b64 %x9, 0x8877665544332211; mov.b32 %r9, 0x44332211; mov.b32 %r8, -1;") +
                           GetParam().instruction;
  alignas(16) Words out(2, 0);
  load(body);
  run(1, nullptr, out.data());
  EXPECT_EQ(out[0], GetParam().expected) << GetParam().instruction;
}

INSTANTIATE_TEST_SUITE_P(
    Forms, PtxStore,
    ::testing::Values(Loading{"st.global.u8 [%x1], %r9;", 0x11}, Loading{"st.b16 [%x1+2], %r9;", 0x22110000},
                      Loading{"st.global.wt.s8 [%x1+7], %x9;", 0x1100000000000000},
                      Loading{"st.global.b64 [%x1], %x9;", 0x8877665544332211},
                      Loading{"st.volatile.global.u32 [%x1], %x9;", 0x44332211},
                      Loading{"st.release.sys.global.u8 [%x1], %r9;", 0x11},
                      Loading{"st.relaxed.gpu.v2.u32 [%x1], {%r9, %r8};", 0xffffffff44332211},
                      Loading{"st.release.gpu.v2.u64 [%x1], {%x9, %x9};", 0x8877665544332211},
                      Loading{"st.global.v4.u8 [%x1], {%r9, %r8, %r9, %r8};", 0xff11ff11},
                      Loading{"st.global.v4.u16 [%x1], {%r9, %r8, 3, 0};", 0x00000003ffff2211},
                      Loading{"st.global.f32 [%x1], 0f3F800000;", 0x3f800000},
                      Loading{"st.global.f64 [%x1], 1.0;", 0x3ff0000000000000},
                      Loading{"mov.b128 %q1, {%x9, %x9}; st.global.b128 [%x1], %q1;", 0x8877665544332211},
                      Loading{"st.shared.v2.u32 [%r1+8], {%r9, %r8}; ld.shared.b64 %x8, [tile+8]; st.b64 [%x1], %x8;",
                              0xffffffff44332211},
                      Loading{".local .align 8 .b8 own[16]; st.local.b64 [own+8], %x9; ld.local.u16 %r2, [own+10]; "
                              "st.global.u32 [%x1], %r2;",
                              0x4433}));

TEST_F(Ptx, ParametersOfFunctionsLieInMemory) {
  const std::string function = R"(
    .func (.param .align 8 .b8 result[16]) pick(.param .align 8 .b8 s[24], .param .b32 add) {
      .reg .b64 %x<4>; .reg .b32 %r<3>;
      ld.param.b64 %x0, [s+16]; ld.param.u8 %r0, [s+1]; ld.param.b32 %r1, [add];
      add.u32 %r0, %r0, %r1; cvt.u64.u32 %x1, %r0;
      st.param.v2.b64 [result], {%x0, %x1};
      ret;
    })";
  const std::string body = R"(
    {
    .param .align 8 .b8 s[24]; .param .b32 n; .param .align 8 .b8 got[16];
    st.param.b64 [s], 0x1234; st.param.b64 [s+16], 77; st.param.b32 [n], 5;
    call (got), pick, (s, n);
    ld.param.v2.b64 {%x8, %x9}, [got];
    }
    shl.b64 %x9, %x9, 16; or.b64 %x9, %x9, %x8; st.global.b64 [%x2], %x9;)";
  EXPECT_THAT(results(body, 1, nullptr, function), ElementsAre((0x12 + 5) << 16 | 77));
}

TEST_F(Ptx, ConstantsAreReadByNameAndByAddress) {
  const std::string body = R"(
    ld.const.v2.u16 {%h1, %h2}, [table+4]; mov.u64 %x3, table; ld.const.s8 %r9, [%x3];
    mov.b32 %r8, {%h1, %h2}; mov.b64 %x9, {%r8, %r9}; st.b64 [%x2], %x9;)";
  EXPECT_THAT(results(body, 1, nullptr, ".const .align 4 .b32 table[2] = {0x80, 0x00070009};"),
              ElementsAre(0xffffff8000070009));
}

struct Updating {
  const char* instruction;  ///< on the 8 bytes at %x0; what the instruction returned shall be in %x9
  uint64_t before, returned, after;
};
class PtxAtomic : public Ptx, public ::testing::WithParamInterface<Updating> {};

TEST_P(PtxAtomic, ReturnsTheOldAndLeavesTheNew) {
  const Updating& u = GetParam();
  alignas(16) uint64_t word[2] = {u.before, 0};
  const std::string body = std::string("mov.b32 %r9, 0; mov.b64 %x9, 0; mov.b16 %h9, 0; ") + u.instruction +
                           "; cvt.u64.u32 %x8, %r9; or.b64 %x9, %x9, %x8; st.global.b64 [%x2], %x9;";
  EXPECT_THAT(results(body, 1, word), ElementsAre(u.returned)) << u.instruction;
  EXPECT_EQ(word[0], u.after) << u.instruction;
}

INSTANTIATE_TEST_SUITE_P(
    Forms, PtxAtomic,
    ::testing::Values(
        Updating{"atom.global.add.u32 %r9, [%x0], 3", 0xfffffffe, 0xfffffffe, 1},
        Updating{"atom.add.release.gpu.u32 %r9, [%x0], 3", 4, 4, 7},
        Updating{"atom.global.sys.add.u64 %x9, [%x0], -1", 5, 5, 4},
        Updating{"atom.global.inc.u32 %r9, [%x0], 7", 7, 7, 0}, Updating{"atom.global.inc.u32 %r9, [%x0], 7", 6, 6, 7},
        Updating{"atom.global.dec.u32 %r9, [%x0], 7", 0, 0, 7}, Updating{"atom.global.dec.u32 %r9, [%x0], 7", 9, 9, 7},
        Updating{"atom.global.min.s32 %r9, [%x0], 1", 0xffffffff, 0xffffffff, 0xffffffff},
        Updating{"atom.global.min.u32 %r9, [%x0], 1", 0xffffffff, 0xffffffff, 1},
        Updating{"atom.max.s64 %x9, [%x0], 1", ~0ull, ~0ull, 1},
        Updating{"atom.max.u64 %x9, [%x0], 1", ~0ull, ~0ull, ~0ull},
        Updating{"atom.or.acq_rel.cta.b32 %r9, [%x0], 6", 3, 3, 7}, Updating{"atom.xor.b64 %x9, [%x0], 6", 3, 3, 5},
        Updating{"atom.global.and.b32 %r9, [%x0], 6", 3, 3, 2}, Updating{"atom.exch.b64 %x9, [%x0], 6", 3, 3, 6},
        Updating{"atom.global.cas.b32 %r9, [%x0], 3, 8", 3, 3, 8},
        Updating{"atom.global.cas.b32 %r9, [%x0], 3, 8", 4, 4, 4},
        Updating{"atom.cas.acquire.cta.b64 %x9, [%x0], 3, 8", 3, 3, 8},
        Updating{"atom.cas.b16 %h9, [%x0+2], 3, 8; cvt.u32.u16 %r9, %h9", 0x30001, 3, 0x80001},
        Updating{"atom.global.add.f32 %f1, [%x0], 0f3F800000; mov.b32 %r9, %f1", 0x40000000, 0x40000000, 0x40400000},
        Updating{"atom.global.add.f32 %f1, [%x0], 0f80000000; mov.b32 %r9, %f1", 0x80000001, 0x80000001, 0x80000000},
        Updating{"atom.add.f64 %d1, [%x0], 1.0; mov.b64 %x9, %d1", 0x4000000000000000, 0x4000000000000000,
                 0x4008000000000000},
        Updating{"mov.b32 %r8, 0x3c003c00; atom.add.noftz.f16x2 %r9, [%x0], %r8", 0x40003c00, 0x40003c00, 0x42004000},
        Updating{"mov.b16 %h8, 0x3c00; atom.add.noftz.f16 %h9, [%x0], %h8; cvt.u32.u16 %r9, %h9", 0x3c00, 0x3c00,
                 0x4000},
        Updating{"mov.b32 %r8, 0x3f803f80; atom.add.noftz.bf16x2 %r9, [%x0], %r8", 0x40003f80, 0x40003f80, 0x40404000},
        Updating{
            "mov.b128 %q1, {%x2, 5}; atom.exch.b128 %q2, [%x0], %q1; mov.b128 {%x9, %x8}, %q2; st.global.b64 [%x0], 1",
            7, 7, 1},
        Updating{
            "mov.b128 %q1, {7, 0}; mov.b128 %q3, {8, 9}; atom.cas.b128 %q2, [%x0], %q1, %q3; mov.b128 {%x9, %x8}, %q2",
            7, 7, 8},
        Updating{"red.global.add.u32 [%x0], 3", 4, 0, 7}, Updating{"red.and.release.cta.b32 [%x0], 6", 3, 0, 2},
        Updating{"mov.b64 {%r2, %r3}, 0x4080000040000000; mov.b32 %f1, %r2; mov.b32 %f2, %r3; "
                 "atom.global.add.v2.f32 {%f3, %f4}, [%x0], {%f1, %f2}; mov.b32 %r9, %f4",
                 0x3f8000003f800000, 0x3f800000, 0x40a0000040400000},
        Updating{"mov.b16 %h1, 0x3c00; mov.b16 %h2, 0xbc00; red.global.min.noftz.v2.f16 [%x0], {%h1, %h2}", 0x00004000,
                 0, 0xbc003c00}));

TEST_F(Ptx, AtomicsOfManyThreadsInSharedMemoryAdd) {
  const std::string body = R"(
    setp.ne.u32 %p1, %r0, 0; @%p1 bra started; st.shared.u32 [tile], 0;
    started: bar.sync 0;
    atom.shared.add.u32 %r9, [%r1], %r0; red.shared.max.s32 [tile+4], %r0;
    bar.sync 0; ld.shared.u32 %r9, [tile]; cvt.u64.u32 %x9, %r9; st.b64 [%x2], %x9;)";
  EXPECT_THAT(results(body, 96), Each(96u * 95 / 2));
}

TEST_F(Ptx, BarriersCountAndReduce) {
  const std::string body = R"(
    and.b32 %r2, %r0, 1; setp.eq.u32 %p1, %r2, 1; setp.lt.u32 %p3, %r0, 64;
    bar.red.popc.u32 %r3, 1, %p1; bar.red.and.pred %p2, 0, 64, !%p1; barrier.red.or.pred %p4, 2, %p1;
    selp.u32 %r4, 100, 0, %p2; add.u32 %r3, %r3, %r4; selp.u32 %r4, 1000, 0, %p4; add.u32 %r3, %r3, %r4;
    mov.u32 %r5, 3; barrier.cta.sync %r5, 64; barrier.sync.aligned 4; bar.cta.sync 5;
    cvt.u64.u32 %x9, %r3; st.b64 [%x2], %x9;)";
  EXPECT_THAT(results(body, 64), Each(32u + 1000));
}

TEST_F(Ptx, AProducerArrivesAndAConsumerWaits) {
  const std::string body = R"(
    setp.ge.u32 %p1, %r0, 32; @%p1 bra produce;
    bar.sync 1, 64; shl.b32 %r3, %r0, 2; add.u32 %r3, %r3, %r1; ld.shared.u32 %r9, [%r3]; bra join;
    produce: sub.u32 %r2, %r0, 32; shl.b32 %r3, %r2, 2; add.u32 %r3, %r3, %r1; st.shared.u32 [%r3], %r0;
    membar.cta; bar.arrive 1, 64; mov.u32 %r9, 0;
    join: cvt.u64.u32 %x9, %r9; st.b64 [%x2], %x9;)";
  const Words got = results(body, 64);
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(got[i], i < 32 ? i + 32 : 0) << i;
}

struct Exchange {
  const char* instruction;  ///< leaves its result in %r9 and its predicate in %p1
  uint64_t (*expected)(uint64_t lane);
};
class PtxWarp : public Ptx, public ::testing::WithParamInterface<Exchange> {};

TEST_P(PtxWarp, GivesEachLaneItsResult) {
  const std::string body =
      std::string("mov.pred %p1, 0; add.u32 %r2, %r0, 100; setp.lt.u32 %p2, %r0, 5; mov.u32 %r9, 0; ") +
      GetParam().instruction +
      "; cvt.u64.u32 %x9, %r9; selp.b64 %x8, 0x100000000, 0, %p1; or.b64 %x9, %x9, %x8; "
      "st.global.b64 [%x2], %x9;";
  const Words got = results(body, 32);
  for (uint64_t lane = 0; lane < 32; ++lane) EXPECT_EQ(got[lane], GetParam().expected(lane)) << lane;
}

constexpr uint64_t kTrue = 1ull << 32;

INSTANTIATE_TEST_SUITE_P(
    Forms, PtxWarp,
    ::testing::Values(
        Exchange{"shfl.sync.bfly.b32 %r9, %r2, 1, 31, -1", [](uint64_t i) { return (i ^ 1) + 100; }},
        Exchange{"shfl.sync.down.b32 %r9|%p1, %r2, 2, 31, -1",
                 [](uint64_t i) { return i < 30 ? i + 102 + kTrue : i + 100; }},
        Exchange{"shfl.sync.up.b32 %r9|%p1, %r2, 1, 0x1800, -1",  // segments of 8
                 [](uint64_t i) { return i % 8 ? i + 99 + kTrue : i + 100; }},
        Exchange{"shfl.sync.idx.b32 %r9|%p1, %r2, 9, 0x181f, -1",  // lane 9 mod 8 of each segment of 8
                 [](uint64_t i) { return i / 8 * 8 + 1 + 100 + kTrue; }},
        Exchange{"vote.sync.ballot.b32 %r9, %p2, -1", [](uint64_t) { return uint64_t{31}; }},
        Exchange{"vote.ballot.sync.b32 %r9, !%p2, -1", [](uint64_t) { return uint64_t{0xffffffe0}; }},
        Exchange{"vote.sync.any.pred %p1, %p2, -1", [](uint64_t) { return kTrue; }},
        Exchange{"vote.sync.all.pred %p1, %p2, -1", [](uint64_t) { return uint64_t{0}; }},
        Exchange{"vote.sync.uni.pred %p1, %p2, -1", [](uint64_t) { return uint64_t{0}; }},
        Exchange{"shr.u32 %r3, %r0, 4; match.any.sync.b32 %r9, %r3, -1",
                 [](uint64_t i) { return i < 16 ? uint64_t{0xffff} : 0xffff0000; }},
        Exchange{"mov.b64 %x3, 9; match.all.sync.b64 %r9|%p1, %x3, -1", [](uint64_t) { return 0xffffffff + kTrue; }},
        Exchange{"match.all.sync.b32 %r9|%p1, %r0, -1", [](uint64_t) { return uint64_t{0}; }},
        Exchange{"redux.sync.add.s32 %r9, %r2, -1", [](uint64_t) { return uint64_t{3200 + 496}; }},
        Exchange{"sub.u32 %r3, %r0, 4; redux.sync.min.s32 %r9, %r3, -1", [](uint64_t) { return uint64_t{0xfffffffc}; }},
        Exchange{"sub.u32 %r3, %r0, 4; redux.sync.max.u32 %r9, %r3, -1", [](uint64_t) { return uint64_t{0xffffffff}; }},
        Exchange{"redux.sync.xor.b32 %r9, %r2, -1", [](uint64_t) { return uint64_t{0}; }},
        Exchange{"elect.sync %r9|%p1, -1", [](uint64_t i) { return i ? 0 : kTrue; }},
        Exchange{"@%p2 bra done; elect.sync _|%p1, 0xffffffe0; done:", [](uint64_t i) { return i == 5 ? kTrue : 0; }},
        Exchange{"@!%p2 bra done; activemask.b32 %r9; bar.warp.sync 31; done:",
                 [](uint64_t i) { return uint64_t{i < 5 ? 31u : 0u}; }}));

TEST_F(Ptx, WarpOperationsWithoutSyncWorkWithTheActiveLanes) {
  load(R"(
    setp.lt.u32 %p2, %r0, 8; mov.u32 %r9, 0; @!%p2 bra done;
    shfl.bfly.b32 %r9, %r0, 3, 0x1f; vote.ballot.b32 %r3, %p2; shl.b32 %r3, %r3, 8; or.b32 %r9, %r9, %r3;
    done: cvt.u64.u32 %x9, %r9; st.b64 [%x2], %x9;)");
  Words got(32);
  run(32, nullptr, got.data());
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(got[i], i < 8 ? (i ^ 3) | 0xff00 : 0) << i;
}

TEST_F(Ptx, CopiesToSharedMemoryFillWithZeros) {
  alignas(16) unsigned char in[64];
  for (unsigned i = 0; i < 64; ++i) in[i] = static_cast<unsigned char>(i + 1);
  const std::string body = R"(
    mov.u32 %r2, 5; setp.eq.u32 %p1, %r2, 5; setp.ne.u32 %p2, %r2, 5; createpolicy.fractional.L2::evict_first.b64 %x5, 1.0;
    st.shared.b64 [tile+8], -1; st.shared.b64 [tile+16], -1;
    cp.async.ca.shared.global [tile], [%x0], 8;
    cp.async.ca.shared.global [%r1+8], [%x0], 8, %r2;
    cp.async.ca.shared.global [tile+16], [%x0+4], 4, 0;
    cp.async.ca.shared.global [tile+20], [%x0+4], 4, %p2;
    cp.async.ca.shared.global.L2::128B [tile+24], [%x0+8], 4, %p1;
    cp.async.ca.shared.global.L2::cache_hint [tile+28], [%x0+8], 4, %x5;
    cp.async.cg.shared.global [tile+32], [%x0+16], 16, 16;
    cp.async.cg.shared.global [tile+48], [0], 16, 0;
    cp.async.commit_group; cp.async.wait_group 0; cp.async.wait_all;
    mad.lo.u32 %r3, %r0, 8, %r1; ld.shared.b64 %x9, [%r3]; st.b64 [%x2], %x9;)";
  load("setp.ne.u32 %p7, %r0, 0; @%p7 bra skip;" + body.substr(0, body.find("mad.lo")) + "skip: bar.sync 0;" +
       body.substr(body.find("mad.lo")));
  Words out(8);
  run(8, in, out.data());
  EXPECT_THAT(out, ElementsAre(0x0807060504030201, 0x0504030201, 0x0807060500000000, 0x0c0b0a0900000000,
                               0x1817161514131211, 0x201f1e1d1c1b1a19, 0, 0));
}

TEST_F(Ptx, AnMbarrierEndsItsPhaseWithTheLastArrival) {
  const std::string body = R"(
    setp.ne.u32 %p1, %r0, 0; @%p1 bra ready; mbarrier.init.shared::cta.b64 [tile], 64;
    ready: bar.sync 0;
    shl.b32 %r2, %r0, 2; add.u32 %r2, %r2, %r1; mov.u32 %r7, 0;
    again:
    add.u32 %r3, %r0, %r7; st.shared.u32 [%r2+16], %r3;
    mbarrier.arrive.shared.b64 %x3, [%r1];
    wait: mbarrier.try_wait.shared.b64 %p2, [tile], %x3; @!%p2 bra wait;
    xor.b32 %r4, %r2, 128; ld.shared.u32 %r5, [%r4+16]; bar.sync 1; add.u32 %r9, %r9, %r5;
    add.u32 %r7, %r7, 1; setp.lt.u32 %p3, %r7, 20; @%p3 bra again;
    mbarrier.inval.shared.b64 [tile];
    cvt.u64.u32 %x9, %r9; st.b64 [%x2], %x9;)";
  // Each thread reads what the thread 32 further (xor 128 bytes) wrote in each of 20 rounds.
  const Words got = results("mov.u32 %r9, 0;" + body, 64);
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(got[i], 20 * (i ^ 32) + 190) << i;
}

TEST_F(Ptx, AnMbarrierWaitsForTransactionsAndTellsPhasesApart) {
  const std::string body = R"(
    mbarrier.init.b64 [%x4], 3;
    mbarrier.arrive.noComplete.b64 %x5, [%x4], 1; mbarrier.pending_count.b64 %r2, %x5; shl.b32 %r9, %r2, 0;
    mbarrier.arrive.b64 %x5, [%x4]; mbarrier.pending_count.b64 %r2, %x5; shl.b32 %r2, %r2, 4; or.b32 %r9, %r9, %r2;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 256;
    mbarrier.test_wait.b64 %p1, [%x4], %x5; selp.u32 %r2, 0x100, 0, %p1; or.b32 %r9, %r9, %r2;
    mbarrier.complete_tx.shared::cta.b64 [%r1], 100;
    mbarrier.test_wait.parity.shared.b64 %p1, [%r1], 0; selp.u32 %r2, 0x200, 0, %p1; or.b32 %r9, %r9, %r2;
    mbarrier.complete_tx.shared::cta.b64 [%r1], 156;
    mbarrier.test_wait.parity.shared.b64 %p1, [%r1], 0; selp.u32 %r2, 0x1000, 0, %p1; or.b32 %r9, %r9, %r2;
    mbarrier.test_wait.b64 %p1, [%x4], %x5; selp.u32 %r2, 0x2000, 0, %p1; or.b32 %r9, %r9, %r2;
    mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 1, 100; selp.u32 %r2, 0x4000, 0, %p1; or.b32 %r9, %r9, %r2;
    mbarrier.arrive_drop.shared.b64 %x6, [%r1], 2; cp.async.mbarrier.arrive.noinc.shared.b64 [%r1];
    cp.async.mbarrier.arrive.shared.b64 [%r1];
    mbarrier.test_wait.shared.b64 %p1, [%r1], %x6; selp.u32 %r2, 0x10000, 0, %p1; or.b32 %r9, %r9, %r2;
    mbarrier.arrive.shared.b64 %x6, [%r1]; mbarrier.pending_count.b64 %r2, %x6; shl.b32 %r2, %r2, 20; or.b32 %r9, %r9, %r2;
    mbarrier.test_wait.shared.b64 %p1, [%r1], %x6; selp.u32 %r2, 0x20000, 0, %p1; or.b32 %r9, %r9, %r2;
    cvt.u64.u32 %x9, %r9; st.b64 [%x2], %x9;)";
  // Pending before the arrivals 3, then 2; not over while 256, then 156 bytes are missing; over by both questions, the
  // next phase not. Dropping 2 of 3 and one arrival end the second phase; the third expects one.
  EXPECT_THAT(results("cvta.shared.u64 %x4, tile; " + body, 1), ElementsAre(0x133023));
}

TEST_F(Ptx, FencesOfAllScopesAreTaken) {
  const std::string body = R"(
    membar.cta; membar.gl; membar.sys; fence.sc.cta; fence.acq_rel.gpu; fence.acq_rel.sys; fence.sc.cluster;
    fence.mbarrier_init.release.cluster; fence.proxy.async; fence.proxy.alias; fence.acquire.gpu;
    prefetch.global.L2 [%x0]; prefetchu.L1 [%x0]; discard.global.L2 [%x0], 128;
    st.b64 [%x2], 1;)";
  alignas(128) unsigned char in[128];
  EXPECT_THAT(results(body, 2, in), Each(1));
}

TEST_F(Ptx, AFaultNamesTheLineOfLoc) {
  load(".loc 1 12 3\nst.global.u32 [%x0], 1;\n.loc 1 14 3\nst.b64 [%x2], 1;", ".file 1 \"dir/saxpy.cu\"\n");
  ASSERT_TRUE(executable_);
  Words out(1);
  const Result<> result = launch(1, nullptr, out.data());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::IllegalAddress);
  EXPECT_THAT(result.error().message, ::testing::HasSubstr("saxpy.cu:12"));
}

// Code runs block after block in one call, and follows itself in the context.
TEST_F(Ptx, AFaultNamesItsBlockAndWarp) {
  load(R"(
    mov.u32 %r5, %ctaid.x; setp.ne.u32 %p1, %r5, 13;
    shr.u32 %r6, %r0, 5; setp.ne.u32 %p2, %r6, 2; or.pred %p1, %p1, %p2;
    @%p1 bra good; st.global.u32 [%x0], 1;
    good: st.b64 [%x2], 1;)");
  Words out(128);
  const Result<> result = launch(128, nullptr, out.data(), 30);
  ASSERT_FALSE(result);
  EXPECT_TRUE(result.error().message.starts_with("kernel k, block (13,0,0), one of the 32 threads from (64,0,0): "))
      << result.error().message;
}

}  // namespace
}  // namespace cupola
