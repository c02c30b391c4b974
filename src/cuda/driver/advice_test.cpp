// Messages of refused calls say what was given and what to give instead.

#include <gmock/gmock.h>

#include <string>

#include "cuda/driver/with_context.h"

namespace cupola::driver {
namespace {

using testing::HasSubstr;

class Advice : public WithContext {
 protected:
  void SetUp() override {
    WithContext::SetUp();
    const auto keep = [](void* self, CUlogLevel, char* message, size_t length) {
      static_cast<Advice*>(self)->last_.assign(message, length);
    };
    ASSERT_EQ(cuLogsRegisterCallback(keep, this, &callback_), CUDA_SUCCESS);
  }
  void TearDown() override {
    cuLogsUnregisterCallback(callback_);
    WithContext::TearDown();
  }

  /// The message of the call made last.
  std::string last_;

 private:
  CUlogsCallbackHandle callback_ = nullptr;
};

TEST_F(Advice, NamesTheFormatsThatTexelsMayHave) {
  CUarray array = nullptr;
  CUDA_ARRAY_DESCRIPTOR shape{.Width = 4, .Height = 4, .Format = CU_AD_FORMAT_BC1_UNORM, .NumChannels = 4};
  EXPECT_EQ(cuArrayCreate(&array, &shape), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_THAT(last_, HasSubstr("0x91 is not supported; give one of CU_AD_FORMAT_UNSIGNED_INT8, "));
  EXPECT_THAT(last_, HasSubstr(", CU_AD_FORMAT_FLOAT"));
}

TEST_F(Advice, NamesTheHandleAndWhatMakesOne) {
  EXPECT_EQ(cuArrayDestroy(reinterpret_cast<CUarray>(0x123)), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_THAT(last_, HasSubstr("0x123 is no live CUDA array; make one with cuArrayCreate"));
  EXPECT_EQ(cuMipmappedArrayDestroy(reinterpret_cast<CUmipmappedArray>(0x123)), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_THAT(last_, HasSubstr("0x123 is no live mipmapped array; make one with cuMipmappedArrayCreate"));
}

TEST_F(Advice, NamesALimitThatCannotBeSet) {
  EXPECT_EQ(cuCtxSetLimit(CU_LIMIT_CIG_ENABLED, 1), CUDA_ERROR_UNSUPPORTED_LIMIT);
  EXPECT_THAT(last_, HasSubstr("CU_LIMIT_CIG_ENABLED cannot be set"));
}

}  // namespace
}  // namespace cupola::driver
