#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "hal/device.h"

// The conformance suite of hal: one set of tests that every back-end registers for and must pass.
//
// A back-end's test file holds
//
//   const bool registered = cts::register_backend({.name = "cpu", .make = make_cpu_device, ...});
//
// and links this library. A test that the back-end cannot pass is named with its reason, and is reported as skipped.

namespace cupola::hal::cts {

struct Backend {
  std::string name;
  std::function<std::unique_ptr<Device>()> make;

  /// The kernels of test_kernels.h for the device. Empty function: launch tests are skipped, for this reason.
  std::function<std::shared_ptr<Executable>(Device&)> make_kernels;
  std::string no_kernels_reason;

  /// "Suite.Test" to why this back-end does not support it.
  std::map<std::string, std::string> unsupported;
};

/// Adds every test of the suite for the back-end, as "name/Suite.Test". Called before main, by a static initialiser.
bool register_backend(Backend backend);

}  // namespace cupola::hal::cts
