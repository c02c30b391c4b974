#pragma once

#include <string>

#include "doubles/software_metal/object.h"

namespace cupola::software_metal {

struct String final : Object {
  explicit String(std::string of) : text(std::move(of)) {}
  const Class& isa() const override;
  std::string text;
};

struct ErrorObject final : Object {
  ErrorObject(const char* in, long number, std::string why) : domain(in), code(number), words(std::move(why)) {}
  const Class& isa() const override;
  const std::string domain;
  const long code;
  const std::string words;
};

struct Url final : Object {
  explicit Url(std::string of) : path(std::move(of)) {}
  const Class& isa() const override;
  const std::string path;
};

struct Array final : Object {
  explicit Array(Object* of) : element(of) {}
  const Class& isa() const override;
  void dispose() override { element = Kept<Object>(); }
  Kept<Object> element;  ///< one
};

/// The text of an argument that must be a string.
const std::string& text_of(Object* string, const char* what);

}  // namespace cupola::software_metal
