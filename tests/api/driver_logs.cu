// What went wrong, in words. Oracle: "CUDA Driver API, Error Log Management" and "CUDA C++ Programming Guide, Error Log
// Management", whose example is the message of a call without a buffer.

#include <string>

#include "driver.h"

namespace {

struct Told {
  int count = 0;
  CUlogLevel level = CU_LOG_LEVEL_WARNING;
  std::string text;
};

void CUDA_CB tell(void* data, CUlogLevel level, char* message, size_t length) {
  Told& told = *static_cast<Told*>(data);
  ++told.count;
  told.level = level;
  told.text.assign(message, length);
}

void make_a_message() {
  size_t size = 10;
  EXPECT_CUDA(cuLogsDumpToMemory(nullptr, nullptr, &size, 0), CUDA_ERROR_INVALID_VALUE);
}

CUlogIterator here() {
  CUlogIterator at = 0;
  CU_OK(cuLogsCurrent(&at, 0));
  return at;
}

}  // namespace

CASE(messages_in_memory) {
  check::the_device();
  CUlogIterator at = here();
  std::vector<char> buffer(25600, 'x');
  size_t size = buffer.size();
  CU_OK(
      cuLogsDumpToMemory(&at, buffer.data(), &size, 0));  // "If there are no messages to dump, *size will be set to 0"
  EXPECT_EQUAL(size, 0u);
  EXPECT_EQUAL(buffer[0], '\0');
  make_a_message();
  size = buffer.size();
  CU_OK(cuLogsDumpToMemory(&at, buffer.data(), &size, 0));
  const std::string text(buffer.data());
  EXPECT_EQUAL(size, text.size());  // "excluding the null terminator"
  EXPECT(text.find("[CUDA][E]") != std::string::npos);
  EXPECT(text.find("cuLogsDumpToMemory") != std::string::npos);
  EXPECT(!text.empty() && text.front() == '[' && text.back() == '\n');
  size = buffer.size();
  CU_OK(cuLogsDumpToMemory(&at, buffer.data(), &size, 0));  // the iterator has moved on
  EXPECT_EQUAL(size, 0u);
  size = buffer.size();
  CU_OK(cuLogsDumpToMemory(nullptr, buffer.data(), &size, 0));  // "NULL value dumps all logs"
  EXPECT(size >= text.size());
}

