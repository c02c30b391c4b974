#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

// JSON text (RFC 8259), put together from its parts.

namespace cupola::tool {

std::string json_string(std::string_view text);

/// `values` are JSON already.
std::string json_array(const std::vector<std::string>& values);
std::string json_object(const std::vector<std::pair<std::string, std::string>>& members);

}  // namespace cupola::tool
