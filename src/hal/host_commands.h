#pragma once

#include "hal/command.h"
#include "hal/host_domain.h"

namespace cupola::hal {

/// Executes one command of a queue of `domain` on the calling thread, whose memory the device shares; HostQueue has
/// launches. An error becomes the domain's fault. One overload a kind of command, so that a new kind does not compile
/// until it is handled.
Result<> run_command(const Copy& copy, HostDomain& domain);
Result<> run_command(const Fill& fill, HostDomain& domain);
Result<> run_command(const HostCall& call, HostDomain& domain);
Result<> run_command(const Callback& callback, HostDomain& domain);
Result<> run_command(const Wait& wait, HostDomain& domain);
Result<> run_command(const Signal& signal, HostDomain& domain);
Result<> run_command(const Timestamp& timestamp, HostDomain& domain);

}  // namespace cupola::hal