// "If the provided buffer is not large enough to hold any messages, *size will be set to 0 and the function will return
// CUDA_ERROR_INVALID_VALUE."
CASE(a_small_buffer) {
  check::the_device();
  CUlogIterator at = here();
  make_a_message();
  char buffer[4] = "abc";
  size_t size = sizeof buffer;
  EXPECT_CUDA(cuLogsDumpToMemory(&at, buffer, &size, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQUAL(size, 0u);
}

// "The driver reserves limited memory": the last messages stay, and never more than 25600 bytes.
CASE(old_messages_go) {
  check::the_device();
  CUlogIterator at = here();
  for (int i = 0; i < 1000; ++i) make_a_message();
  std::vector<char> buffer(100000);
  size_t size = buffer.size();
  CU_OK(cuLogsDumpToMemory(&at, buffer.data(), &size, 0));
  EXPECT(size > 0 && size <= 25600);
}

CASE(messages_in_a_file) {
  check::the_device();
  CUlogIterator at = here();
  make_a_message();
  char path[] = "/tmp/cuda-messages-XXXXXX";
  const int file = mkstemp(path);
  EXPECT(file >= 0);
  CU_OK(cuLogsDumpToFile(&at, path, 0));
  char text[4096] = "";
  const ssize_t bytes = read(file, text, sizeof text - 1);
  EXPECT(bytes > 0 && std::strstr(text, "cuLogsDumpToMemory") != nullptr);
  close(file);
  unlink(path);
}

CASE(callbacks) {
  check::the_device();
  Told told;
  CUlogsCallbackHandle handle = nullptr;
  CU_OK(cuLogsRegisterCallback(tell, &told, &handle));
  make_a_message();
  EXPECT(told.count >= 1 && !told.text.empty());
  EXPECT_EQUAL(told.level, CU_LOG_LEVEL_ERROR);
  CU_OK(cuLogsUnregisterCallback(handle));
  const int before = told.count;
  make_a_message();
  EXPECT_EQUAL(told.count, before);
}

CASE(logs_refuse) {
  check::the_device();
  CUlogIterator at = here();
  char buffer[64];
  size_t size = sizeof buffer;
  EXPECT_CUDA(cuLogsCurrent(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuLogsCurrent(&at, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuLogsDumpToFile(&at, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuLogsDumpToFile(&at, "/tmp/cuda-messages", 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuLogsDumpToMemory(&at, buffer, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuLogsDumpToMemory(&at, buffer, &size, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuLogsRegisterCallback(nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuLogsUnregisterCallback(nullptr), CUDA_ERROR_INVALID_VALUE);
}

CASE(the_runtime_has_the_same_messages) {
  check::use_context();
  Told told;
  cudaLogsCallbackHandle handle = nullptr;
  cudaLogIterator at = 0;
  CUDA_OK(cudaLogsCurrent(&at, 0));
  const cudaLogsCallback_t callback = [](void* data, cudaLogLevel level, char* message, size_t length) {
    tell(data, static_cast<CUlogLevel>(level), message, length);
  };
  CUDA_OK(cudaLogsRegisterCallback(callback, &told, &handle));
  make_a_message();
  EXPECT(told.count >= 1);
  CUDA_OK(cudaLogsUnregisterCallback(handle));
  std::vector<char> buffer(25600);
  size_t size = buffer.size();
  cudaLogIterator copy = at;
  CUDA_OK(cudaLogsDumpToMemory(&copy, buffer.data(), &size, 0));
  EXPECT(std::strstr(buffer.data(), "cuLogsDumpToMemory") != nullptr);
  char path[] = "/tmp/cuda-messages-XXXXXX";
  const int file = mkstemp(path);
  CUDA_OK(cudaLogsDumpToFile(&at, path, 0));
  EXPECT(lseek(file, 0, SEEK_END) == static_cast<off_t>(size));
  close(file);
  unlink(path);
  EXPECT_CUDA(cudaLogsCurrent(nullptr, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaLogsDumpToFile(&at, nullptr, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaLogsDumpToMemory(&at, nullptr, &size, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaLogsRegisterCallback(nullptr, nullptr, &handle), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaLogsUnregisterCallback(nullptr), cudaErrorInvalidValue);
  (void)cudaGetLastError();
}

// docs/api_gaps.tsv: the messages are the driver's.
CASE(what_the_runtime_refuses_is_not_among_them) {
  check::use_context();
  CUlogIterator at = here();
  EXPECT_CUDA(cudaEventCreate(nullptr), cudaErrorInvalidValue);
  (void)cudaGetLastError();
  EXPECT_EQUAL(here(), at);
}

// A call that is made of others is logged as what the program called.
CASE(copies_of_rows_have_one_name) {
  if (!check::on_cupola()) return;
  check::use_context();
  CUDA_ARRAY_DESCRIPTOR shape = {16, 16, CU_AD_FORMAT_FLOAT, 1};
  CUarray array = nullptr;
  CU_OK(cuArrayCreate(&array, &shape));
  CUlogIterator at = here();
  EXPECT_CUDA(cuMemcpyHtoA(array, 0, nullptr, 64), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpyAtoHAsync(nullptr, array, 0, 64, nullptr), CUDA_ERROR_INVALID_VALUE);
  std::vector<char> buffer(25600);
  size_t size = buffer.size();
  CU_OK(cuLogsDumpToMemory(&at, buffer.data(), &size, 0));
  const std::string text(buffer.data());
  EXPECT(text.find("cuMemcpyHtoA") != std::string::npos);
  EXPECT(text.find("cuMemcpyAtoHAsync") != std::string::npos);
  EXPECT(text.find("cuMemcpy2D") == std::string::npos);
  CU_OK(cuArrayDestroy(array));
}

CASE(a_refused_cluster_names_what_the_device_reports) {
  if (!check::on_cupola()) return;
  check::use_context();
  int major = 0, minor = 0;
  CU_OK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, check::the_device()));
  CU_OK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, check::the_device()));
  CUlaunchAttribute pair = {};
  pair.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  pair.value.clusterDim.x = 2;
  pair.value.clusterDim.y = pair.value.clusterDim.z = 1;
  CUlaunchConfig config = {};
  config.attrs = &pair;
  config.numAttrs = 1;
  CUlogIterator at = here();
  EXPECT_CUDA(cuLaunchKernelEx(&config, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  std::vector<char> buffer(25600);
  size_t size = buffer.size();
  CU_OK(cuLogsDumpToMemory(&at, buffer.data(), &size, 0));
  const std::string reported = "compute capability " + std::to_string(major) + "." + std::to_string(minor) + ",";
  EXPECT(std::string(buffer.data()).find(reported) != std::string::npos);
}

CHECK_MAIN()
