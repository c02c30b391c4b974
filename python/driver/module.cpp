// cupola._driver: the driver API for the package's Python code, which checks shapes and types before it calls here.

#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "kernel.h"
#include "objects.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace cupola::python;

namespace {

using Unlocked = nb::call_guard<nb::gil_scoped_release>;

/// DriverError becomes cupola.CudaError, which has the code; NoDriver becomes ImportError.
void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const DriverError& error) {
    const nb::object type = nb::module_::import_("cupola._errors").attr("CudaError");
    const nb::object made = type(error.message, static_cast<int>(error.code), error.name);
    PyErr_SetObject(type.ptr(), made.ptr());
  } catch (const NoDriver& error) {
    PyErr_SetString(PyExc_ImportError, error.message.c_str());
  }
}

int device_attribute(int device, int number) {
  int value = 0;
  CU(cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(number), device));
  return value;
}

std::string device_name(int device) {
  char name[256] = {};
  CU(cuDeviceGetName(name, sizeof name, device));
  return name;
}

template <typename Value, typename Call>
Value answer(const Call& call) {
  Value value{};
  call(&value);
  return value;
}

void bind_devices(nb::module_& m) {
  m.def("set_library", &set_library, "path"_a);
  m.def("driver_version", [] { return answer<int>([](int* value) { CU(cuDriverGetVersion(value)); }); });
  m.def("device_count", [] { return answer<int>([](int* value) { CU(cuDeviceGetCount(value)); }); });
  m.def("device_name", &device_name, "device"_a);
  m.def(
      "device_memory",
      [](int device) { return answer<size_t>([&](size_t* bytes) { CU(cuDeviceTotalMem(bytes, device)); }); },
      "device"_a);
  m.def("device_attribute", &device_attribute, "device"_a, "number"_a);
  m.def("use_device", &use_device, "device"_a);
  m.def("reset_device", &reset_device, "device"_a, Unlocked());
  m.def("memory_info", [] {
    use_context();
    size_t free = 0, total = 0;
    CU(cuMemGetInfo(&free, &total));
    return std::tuple(free, total);
  });
  m.def("resets", &resets, "device"_a);
  m.def("context", [] {
    const Lifetime context = use_context();
    return std::tuple(context.device, context.of_reset);
  });
  m.def(
      "synchronize",
      [] {
        use_context();
        CU(cuCtxSynchronize());
      },
      Unlocked());
}

void bind_memory(nb::module_& m) {
  nb::class_<Memory>(m, "Memory")
      .def_static("on_device", &Memory::on_device, "bytes"_a, Unlocked(), nb::rv_policy::take_ownership)
      .def_static("on_host", &Memory::on_host, "bytes"_a, Unlocked(), nb::rv_policy::take_ownership)
      .def_prop_ro("address", &Memory::address)
      .def_prop_ro("bytes", &Memory::bytes)
      .def("free", &Memory::free, Unlocked());
  m.def("copy", &copy, "to"_a, "source"_a, "bytes"_a, "stream"_a = nb::none(), Unlocked());
  m.def("fill", &fill, "to"_a, "value"_a, "bytes"_a, "stream"_a = 0, Unlocked());
}

void bind_streams(nb::module_& m) {
  nb::class_<Event>(m, "Event")
      .def(nb::init<bool>(), "timing"_a = true)
      .def_prop_ro("handle", &Event::handle)
      .def("record", &Event::record, "stream"_a = 0)
      .def("synchronize", &Event::synchronize, Unlocked())
      .def("done", &Event::done)
      .def("since", &Event::since, "begin"_a);
  nb::class_<Stream>(m, "Stream")
      .def(nb::init<bool, int>(), "blocking"_a = false, "priority"_a = 0)
      .def_static(
          "of_handle", [](uint64_t handle) { return new Stream(handle); }, "handle"_a, nb::rv_policy::take_ownership)
      .def_prop_ro("handle", &Stream::handle)
      .def("synchronize", &Stream::synchronize, Unlocked())
      .def("done", &Stream::done)
      .def("wait", &Stream::wait, "event"_a);
}

void bind_code(nb::module_& m) {
  nb::enum_<Kind>(m, "Kind")
      .value("Pointer", Kind::Pointer)
      .value("Boolean", Kind::Boolean)
      .value("Signed", Kind::Signed)
      .value("Unsigned", Kind::Unsigned)
      .value("Float", Kind::Float)
      .value("Bytes", Kind::Bytes);
  nb::class_<Parameter>(m, "Parameter")
      .def(
          "__init__",
          [](Parameter* self, Kind kind, size_t bytes, std::string label) {
            new (self) Parameter{kind, bytes, std::move(label)};
          },
          "kind"_a, "bytes"_a, "label"_a);
  nb::class_<Module>(m, "Module")
      .def(
          "__init__",
          [](Module* self, nb::bytes image) {
            const std::string text(image.c_str(), image.size());
            const nb::gil_scoped_release unlocked;  // a compiler may work for it
            new (self) Module(text);
          },
          "image"_a)
      .def("variable", &Module::variable, "name"_a);
  nb::class_<Kernel>(m, "Kernel")
      .def(nb::init<std::shared_ptr<Module>, const std::string&, std::vector<Parameter>>(), "module"_a, "name"_a,
           "parameters"_a)
      .def("launch", &Kernel::launch, "grid"_a, "block"_a, "stream"_a, "shared_bytes"_a, "arguments"_a)
      .def("attribute", &Kernel::attribute, "number"_a);
}

}  // namespace

NB_MODULE(_driver, m) {
  nb::register_exception_translator(translate);
  bind_devices(m);
  bind_memory(m);
  bind_streams(m);
  bind_code(m);
}
