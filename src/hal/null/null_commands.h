#pragma once

#include "hal/command.h"
#include "hal/null/null_domain.h"

namespace cupola::hal {

/// Executes one command of a queue of `domain` on the calling thread. An error becomes the domain's fault. One overload
/// a kind of command, so that a new kind does not compile until it is handled.
Result<> run_command(const Launch& launch, NullDomain& domain);
Result<> run_command(const Copy& copy, NullDomain& domain);
Result<> run_command(const Fill& fill, NullDomain& domain);
Result<> run_command(const HostCall& call, NullDomain& domain);
Result<> run_command(const Callback& callback, NullDomain& domain);
Result<> run_command(const Wait& wait, NullDomain& domain);
Result<> run_command(const Signal& signal, NullDomain& domain);
Result<> run_command(const Timestamp& timestamp, NullDomain& domain);

}  // namespace cupola::hal
