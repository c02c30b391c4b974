#pragma once

#include <string>
#include <vector>

#include "cupolac/option_table.h"
#include "cupolac/options.h"

namespace cupola::cupolac {

/// What the options read so far say.
struct Request {
  Options options;
  std::string language;  ///< the value of -x
  std::vector<Architecture> architectures;
  bool device_link = false;
};

/// Sets what an option says. `argument` is the option as written, for messages.
Result<> apply_option(Request& request, Id id, const std::string& argument, const std::string& value);

}  // namespace cupola::cupolac
