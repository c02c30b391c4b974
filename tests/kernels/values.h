#pragma once

// What the kernel tests computed, as text that can be kept and compared: the file that CUPOLA_TEST_VALUES names gets,
// behind what it has, a line for each series of values, which is all that one check of a case looked at:
//
//   case <tab> check <tab> type <tab> tolerance <tab> count <tab> values
//
// The check is its source text, the type what a value is and, of values that have a tolerance, what it is in: i32, f64
// in ulps, f32 around. Values that have to be equal are written in full up to kListed of them; of more, the first few
// and a hash of all (FNV-1a of 64 bits). Of values with a tolerance up to kSampled are written, evenly spaced; one
// whose tolerance is not the line's has its own behind a tilde. A case that the device cannot run has one line, `case
// <tab> (not here) <tab> why`. values.py compares such files.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

namespace check {

enum class Tolerance { Ulps, Absolute };

class Series {
 public:
  static constexpr size_t kListed = 8, kShown = 4, kSampled = 64;

  template <typename Text>
  void add(uint64_t bits, Text text) {
    for (int byte = 0; byte < 8; ++byte) hash_ = (hash_ ^ (bits >> 8 * byte & 0xff)) * 0x100000001b3ull;
    if (count_++ < kListed) first_.push_back(text());
  }
  void add_near(double value, double tolerance) {
    near_.push_back({value, tolerance});
    ++count_;
  }

  /// The tolerance, the count, the values.
  std::string text() const { return near_.empty() ? text_of_equal() : text_of_near(); }

  static std::string hexadecimal(double x) {
    char text[64];
    std::snprintf(text, sizeof text, "%a", x);
    return std::isnan(x) ? "nan" : text;  // a NaN's sign and payload are nobody's promise
  }

 private:
  struct Near {
    double value, tolerance;
  };

  std::string text_of_equal() const {
    std::string all = "equal\t" + std::to_string(count_) + '\t';
    const bool listed = count_ <= kListed;
    for (size_t i = 0; i < (listed ? count_ : kShown); ++i) all += (i ? " " : "") + first_[i];
    char hash[32];
    std::snprintf(hash, sizeof hash, " #%016llx", static_cast<unsigned long long>(hash_));
    return listed ? all : all + hash;
  }

  std::string text_of_near() const {
    char number[64];
    std::snprintf(number, sizeof number, "%.9g\t%zu\t", near_[0].tolerance, count_);
    std::string all = number;
    const size_t shown = count_ < kSampled ? count_ : kSampled;
    for (size_t i = 0; i < shown; ++i) {
      const Near& at = near_[shown == 1 ? 0 : i * (count_ - 1) / (shown - 1)];
      all += (i ? " " : "") + hexadecimal(at.value);
      std::snprintf(number, sizeof number, "~%.9g", at.tolerance);
      if (at.tolerance != near_[0].tolerance) all += number;
    }
    return all;
  }

  size_t count_ = 0;
  uint64_t hash_ = 0xcbf29ce484222325ull;
  std::vector<std::string> first_;
  std::vector<Near> near_;
};

/// The series of the case that runs, in the order of their first values.
class Values {
 public:
  static Values& of_the_case() {
    static Values values;
    return values;
  }

  bool wanted() const { return file_ != nullptr && unrecorded_ == 0; }
  void change_unrecorded(int by) { unrecorded_ += by; }
  void not_here(const char* why) { why_not_here_ = why; }

  Series& series(const char* check, const std::string& type) {
    const auto [at, added] = places_.try_emplace({check, type}, all_.size());
    if (added) all_.push_back({std::string(check) + '\t' + type, {}});
    return all_[at->second].series;
  }

  /// Writes what the case had, and begins the next one.
  void write(const char* name) {
    if (file_ != nullptr) {
      std::FILE* file = std::fopen(file_, "a");
      if (file == nullptr) std::perror(file_), std::exit(2);
      for (const Named& each : all_)
        std::fprintf(file, "%s\t%s\t%s\n", name, each.name.c_str(), each.series.text().c_str());
      if (why_not_here_ != nullptr) std::fprintf(file, "%s\t(not here)\t%s\n", name, why_not_here_);
      std::fclose(file);
    }
    why_not_here_ = nullptr;
    all_.clear();
    places_.clear();
  }

 private:
  struct Named {
    std::string name;  ///< the check and the type
    Series series;
  };
  const char* const file_ = std::getenv("CUPOLA_TEST_VALUES");
  int unrecorded_ = 0;  ///< how many Unrecorded there are
  const char* why_not_here_ = nullptr;
  std::map<std::pair<std::string, std::string>, size_t> places_;
  std::vector<Named> all_;
};

/// While one lives, what checks look at is not recorded: values that hang on the order of threads, on the device, or on
/// the host. It says which.
class Unrecorded {
 public:
  explicit Unrecorded(const char* /*why*/) { Values::of_the_case().change_unrecorded(1); }
  ~Unrecorded() { Values::of_the_case().change_unrecorded(-1); }
  Unrecorded(const Unrecorded&) = delete;
  Unrecorded& operator=(const Unrecorded&) = delete;
};

/// Integers, enumerations, floating point and strings; of anything else nothing is recorded.
template <typename T>
void record(const char* check, const T& value) {
  Values& values = Values::of_the_case();
  if (!values.wanted()) return;
  if constexpr (std::is_enum_v<T>) {
    record(check, static_cast<std::underlying_type_t<T>>(value));
  } else if constexpr (std::is_integral_v<T>) {
    const std::string type = (std::is_signed_v<T> ? "i" : "u") + std::to_string(8 * sizeof(T));
    values.series(check, type).add(static_cast<uint64_t>(value), [&] {
      if constexpr (std::is_signed_v<T>)
        return std::to_string(static_cast<int64_t>(value));
      else
        return std::to_string(static_cast<uint64_t>(value));
    });
  } else if constexpr (std::is_floating_point_v<T>) {
    const auto wide = static_cast<double>(value);
    uint64_t bits = 0;
    std::memcpy(&bits, &wide, sizeof bits);
    if (std::isnan(wide)) bits = 0x7ff8000000000000ull;
    values.series(check, sizeof(T) == 4 ? "f32" : "f64").add(bits, [&] { return Series::hexadecimal(wide); });
  } else if constexpr (std::is_same_v<T, std::string>) {
    Series& series = values.series(check, "text");
    for (const char letter : value)
      series.add(static_cast<unsigned char>(letter), [&] { return std::to_string(static_cast<int>(letter)); });
  }
}

/// A value that may be so far from another's. `type` is f64, f32, f16 or bf16: whose ulps they are.
inline void record_near(const char* check, const char* type, double value, Tolerance kind, double tolerance) {
  Values& values = Values::of_the_case();
  if (!values.wanted()) return;
  const char* const in = kind == Tolerance::Ulps ? " in ulps" : " around";
  values.series(check, std::string(type) + in).add_near(value, tolerance);
}

/// For a case that returns at once since the device cannot run it.
inline void not_here(const char* why) {
  Values::of_the_case().not_here(why);
}

}  // namespace check
