/* nvml.h is a C header: this file only has to compile. */
#include <nvml.h>

static int compiles_as_c(void) {
  nvmlMemory_v2_t memory = {nvmlMemory_v2};
  nvmlDevice_t device = 0;
  return (int)nvmlInit() + (int)nvmlDeviceGetMemoryInfo_v2(device, &memory) + (int)nvmlShutdown();
}

int (*nvml_header_compiles)(void) = compiles_as_c;
