#include "doubles/software_metal/foundation.h"

namespace cupola::software_metal {
namespace {

constexpr long kSystem[] = {15, 0, 0};  ///< the macOS that it is like

struct SystemVersion {
  long major, minor, patch;
};

struct ProcessInfo final : Object {
  const Class& isa() const override;
};

Object* string_with(Object*, Selector, const char* bytes) {
  return autorelease(new String(bytes));
}
const char* utf8(String* self, Selector) {
  return self->text.c_str();
}

Object* description(ErrorObject* self, Selector) {
  return autorelease(new String(self->words));
}
Object* domain(ErrorObject* self, Selector) {
  return autorelease(new String(self->domain));
}
long code_of(ErrorObject* self, Selector) {
  return self->code;
}

Object* file_url(Object*, Selector, Object* path) {
  return autorelease(new Url(text_of(path, "fileURLWithPath:")));
}

Object* array_with(Object*, Selector, Object* element) {
  if (!element) refuse("arrayWithObject: nothing is no object");
  return autorelease(new Array(element));
}

Object* process_info(Object*, Selector) {
  static auto* const info = new ProcessInfo;
  return info;
}
Object* version_string(ProcessInfo*, Selector) {
  return autorelease(new String(formatted("Version {}.{} (a double)", kSystem[0], kSystem[1])));
}
bool is_system_at_least(ProcessInfo*, Selector, SystemVersion version) {
  const long asked[] = {version.major, version.minor, version.patch};
  for (int i = 0; i < 3; ++i)
    if (asked[i] != kSystem[i]) return asked[i] < kSystem[i];
  return true;
}

const Method kString[] = {{"UTF8String", "r*@:", code(utf8)}};
const Method kStringClass[] = {{"stringWithUTF8String:", "@@:r*", code(string_with)}};
const Method kError[] = {
    {"localizedDescription", "@@:", code(description)},
    {"domain", "@@:", code(domain)},
    {"code", "q@:", code(code_of)},
};
const Method kUrlClass[] = {{"fileURLWithPath:", "@@:@", code(file_url)}};
const Method kArrayClass[] = {{"arrayWithObject:", "@@:@", code(array_with)}};
const Method kProcessInfo[] = {
    {"isOperatingSystemAtLeastVersion:", "B@:{?=qqq}", code(is_system_at_least)},
    {"operatingSystemVersionString", "@@:", code(version_string)},
};
const Method kProcessInfoClass[] = {{"processInfo", "@@:", code(process_info)}};

auto& string_class = *new Class("NSString", kString, kStringClass);
auto& error_class = *new Class("NSError", kError, {});
auto& url_class = *new Class("NSURL", {}, kUrlClass);
auto& array_class = *new Class("NSArray", {}, kArrayClass);
auto& process_info_class = *new Class("NSProcessInfo", kProcessInfo, kProcessInfoClass);

const Class& ProcessInfo::isa() const {
  return process_info_class;
}

}  // namespace

const Class& String::isa() const {
  return string_class;
}
const Class& Url::isa() const {
  return url_class;
}
const Class& Array::isa() const {
  return array_class;
}
const Class& ErrorObject::isa() const {
  return error_class;
}

const std::string& text_of(Object* string, const char* what) {
  const auto* const text = dynamic_cast<const String*>(string);
  if (!text) refuse_with("{}: the argument is no NSString", what);
  return text->text;
}

}  // namespace cupola::software_metal
