#pragma once

#include "hal/command.h"

namespace cupola::hal {

/// Executes one command on the calling thread. An error becomes the device's fault. One overload a kind of command, so
/// that a new kind does not compile until it is handled.
Result<> run_command(const Launch& launch);
Result<> run_command(const Copy& copy);
Result<> run_command(const Fill& fill);
Result<> run_command(const HostCall& call);
Result<> run_command(const Wait& wait);
Result<> run_command(const Signal& signal);
Result<> run_command(const Timestamp& timestamp);

}  // namespace cupola::hal
