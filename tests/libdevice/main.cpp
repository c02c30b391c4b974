// libdevice-test LIBDEVICE [--points N] [--stride N] [--seed N] [--part K/N] [--own | --ptx] [--ftz] [--errors FILE]
// [NAME...]: every function of libdevice (or those named), as NVVM IR that calls it, linked with the bitcode as
// shipped, loaded by cuModuleLoadData and run on the device. Checks each row of src/device/libdevice.def: values that
// have one right answer against that, others against the row's bound. With --stride N, functions of one float take
// every Nth of all floats too. --part takes every Nth function from the Kth on. --own leaves the functions to the
// driver's device library, which has some of the C library and is held to CUDA's bounds; --ptx makes PTX first, whose
// fast functions are a GPU's and are held to CUDA's bounds; --ftz
// checks instead what programs get that flush denormals. --errors writes the greatest errors.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "arguments.h"
#include "base/format.h"
#include "device.h"
#include "exact.h"
#include "image.h"

namespace {

using namespace cupola;
using namespace cupola::libdevicetest;

struct Options {
  std::string libdevice, errors;
  unsigned points = 20000;
  uint64_t stride = 0, seed = 1;
  Way way = Way::libdevice;
  bool flushes = false;
  size_t part = 0, parts = 1;
  std::vector<std::string_view> names;
};

std::string words_of(const Row& row, std::span<const Slot> inputs) {
  std::string text;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const char letter = i < row.arguments().size() ? row.arguments()[i] : 'q';
    char word[64];
    if (letter == 'f' || letter == 'd')
      std::snprintf(word, sizeof word, "%a", number_of(letter, inputs[i]));
    else
      std::snprintf(word, sizeof word, "%#llx", static_cast<unsigned long long>(inputs[i]));
    text += formatted("{}{}", i ? ", " : "", word);
  }
  return text;
}

/// What a row's calls came to.
struct Outcome {
  uint64_t calls = 0, wrong = 0;
  double ulps = 0, absolute = 0;  ///< the greatest, where bounds are ulps, and where they are absolute
  std::string worst, first_wrong;
};

bool bound_is_absolute(const Row& row, std::span<const Slot> inputs) {
  switch (row.where) {
    case Where::nowhere:
      return false;
    case Where::everywhere:
      return true;
    case Where::from8:
      return std::fabs(number_of(row.arguments()[0], inputs[0])) >= 8;
    case Where::poles: {
      const double x = number_of(row.arguments()[0], inputs[0]);
      return x < -2 && x > -24;
    }
  }
  return false;
}

/// What a row's results are held to.
struct Bound {
  double ulps;
  bool as_documented = false;  ///< of a fast function: what CUDA documents is enough
};

/// In ulps from the exact value. What CUDA publishes is from the rounded one.
Bound bound_of(const Row& row, Way way) {
  const double ulps = way == Way::own && row.cuda != none ? std::max(row.cuda + 0.5, row.ulps) : row.ulps;
  return {.ulps = ulps, .as_documented = way == Way::ptx};
}

/// What CUDA documents of a function for which PTX has a GPU's instruction ("CUDA C++ Programming Guide, Intrinsic
/// Functions"): ulp and floor(|ulp_a_unit x|) more, or for x in [0.5, 2] an absolute error of 2^-bits.
struct Documented {
  std::string_view oracle;
  double ulp, ulp_a_unit, bits;
};
constexpr Documented kDocumented[] = {
    {"exp", 2, 1.173, 0}, {"exp10", 2, 2.97, 0}, {"log", 3, 0, 21.41}, {"log2", 2, 0, 22}, {"log10", 3, 0, 24},
};

bool is_as_documented(const Row& row, std::span<const Slot> inputs, const Distance& from) {
  const auto known = std::ranges::find(kDocumented, row.oracle, &Documented::oracle);
  if (row.family != Family::Fast || known == std::end(kDocumented)) return false;
  const double x = number_of('f', inputs[0]);
  if (known->bits && x >= 0.5 && x <= 2) return from.absolute <= std::exp2(-known->bits);
  return from.ulps <= known->ulp + std::floor(std::fabs(known->ulp_a_unit * x));
}

/// "CUDA Math API, __fdividef": for a divisor between 2^126 and 2^128 the quotient is 0, and of infinity NaN. PTX's
/// instruction does so, and what is better is right too.
bool is_documented_loss(const Row& row, std::span<const Slot> inputs, Slot output) {
  if (row.oracle != "fast_fdividef") return false;
  const double x = number_of('f', inputs[0]), y = std::fabs(number_of('f', inputs[1])), result = number_of('f', output);
  return y > 0x1p126 && std::isfinite(y) && (std::isfinite(x) ? result == 0 : std::isnan(result));
}

