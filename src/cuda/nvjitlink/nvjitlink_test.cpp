// libnvJitLink as programs call it. Oracle: "nvJitLink, User Interface", and what CUDA 13.0's library on an H200
// answered to the same calls. That results run is tested where kernels are launched (tests/compilers, tests/clients).

#include <gmock/gmock.h>
#include <nvJitLink.h>

#include <fstream>
#include <string>
#include <vector>

#include "cuda/exported_names.h"
#include "image/device_unit.h"
#include "image/fatbin.h"

namespace {

using namespace cupola;
using testing::HasSubstr;

constexpr char kCaller[] = R"(.version 8.7
.target sm_89
.address_size 64
.extern .func (.param .b32 r) twice(.param .b32 x);
.visible .entry k(.param .u64 p) {
  .reg .b32 %v;
  .reg .b64 %a;
  ld.param.u64 %a, [p];
  ld.global.u32 %v, [%a];
  { .param .b32 x; .param .b32 r;
    st.param.b32 [x], %v;
    call (r), twice, (x);
    ld.param.b32 %v, [r]; }
  st.global.u32 [%a], %v;
  ret;
}
)";
constexpr char kCallee[] =
    "target triple = \"nvptx64-nvidia-cuda\"\ndefine i32 @twice(i32 %x) {\n %y = shl i32 %x, 1\n ret i32 %y\n}\n";

/// A link and what comes of it.
class Link {
 public:
  explicit Link(std::vector<const char*> options = {"-arch=sm_89"}) {
    created_ = nvJitLinkCreate(&handle_, static_cast<uint32_t>(options.size()), options.data());
  }
  ~Link() { EXPECT_EQ(nvJitLinkDestroy(&handle_), NVJITLINK_SUCCESS); }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  nvJitLinkResult created() const { return created_; }
  nvJitLinkResult add(nvJitLinkInputType type, std::string_view code) {
    return nvJitLinkAddData(handle_, type, code.data(), code.size(), "piece");
  }
  nvJitLinkResult complete() { return nvJitLinkComplete(handle_); }
  std::string cubin() const {
    size_t size = 0;
    EXPECT_EQ(nvJitLinkGetLinkedCubinSize(handle_, &size), NVJITLINK_SUCCESS);
    std::string bytes(size, '\0');
    EXPECT_EQ(nvJitLinkGetLinkedCubin(handle_, bytes.data()), NVJITLINK_SUCCESS);
    return bytes;
  }
  std::string ptx() const {
    size_t size = 0;
    EXPECT_EQ(nvJitLinkGetLinkedPtxSize(handle_, &size), NVJITLINK_SUCCESS);
    std::string text(size, '\0');
    EXPECT_EQ(nvJitLinkGetLinkedPtx(handle_, text.data()), NVJITLINK_SUCCESS);
    return text;
  }
  std::string errors() const {
    size_t size = 0;
    EXPECT_EQ(nvJitLinkGetErrorLogSize(handle_, &size), NVJITLINK_SUCCESS);
    std::string text(size, '\xFF');
    EXPECT_EQ(nvJitLinkGetErrorLog(handle_, text.data()), NVJITLINK_SUCCESS);
    EXPECT_EQ(text.back(), '\0');
    return text;
  }
  std::string infos() const {
    size_t size = 0;
    EXPECT_EQ(nvJitLinkGetInfoLogSize(handle_, &size), NVJITLINK_SUCCESS);
    std::string text(size, '\xFF');
    EXPECT_EQ(nvJitLinkGetInfoLog(handle_, text.data()), NVJITLINK_SUCCESS);
    return text;
  }
  nvJitLinkHandle handle() const { return handle_; }

 private:
  nvJitLinkHandle handle_ = nullptr;
  nvJitLinkResult created_;
};

