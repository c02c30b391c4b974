#include "runtime/transfer.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "runtime/memory.h"
#include "runtime/runtime.h"

// Oracle: the order of a stream, and that module data which a waiting command touches is not let go before it ran.

namespace cupola::runtime {
namespace {

TEST(Transfer, KeepsTheModuleDataThatItTouches) {
  setenv("CUPOLA_DEVICE", "null", 0);
  ASSERT_TRUE(Runtime::initialise());
  Runtime& runtime = Runtime::get();
  Context context(*runtime.devices()[0], false);
  const auto stream = context.legacy_stream().value();

  auto data = std::make_shared<std::array<uint32_t, 4>>(std::array<uint32_t, 4>{1, 2, 3, 4});
  const std::weak_ptr<std::array<uint32_t, 4>> watch = data;
  const auto address = reinterpret_cast<hal::Address>(data->data());
  MemoryRange range{address, sizeof *data, MemoryKind::ModuleData, &context};
  range.owner = std::move(data);
  ASSERT_TRUE(runtime.addresses.add(range));
  range.owner.reset();
  alignas(8) static uint32_t copied[4] = {};
  const auto to = reinterpret_cast<hal::Address>(copied);
  ASSERT_TRUE(runtime.addresses.add({to, sizeof copied, MemoryKind::Registered, &context}));

  std::atomic<bool> open{false};
  stream->submit(hal::HostCall{[&] {
    while (!open) std::this_thread::yield();
  }});
  ASSERT_TRUE(copy(*stream, {.destination = to, .source = address, .width = 16}, End::Host, End::Device, true));
  ASSERT_TRUE(fill(*stream, {.destination = address, .value = 7, .value_bytes = 4, .width = 4}, true));
  const auto is_module_data = [](const MemoryRange& found) { return found.kind == MemoryKind::ModuleData; };
  ASSERT_TRUE(runtime.addresses.take(address, is_module_data));  // as unloading the module does
  EXPECT_FALSE(watch.expired());
  open = true;
  ASSERT_TRUE(context.synchronize());
  EXPECT_EQ(copied[3], 4u);
  while (!watch.expired()) std::this_thread::yield();  // soon after
  ASSERT_TRUE(unregister_host(copied));
}

}  // namespace
}  // namespace cupola::runtime