void check_one(const Row& row, const Bound& bound, std::span<const Slot> inputs, std::span<const Slot> outputs,
               Outcome& outcome) {
  ++outcome.calls;
  for (size_t place = 0; place < outputs.size(); ++place) {
    const char letter = output_letters(row)[place];
    bool good = false;
    if (row.family == Family::Fast || row.family == Family::Ulps) {
      bool known = false;
      const Distance from = distance(row, inputs, outputs, place, known);
      if (is_documented_loss(row, inputs, outputs[place])) {
        good = true;
      } else if (bound_is_absolute(row, inputs) && from.absolute <= row.absolute) {
        outcome.absolute = std::max(outcome.absolute, from.absolute);
        good = true;
      } else {
        if (from.ulps > outcome.ulps) outcome.ulps = from.ulps, outcome.worst = words_of(row, inputs);
        good = known && (from.ulps <= bound.ulps || (bound.as_documented && is_as_documented(row, inputs, from)));
      }
    } else {
      Slot want = 0;
      good = right_answer(row, inputs, place, want) && agrees(row, inputs, place, outputs[place], want);
      if (!good && outcome.wrong == 0) outcome.first_wrong = formatted("want {:#x}, ", want);
    }
    if (good || outcome.wrong++) continue;
    outcome.first_wrong += formatted("{}({}) gives {:#x}", row.name, words_of(row, inputs), outputs[place]);
    if (letter == 'f' || letter == 'd') {
      char number[64];
      std::snprintf(number, sizeof number, " = %a", number_of(letter, outputs[place]));
      outcome.first_wrong += number;
    }
  }
}

bool check(Device& device, const Row& row, const Bound& bound, std::span<const Slot> inputs, Outcome& outcome) {
  std::vector<Slot> outputs;
  if (!device.run(row, inputs, outputs)) return false;
  const size_t in = input_slots(row), out = output_slots(row);
  for (size_t i = 0; i * in < inputs.size(); ++i)
    check_one(row, bound, inputs.subspan(i * in, in), std::span(outputs).subspan(i * out, out), outcome);
  return true;
}

/// Every Nth float, in parts.
bool check_floats(Device& device, const Row& row, const Bound& bound, uint64_t stride, Outcome& outcome) {
  constexpr uint64_t kAll = 1ull << 32, kPart = 1 << 20;
  std::vector<Slot> inputs;
  for (uint64_t bits = 0; bits < kAll;) {
    inputs.clear();
    for (; bits < kAll && inputs.size() < kPart; bits += stride) inputs.push_back(bits);
    if (!check(device, row, bound, inputs, outcome)) return false;
  }
  return true;
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// A denormal float as a zero of its sign.
Slot flushed(char letter, Slot slot) {
  return letter == 'f' && (slot & 0x7f800000u) == 0 ? slot & 0x80000000u : slot;
}

/// Whether the program that flushes gets what the other gets from flushed inputs, flushed. Oracle: "libdevice User's
/// Guide, Reflection Parameters": __CUDA_FTZ flushes denormals of single precision.
bool flushes_at_the_ends(const Row& row, std::span<const Slot> inputs, std::span<const Slot> plain,
                         std::span<const Slot> outputs, Outcome& outcome) {
  const std::string letters = output_letters(row);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const char letter = letters[i % letters.size()];
    ++outcome.calls;
    const Slot want = flushed(letter, plain[i]);
    if (outputs[i] == want ||
        (letter == 'f' && std::isnan(number_of('f', outputs[i])) && std::isnan(number_of('f', want))))
      continue;
    const size_t in = input_slots(row), call = i / letters.size();
    if (outcome.wrong++ == 0)
      outcome.first_wrong = formatted("{}({}) gives {:#x} where denormals are flushed, want {:#x}", row.name,
                                      words_of(row, inputs.subspan(call * in, in)), outputs[i], want);
  }
  return outcome.wrong == 0;
}

bool check_flushing(Device& device, const Row& row, const std::string& plain_image, const std::string& image,
                    std::vector<Slot> inputs, Outcome& outcome) {
  std::vector<Slot> plain, outputs;
  if (!device.load(image) || !device.run(row, inputs, outputs)) return false;
  for (size_t i = 0; i < inputs.size(); ++i) inputs[i] = flushed(row.arguments()[i % input_slots(row)], inputs[i]);
  if (!device.load(plain_image) || !device.run(row, inputs, plain)) return false;
  flushes_at_the_ends(row, inputs, plain, outputs, outcome);
  return true;
}

struct Totals {
  uint64_t calls = 0;
  unsigned rows = 0, failed = 0;
};