std::string fatbin_of(std::string_view kir) {
  const image::FatbinEntry entry{
      .kind = image::FatbinKind::Kir, .sm = image::kArchitecture, .payload = std::as_bytes(std::span(kir))};
  const std::vector<std::byte> bytes = image::write_fatbin({&entry, 1}).value();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(NvJitLink, ExportsThePublicNames) {
  EXPECT_EQ(exported_names(CUPOLA_API_LIBRARY), listed_names(CUPOLA_API_NAMES));
}

TEST(NvJitLink, KeepsExceptionsInside) {
  const Link link;
  const size_t more_than_there_can_be = size_t{1} << 63;  // refused behind the first bytes
  EXPECT_EQ(nvJitLinkAddData(link.handle(), NVJITLINK_INPUT_ANY, "BC\xC0\xDE", more_than_there_can_be, nullptr),
            NVJITLINK_ERROR_INTERNAL);
  EXPECT_EQ(link.errors(), std::string(1, '\0'));  // it can still be asked: nobody holds its lock
}

TEST(NvJitLink, LinksPtxWithOtherCode) {
  Link link({"-arch=sm_89", "-O3", "-maxrregcount=32", "-time", "-verbose"});
  ASSERT_EQ(link.created(), NVJITLINK_SUCCESS) << link.errors();
  ASSERT_EQ(link.add(NVJITLINK_INPUT_PTX, kCaller), NVJITLINK_SUCCESS) << link.errors();
  ASSERT_EQ(link.add(NVJITLINK_INPUT_FATBIN, fatbin_of(kCallee)), NVJITLINK_SUCCESS) << link.errors();
  ASSERT_EQ(link.complete(), NVJITLINK_SUCCESS) << link.errors();
  const std::string cubin = link.cubin();
  auto entries = image::read_fatbin(reinterpret_cast<const std::byte*>(cubin.data()), cubin.size());
  ASSERT_TRUE(entries);
  ASSERT_EQ(entries->size(), 1u);
  EXPECT_EQ(entries->front().kind, image::FatbinKind::Kir);
  EXPECT_THAT(link.infos(), HasSubstr("piece: "));
  EXPECT_THAT(link.infos(), HasSubstr("linked in "));
}

// What the caller will link itself is an extern; the link for a device refuses it.
TEST(NvJitLink, LeavesExternsInPtx) {
  Link link({"-arch=compute_80", "-lto", "-ptx"});
  ASSERT_EQ(link.add(NVJITLINK_INPUT_PTX, kCaller), NVJITLINK_SUCCESS) << link.errors();
  ASSERT_EQ(link.complete(), NVJITLINK_SUCCESS) << link.errors();
  EXPECT_THAT(link.ptx(), HasSubstr(".extern .func"));
}

TEST(NvJitLink, GivesPtxWhereItIsAsked) {
  Link link({"-arch=compute_80", "-lto", "-ptx"});
  ASSERT_EQ(link.add(NVJITLINK_INPUT_PTX, kCaller), NVJITLINK_SUCCESS) << link.errors();
  ASSERT_EQ(link.add(NVJITLINK_INPUT_ANY, fatbin_of(kCallee)), NVJITLINK_SUCCESS) << link.errors();
  ASSERT_EQ(link.complete(), NVJITLINK_SUCCESS) << link.errors();
  EXPECT_THAT(link.ptx(), HasSubstr(".entry k("));
  EXPECT_THAT(link.ptx(), HasSubstr(".target sm_80"));
  EXPECT_EQ(link.ptx().back(), '\0');
  EXPECT_THAT(link.ptx(), Not(HasSubstr(".visible .func")));
  size_t size = 0;
  EXPECT_EQ(nvJitLinkGetLinkedCubinSize(link.handle(), &size), NVJITLINK_ERROR_INVALID_INPUT);
}

TEST(NvJitLink, OptionsAreReadAtOnce) {
  const std::pair<std::vector<const char*>, nvJitLinkResult> refused[] = {
      {{"-lto"}, NVJITLINK_ERROR_MISSING_ARCH},
      {{"-arch=sm_89", "-nonsense"}, NVJITLINK_ERROR_UNRECOGNIZED_OPTION},
      {{"-arch=sm_89", "arch"}, NVJITLINK_ERROR_UNRECOGNIZED_OPTION},
      {{"-arch=avx"}, NVJITLINK_ERROR_UNRECOGNIZED_OPTION},
      {{"-arch=sm_x"}, NVJITLINK_ERROR_UNRECOGNIZED_ARCH},
      {{"-arch=compute_89"}, NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS},
      {{"-arch=sm_89", "-ptx"}, NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS},
  };
  for (const auto& [options, result] : refused) {
    Link link(options);
    EXPECT_EQ(link.created(), result);
    EXPECT_THAT(link.errors(), HasSubstr("error: "));
    EXPECT_EQ(link.complete(), result);
  }
}

TEST(NvJitLink, CodeThatIsNotWhatIsSaidIsRefused) {
  Link link;
  EXPECT_EQ(link.add(NVJITLINK_INPUT_FATBIN, kCaller), NVJITLINK_ERROR_INCORRECT_INPUT_TYPE);
  EXPECT_EQ(link.add(NVJITLINK_INPUT_PTX, fatbin_of(kCallee)), NVJITLINK_ERROR_INCORRECT_INPUT_TYPE);
  EXPECT_EQ(link.add(NVJITLINK_INPUT_LTOIR, kCaller), NVJITLINK_ERROR_INCORRECT_INPUT_TYPE);
  EXPECT_EQ(link.add(NVJITLINK_INPUT_ANY, "neither this nor that"), NVJITLINK_ERROR_UNRECOGNIZED_INPUT);
  EXPECT_EQ(link.add(NVJITLINK_INPUT_CUBIN, "neither this nor that"), NVJITLINK_ERROR_INCORRECT_INPUT_TYPE);
  EXPECT_EQ(link.add(NVJITLINK_INPUT_NONE, kCaller), NVJITLINK_ERROR_INCORRECT_INPUT_TYPE);
  EXPECT_EQ(link.add(NVJITLINK_INPUT_ANY, std::string_view("BC\xC0\xDE\0\0\0\0", 8)), NVJITLINK_ERROR_LTO_NOT_ENABLED);
  EXPECT_THAT(link.errors(), HasSubstr("piece: "));
  EXPECT_EQ(nvJitLinkAddFile(link.handle(), NVJITLINK_INPUT_ANY, "/there/is/no/such/file"),
            NVJITLINK_ERROR_INVALID_INPUT);
  EXPECT_THAT(link.errors(), HasSubstr("/there/is/no/such/file"));
}

TEST(NvJitLink, WhatIsDefinedNowhereIsAnErrorThatNamesIt) {
  Link link;
  ASSERT_EQ(link.add(NVJITLINK_INPUT_PTX, kCaller), NVJITLINK_SUCCESS);
  EXPECT_EQ(link.complete(), NVJITLINK_ERROR_FINALIZE);
  EXPECT_THAT(link.errors(), HasSubstr("twice"));
}

TEST(NvJitLink, AfterAFailureThereIsNoResult) {
  Link link;
  ASSERT_EQ(link.add(NVJITLINK_INPUT_FATBIN, fatbin_of(kCallee)), NVJITLINK_SUCCESS) << link.errors();
  ASSERT_EQ(link.complete(), NVJITLINK_SUCCESS) << link.errors();
  std::string room = link.cubin();
  ASSERT_EQ(link.add(NVJITLINK_INPUT_FATBIN, fatbin_of(kCallee)), NVJITLINK_SUCCESS) << link.errors();
  ASSERT_EQ(link.complete(), NVJITLINK_ERROR_FINALIZE);  // twice() is there twice
  size_t size = 0;
  EXPECT_EQ(nvJitLinkGetLinkedCubinSize(link.handle(), &size), NVJITLINK_ERROR_INVALID_INPUT);
  EXPECT_EQ(nvJitLinkGetLinkedCubin(link.handle(), room.data()), NVJITLINK_ERROR_INVALID_INPUT);
}

TEST(NvJitLink, MalformedPtxIsNamedWithItsLine) {
  Link link;
  EXPECT_EQ(link.add(NVJITLINK_INPUT_PTX, ".version 8.7\n.target sm_89\n.entry k() { nonsense; }\n"),
            NVJITLINK_ERROR_PTX_COMPILE);
  EXPECT_THAT(link.errors(), HasSubstr("line 3"));
}

TEST(NvJitLink, NothingAndNullAreRefused) {
  Link link;
  size_t size = 0;
  EXPECT_EQ(link.complete(), NVJITLINK_ERROR_FINALIZE);
  EXPECT_EQ(nvJitLinkGetLinkedCubinSize(link.handle(), &size), NVJITLINK_ERROR_INVALID_INPUT);
  EXPECT_EQ(nvJitLinkAddData(link.handle(), NVJITLINK_INPUT_PTX, nullptr, 4, nullptr), NVJITLINK_ERROR_NULL_INPUT);
  EXPECT_EQ(nvJitLinkGetErrorLogSize(link.handle(), nullptr), NVJITLINK_ERROR_NULL_INPUT);
  EXPECT_EQ(nvJitLinkComplete(nullptr), NVJITLINK_ERROR_NULL_INPUT);
  const char* option = "-arch=sm_89";
  EXPECT_EQ(nvJitLinkCreate(nullptr, 1, &option), NVJITLINK_ERROR_NULL_INPUT);
  nvJitLinkHandle none = nullptr;
  EXPECT_EQ(nvJitLinkCreate(&none, 0, nullptr), NVJITLINK_ERROR_NULL_INPUT);
  EXPECT_EQ(nvJitLinkDestroy(&none), NVJITLINK_ERROR_NULL_INPUT);
  int place = 0;
  auto stale = reinterpret_cast<nvJitLinkHandle>(&place);
  EXPECT_EQ(nvJitLinkDestroy(&stale), NVJITLINK_ERROR_INVALID_INPUT);
  unsigned major = 0, minor = 1;
  EXPECT_EQ(nvJitLinkVersion(&major, &minor), NVJITLINK_SUCCESS);
  EXPECT_EQ(major, 13u);
}

}  // namespace
