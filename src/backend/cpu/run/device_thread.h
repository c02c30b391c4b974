#pragma once

#include <functional>
#include <string>
#include <thread>

#include "base/result.h"

namespace cupola::cpu {

/// A thread of the device: it has a name, and all signals but the synchronous ones blocked, so that the program's
/// handlers run on the program's threads. Error: OperatingSystem when the system gives none.
Result<std::thread> start_device_thread(const std::string& name, std::function<void()> body);

/// Whether the calling thread is one: it waits for no queue.
bool is_device_thread();

/// Others go first where there is too little of the processor, but do not keep all of it from this thread.
void lower_priority_of_this_thread();

}  // namespace cupola::cpu
