#pragma once

#include <string>

// What cupolac and libcupola-frontend tell clang of the target of device code, so that both make the same kir.

namespace cupola::image {

/// The newest PTX whose instructions clang's built-in functions may stand for: no assembler reads clang's own PTX.
inline constexpr char kPtxFeature[] = "+ptx90";

/// The toolkit whose headers clang may believe to see: the last one that clang 22 knows.
inline constexpr char kSdkVersion[] = "12.9";

/// Words of clang's -mrecip, which LLVM keeps with each function: quotients and roots of f32 may be approximate;
/// crudely, a quotient is __fdividef's, which is 0 for divisors from 2^126.
inline constexpr char kEstimateRoots[] = "sqrtf", kEstimateQuotients[] = "divf", kEstimateQuotientsCrudely[] = "divf:0";

/// The words for -prec-div=false, -prec-sqrt=false and -use_fast_math, or nothing.
inline std::string estimates(bool quotients, bool roots, bool crudely) {
  std::string words = !quotients ? "" : crudely ? kEstimateQuotientsCrudely : kEstimateQuotients;
  if (roots) words += (words.empty() ? "" : ",") + std::string(kEstimateRoots);
  return words;
}

}  // namespace cupola::image
