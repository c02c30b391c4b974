#pragma once

// What cupolac and libcupola-frontend tell clang of the target of device code, so that both make the same kir.

namespace cupola::image {

/// The newest PTX whose instructions clang's built-in functions may stand for: no assembler reads clang's own PTX.
inline constexpr char kPtxFeature[] = "+ptx90";

/// The toolkit whose headers clang may believe to see: the last one that clang 22 knows.
inline constexpr char kSdkVersion[] = "12.9";

}  // namespace cupola::image
