#pragma once

namespace cupola::driver {

/// Writes a line to standard error for each other libcuda that the process has loaded by now: the program's calls may
/// go to either. Once a process; nothing where CUPOLA_LOG is "none".
void warn_of_other_drivers();

}  // namespace cupola::driver
