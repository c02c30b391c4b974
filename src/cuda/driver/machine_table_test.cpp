// What libcuda tells libnvidia-ml. Oracle: the public driver API, which says the same of the same device.

#include "cuda/machine_table.h"

#include <unistd.h>

#include <cstring>

#include "cuda/driver/with_context.h"

namespace cupola::driver {
namespace {

const MachineTable* machine_table() {
  CUuuid id;
  std::memcpy(id.bytes, kMachineTableId, sizeof id.bytes);
  const void* table = nullptr;
  EXPECT_EQ(cuGetExportTable(&table, &id), CUDA_SUCCESS);
  return static_cast<const MachineTable*>(table);
}

using MachineTableTest = WithContext;

TEST_F(MachineTableTest, SaysWhatThePublicCallsSay) {
  const MachineTable* const machine = machine_table();
  ASSERT_NE(machine, nullptr);
  EXPECT_EQ(machine->size, sizeof(MachineTable));
  size_t count = 0;
  ASSERT_EQ(machine->count(&count), 0);
  EXPECT_EQ(count, 1u);
  const MachineFacts facts = machine->facts(0);
  char name[256], bus_id[32];
  size_t bytes = 0;
  CUuuid uuid;
  ASSERT_EQ(cuDeviceGetName(name, sizeof name, device_), CUDA_SUCCESS);
  ASSERT_EQ(cuDeviceGetPCIBusId(bus_id, sizeof bus_id, device_), CUDA_SUCCESS);
  ASSERT_EQ(cuDeviceTotalMem(&bytes, device_), CUDA_SUCCESS);
  ASSERT_EQ(cuDeviceGetUuid(&uuid, device_), CUDA_SUCCESS);
  EXPECT_STREQ(facts.name, name);
  EXPECT_STREQ(facts.bus_id, bus_id);
  EXPECT_EQ(facts.memory_bytes, bytes);
  EXPECT_EQ(std::memcmp(facts.uuid, uuid.bytes, sizeof facts.uuid), 0);
  int expected = 0, value = 0;
  ASSERT_EQ(cuDeviceGetAttribute(&expected, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device_), CUDA_SUCCESS);
  EXPECT_TRUE(machine->attribute(0, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &value));
  EXPECT_EQ(value, expected);
  EXPECT_FALSE(machine->attribute(0, 100000, &value));
}

TEST_F(MachineTableTest, SaysWhatTheProcessUses) {
  const MachineTable* const machine = machine_table();
  ASSERT_NE(machine, nullptr);
  MachineUse use{};
  ASSERT_EQ(machine->use(0, &use), 0);
  EXPECT_TRUE(use.context);
  CUdeviceptr block = 0;
  ASSERT_EQ(cuMemAlloc(&block, 16 << 20), CUDA_SUCCESS);
  size_t free = 0, total = 0;
  ASSERT_EQ(cuMemGetInfo(&free, &total), CUDA_SUCCESS);
  ASSERT_EQ(machine->use(0, &use), 0);
  EXPECT_EQ(use.memory_bytes, total - free);
  EXPECT_GE(use.memory_bytes, 16u << 20);
  ASSERT_EQ(cuMemFree(block), CUDA_SUCCESS);
}

TEST(MachineTableDeathTest, NeedsNoInitAndDoesNone) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // in a new process, in which no test has initialised
  const auto check = [] {
    const MachineTable* const machine = machine_table();
    size_t count = 0;
    MachineUse use{1, true};
    EXPECT_EQ(machine->count(&count), 0);
    EXPECT_STRNE(machine->facts(0).name, "");
    EXPECT_EQ(machine->use(0, &use), 0);
    EXPECT_EQ(use.memory_bytes, 0u);
    EXPECT_FALSE(use.context);
    int devices = 0;
    EXPECT_EQ(cuDeviceGetCount(&devices), CUDA_ERROR_NOT_INITIALIZED);
    _exit(testing::Test::HasFailure());
  };
  EXPECT_EXIT(check(), testing::ExitedWithCode(0), "");
}

TEST(ExportTable, IsNoneOfNvidias) {
  const CUuuid id{};
  const void* table = &id;
  EXPECT_EQ(cuGetExportTable(&table, &id), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(table, nullptr);
  EXPECT_EQ(cuGetExportTable(nullptr, &id), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuGetExportTable(&table, nullptr), CUDA_ERROR_NOT_SUPPORTED);
}

}  // namespace
}  // namespace cupola::driver
