#pragma once

#include <set>
#include <string>
#include <string_view>

namespace cupola::metal::build {

/// The functions in MSL that printed code calls, each written out only where it is used: helpers.def has them.
class MslHelpers {
 public:
  /// Notes that the text uses the helper. The name itself.
  std::string_view use(std::string_view name);

  /// The text of those used, in the table's order.
  std::string text() const;

 private:
  std::set<std::string_view> used_;
};

}  // namespace cupola::metal::build
