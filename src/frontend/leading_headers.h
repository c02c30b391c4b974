#pragma once

#include <string>
#include <vector>

#include "frontend/places.h"
#include "image/source_request.h"

namespace cupola::frontend {

/// Those of Cupola's headers that a program includes before anything else, in its order: they may be part of its
/// preamble, because nothing of the program can change what they mean. None for a program with macros from the command
/// line, or with headers in memory that would be found in their place.
std::vector<std::string> leading_headers(const image::SourceRequest& request, const Places& places);

}  // namespace cupola::frontend
