#include "cupola/json.h"

#include "base/format.h"

namespace cupola::tool {

std::string json_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      result += formatted("\\u{:04x}", static_cast<unsigned>(c));
    else
      result += c;
  }
  return result + '"';
}

std::string json_array(const std::vector<std::string>& values) {
  std::string result = "[";
  for (const std::string& value : values) result += (result.size() > 1 ? "," : "") + value;
  return result + ']';
}

std::string json_object(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string result = "{";
  for (const auto& [name, value] : members) result += (result.size() > 1 ? "," : "") + json_string(name) + ':' + value;
  return result + '}';
}

}  // namespace cupola::tool