void report(const Row& row, const Outcome& outcome, std::FILE* errors, Totals& totals) {
  ++totals.rows;
  totals.calls += outcome.calls;
  if (errors)
    std::fprintf(errors, "%s\t%.4g\t%.3g\t%s\n", std::string(row.name).c_str(), outcome.ulps, outcome.absolute,
                 outcome.worst.c_str());
  if (!outcome.wrong) return;
  ++totals.failed;
  std::printf("%s: %llu of %llu wrong, %.4g ulp at most at (%s); %s\n", std::string(row.name).c_str(),
              static_cast<unsigned long long>(outcome.wrong), static_cast<unsigned long long>(outcome.calls),
              outcome.ulps, outcome.worst.c_str(), outcome.first_wrong.c_str());
}

/// Whether -ftz=true changes what the function does: not for bits, and arrays are read by their type.
bool can_flush(const Row& row) {
  return row.single() && row.family != Family::Bits && row.signature.find('p') == std::string_view::npos;
}

/// Functions for which MPFR takes long have fewer random points.
unsigned points_of(const Row& row, unsigned points) {
  constexpr std::string_view kSlow[] = {"lgamma", "normcdf", "normcdfinv", "erfcinv", "erfinv", "jn",
                                        "yn",     "y0",      "y1",         "j0",      "j1",     "tgamma"};
  return std::ranges::find(kSlow, row.oracle) == std::end(kSlow) ? points : points / 4;
}

/// The row's calls. Error: what kept them from running.
Result<Outcome> outcome_of(Device& device, const Row& row, const Options& options, const std::string& libdevice) {
  const Row* const pointer = &row;
  TRY(const std::string image, image_of({&pointer, 1}, options.way, libdevice, false));
  Outcome outcome;
  const std::vector<Slot> inputs = arguments_of(row, points_of(row, options.points), options.seed);
  bool done = false;
  if (options.flushes) {
    TRY(const std::string flushing, image_of({&pointer, 1}, options.way, libdevice, true));
    done = check_flushing(device, row, image, flushing, inputs, outcome);
  } else {
    const Bound bound = bound_of(row, options.way);
    done = device.load(image) && check(device, row, bound, inputs, outcome) &&
           (!options.stride || row.arguments() != "f" || check_floats(device, row, bound, options.stride, outcome));
  }
  if (!done) return fail(ErrorCode::InvalidImage, "{}", device.error);
  return outcome;
}

int run(const Options& options) {
  Device device;
  const std::string libdevice = read_text(options.libdevice);
  if (libdevice.empty() || !device.open()) {
    std::printf("libdevice-test: %s: %s\n", options.libdevice.c_str(), device.error.c_str());
    return 1;
  }
  std::FILE* errors = options.errors.empty() ? nullptr : std::fopen(options.errors.c_str(), "w");
  Totals totals;
  for (size_t i = options.part; i < rows().size(); i += options.parts) {
    const Row& row = rows()[i];
    if (!options.names.empty() && std::ranges::find(options.names, row.name) == options.names.end()) continue;
    if (options.flushes && !can_flush(row)) continue;
    const Result<Outcome> outcome = outcome_of(device, row, options, libdevice);
    if (outcome) {
      report(row, *outcome, errors, totals);
      continue;
    }
    std::printf("%s: %s\n", std::string(row.name).c_str(), outcome.error().message.c_str());
    ++totals.failed;
  }
  if (errors) std::fclose(errors);
  std::printf("libdevice-test: %u functions, %llu calls: %u functions failed\n", totals.rows,
              static_cast<unsigned long long>(totals.calls), totals.failed);
  return totals.failed || !totals.rows ? 1 : 0;
}

}  // namespace

int main(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = arguments[i];
    const bool more = i + 1 < count;
    if (word == "--points" && more)
      options.points = static_cast<unsigned>(std::atoi(arguments[++i]));
    else if (word == "--stride" && more)
      options.stride = static_cast<uint64_t>(std::atoll(arguments[++i]));
    else if (word == "--seed" && more)
      options.seed = static_cast<uint64_t>(std::atoll(arguments[++i]));
    else if (word == "--part" && more)
      std::sscanf(arguments[++i], "%zu/%zu", &options.part, &options.parts);
    else if (word == "--own")
      options.way = Way::own;
    else if (word == "--ptx")
      options.way = Way::ptx;
    else if (word == "--ftz")
      options.flushes = true;
    else if (word == "--errors" && more)
      options.errors = arguments[++i];
    else if (options.libdevice.empty())
      options.libdevice = word;
    else
      options.names.push_back(word);
  }
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
  return run(options);
}
