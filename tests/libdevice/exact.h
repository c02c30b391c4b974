#pragma once

#include <mpfr.h>

#include <span>

#include "rows.h"

namespace cupola::libdevicetest {

/// A number of MPFR's.
class Number {
 public:
  explicit Number(mpfr_prec_t precision = 160) { mpfr_init2(value_, precision); }
  explicit Number(double value) : Number() { mpfr_set_d(value_, value, MPFR_RNDN); }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  ~Number() { mpfr_clear(value_); }
  operator mpfr_ptr() { return value_; }
  operator mpfr_srcptr() const { return value_; }
  mpfr_srcptr operator->() const { return value_; }  ///< for MPFR's macros

 private:
  mpfr_t value_;
};

/// The value of a slot of type f or d.
double number_of(char letter, Slot slot);
/// The slot of a value.
Slot slot_of(char letter, double value);

/// How far a result is from what it should be.
struct Distance {
  double ulps = 0;      ///< of the exact value; 0 for what is right by definition, infinite where it is wrong by it
  double absolute = 0;  ///< of finite values
};

/// Of families Ulps and Fast: the distance of output `place` from the exact value. The oracle is GNU MPFR, whose
/// functions are correctly rounded, at 160 bits; what MPFR lacks is made of what it has. For inverses of functions the
/// result itself, improved, is the exact value: the function of it is MPFR's.
/// `known` is false for a row whose oracle is not there.
Distance distance(const Row& row, std::span<const Slot> inputs, std::span<const Slot> outputs, size_t place,
                  bool& known);

/// Of the other families: the one right answer for output `place`. False where there is no oracle.
bool right_answer(const Row& row, std::span<const Slot> inputs, size_t place, Slot& answer);
/// Whether an answer is that one. All NaNs are one but where bits are what is asked for.
bool agrees(const Row& row, std::span<const Slot> inputs, size_t place, Slot got, Slot want);

}  // namespace cupola::libdevicetest
