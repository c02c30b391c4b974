#include "kernel.h"

#include <cmath>
#include <cstring>

namespace nb = nanobind;

namespace cupola::python {
namespace {

[[noreturn]] void does_not_fit(const Parameter& parameter, nb::handle value, const char* wanted, PyObject* type) {
  nb::object text = nb::steal(PyObject_Repr(value.ptr()));
  PyErr_Format(type, "argument %s: %U does not fit: %s", parameter.label.c_str(), text.ptr(), wanted);
  throw nb::python_error();
}

/// Python's int, or what says that it is one (NumPy's integers); nothing else, so that no fraction is lost unseen.
nb::object index_of(const Parameter& parameter, nb::handle value) {
  nb::object index = nb::steal(PyNumber_Index(value.ptr()));
  if (index.is_valid()) return index;
  PyErr_Clear();
  does_not_fit(parameter, value, "an integer is needed", PyExc_TypeError);
}

void pack_signed(const Parameter& parameter, nb::handle value, std::byte* to) {
  const nb::object index = index_of(parameter, value);
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  const int unused_bits = 64 - 8 * static_cast<int>(parameter.bytes);
  if (overflow ||
      number != static_cast<long long>(static_cast<unsigned long long>(number) << unused_bits) >> unused_bits)
    does_not_fit(parameter, value, "it is out of the type's range", PyExc_OverflowError);
  std::memcpy(to, &number, parameter.bytes);  // little-endian
}

void pack_unsigned(const Parameter& parameter, nb::handle value, std::byte* to) {
  const nb::object index = index_of(parameter, value);
  const unsigned long long number = PyLong_AsUnsignedLongLong(index.ptr());
  const bool failed = PyErr_Occurred();
  PyErr_Clear();
  if (failed || (parameter.bytes < 8 && number >> (8 * parameter.bytes)))
    does_not_fit(parameter, value, "it is out of the type's range", PyExc_OverflowError);
  std::memcpy(to, &number, parameter.bytes);
}

void pack_float(const Parameter& parameter, nb::handle value, std::byte* to) {
  const double number = PyFloat_AsDouble(value.ptr());
  if (PyErr_Occurred()) {
    PyErr_Clear();
    does_not_fit(parameter, value, "a number is needed", PyExc_TypeError);
  }
  if (parameter.bytes == sizeof number) {
    std::memcpy(to, &number, sizeof number);
    return;
  }
  const auto narrow = static_cast<float>(number);
  if (std::isinf(narrow) && !std::isinf(number))
    does_not_fit(parameter, value, "it is out of the type's range", PyExc_OverflowError);
  std::memcpy(to, &narrow, sizeof narrow);
}

void pack_bytes(const Parameter& parameter, nb::handle value, std::byte* to) {
  if (!nb::isinstance<nb::bytes>(value))
    does_not_fit(parameter, value, "a value of that type is needed", PyExc_TypeError);
  const auto bytes = nb::borrow<nb::bytes>(value);
  if (bytes.size() != parameter.bytes) {
    PyErr_Format(PyExc_TypeError, "argument %s: it has %zu bytes, the value has %zu", parameter.label.c_str(),
                 parameter.bytes, bytes.size());
    throw nb::python_error();
  }
  std::memcpy(to, bytes.data(), bytes.size());
}

void pack(const Parameter& parameter, nb::handle value, std::byte* to) {
  switch (parameter.kind) {
    case Kind::Pointer:
    case Kind::Unsigned:
      return pack_unsigned(parameter, value, to);
    case Kind::Signed:
      return pack_signed(parameter, value, to);
    case Kind::Float:
      return pack_float(parameter, value, to);
    case Kind::Bytes:
      return pack_bytes(parameter, value, to);
    case Kind::Boolean: {
      const int truth = PyObject_IsTrue(value.ptr());
      if (truth < 0) throw nb::python_error();
      *to = static_cast<std::byte>(truth);
    }
  }
}

}  // namespace

Kernel::Kernel(std::shared_ptr<Module> module, const std::string& name, std::vector<Parameter> parameters)
    : module_(std::move(module)), function_(module_->function(name)), parameters_(std::move(parameters)) {
  constexpr size_t kAlignment = alignof(std::max_align_t);
  for (const Parameter& parameter : parameters_) {
    offsets_.push_back(packed_bytes_);
    packed_bytes_ += (parameter.bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
}

void Kernel::launch(const Shape& grid, const Shape& block, uint64_t stream, unsigned shared_bytes,
                    nb::sequence arguments) {
  std::vector<std::byte> values(packed_bytes_);
  std::vector<void*> addresses;
  addresses.reserve(parameters_.size());
  for (const nb::handle argument : arguments) {
    const size_t at = addresses.size();
    if (at == parameters_.size()) throw nb::type_error("more arguments than the kernel has parameters");
    pack(parameters_[at], argument, values.data() + offsets_[at]);
    addresses.push_back(values.data() + offsets_[at]);
  }
  if (addresses.size() != parameters_.size()) throw nb::type_error("fewer arguments than the kernel has parameters");
  const nb::gil_scoped_release unlocked;
  use_context();
  allow_shared(shared_bytes);
  CU(cuLaunchKernel(function_, grid[0], grid[1], grid[2], block[0], block[1], block[2], shared_bytes,
                    reinterpret_cast<CUstream>(stream), addresses.data(), nullptr));
}

void Kernel::allow_shared(unsigned bytes) {
  if (bytes <= allowed_shared_bytes_) return;
  const std::lock_guard lock(raising_);
  if (bytes <= allowed_shared_bytes_) return;
  CU(cuFuncSetAttribute(function_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(bytes)));
  allowed_shared_bytes_ = bytes;
}

int Kernel::attribute(int number) const {
  int value = 0;
  CU(cuFuncGetAttribute(&value, static_cast<CUfunction_attribute>(number), function_));
  return value;
}

}  // namespace cupola::python
