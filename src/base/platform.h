#pragma once

namespace cupola {

/// The systems that Cupola runs on, for rules that tests look at on any of them.
enum class Platform { Linux, MacOs };

#if defined(__APPLE__)
inline constexpr Platform kThisPlatform = Platform::MacOs;
#else
inline constexpr Platform kThisPlatform = Platform::Linux;
#endif

}  // namespace cupola
