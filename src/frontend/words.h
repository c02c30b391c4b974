#pragma once

#include <string>
#include <vector>

#include "frontend/places.h"
#include "image/source_request.h"

namespace cupola::frontend {

/// The words for clang's own command line (-cc1) that decide what the preamble means: target, language, predefined
/// macros. Error: NoBinaryForGpu or InvalidValue for an architecture or standard that is none.
Result<std::vector<std::string>> language_words(const image::SourceRequest& request, const Places& places);

/// The words for messages, code and folders, which may differ between uses of one preamble. `program_folder` holds the
/// headers in memory.
std::vector<std::string> program_words(const image::SourceRequest& request, const Places& places,
                                       const std::string& program_folder);

}  // namespace cupola::frontend
