// What holds before initialisation, without a context, after a fault and after fork. Each case has its own process.
// Oracle: "CUDA Driver API", Initialization, Context Management and the descriptions of CUresult; "CUDA C++ Programming
// Guide" on fork.

#include <fcntl.h>

#include "driver.h"

CASE(calls_before_init) {
  int count = 0;
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUdeviceptr memory = 0;
  EXPECT_CUDA(cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_CUDA(cuDeviceGet(&device, 0), CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_CUDA(cuCtxGetCurrent(&context), CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_CUDA(cuMemAlloc(&memory, 16), CUDA_ERROR_NOT_INITIALIZED);
  int version = 0;
  CU_OK(cuDriverGetVersion(&version));
  const char* text = nullptr;
  CU_OK(cuGetErrorName(CUDA_ERROR_NOT_INITIALIZED, &text));
  EXPECT_EQUAL(std::string(text), "CUDA_ERROR_NOT_INITIALIZED");
}

// "CUDA C++ Programming Guide, CUDA Environment Variables": CUDA_VISIBLE_DEVICES.
CASE(hidden_devices) {
  setenv("CUDA_VISIBLE_DEVICES", "-1,0", 1);
  EXPECT_CUDA(cuInit(0), CUDA_ERROR_NO_DEVICE);
  int count = 0;
  EXPECT_CUDA(cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
}

CASE(devices_before_an_invalid_one) {
  setenv("CUDA_VISIBLE_DEVICES", "0,-1", 1);
  CU_OK(cuInit(0));
  int count = 0;
  CU_OK(cuDeviceGetCount(&count));
  EXPECT_EQUAL(count, 1);
}

// As an H200 (driver 580) answers.
CASE(a_device_named_twice) {
  setenv("CUDA_VISIBLE_DEVICES", "0,0", 1);
  EXPECT_CUDA(cuInit(0), CUDA_ERROR_INVALID_DEVICE);
}

// "CUDA C++ Programming Guide, Error Log Management": "Set the CUDA_LOG_FILE environment variable. Acceptable values
// are stdout, stderr, or a valid path on the system to write a file." A file that is there goes on, as on an H200
// (driver 580).
CASE(messages_in_a_file) {
  const check::TextFile file("before\n");
  setenv("CUDA_LOG_FILE", file.path(), 1);
  EXPECT_CUDA(cuInit(1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuCtxSynchronize(), CUDA_ERROR_NOT_INITIALIZED);
  std::ifstream opened(file.path());
  std::string before, first, second;
  std::getline(opened, before), std::getline(opened, first), std::getline(opened, second);
  EXPECT_EQUAL(before, "before");
  EXPECT(first.find("[CUDA][E][cuInit] ") != std::string::npos);
  EXPECT(second.find("[CUDA][E][cuCtxSynchronize] ") != std::string::npos);
}

CASE(messages_on_standard_output) {
  setenv("CUDA_LOG_FILE", "stdout", 1);
  const check::TextFile file("");
  const int output = dup(STDOUT_FILENO), other = open(file.path(), O_WRONLY);
  dup2(other, STDOUT_FILENO);
  const CUresult status = cuInit(1);
  dup2(output, STDOUT_FILENO);
  EXPECT_CUDA(status, CUDA_ERROR_INVALID_VALUE);
  std::ifstream opened(file.path());
  std::string line;
  std::getline(opened, line);
  EXPECT(line.find("[CUDA][E][cuInit] ") != std::string::npos);
}

CASE(calls_without_a_context) {
  CUdevice device = check::the_device();
  CUdeviceptr memory = 0;
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CUmodule module = nullptr;
  size_t free = 0, total = 0;
  void* host = nullptr;
  char bytes[16];
  EXPECT_CUDA(cuMemAlloc(&memory, 16), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuMemAllocManaged(&memory, 16, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuMemHostAlloc(&host, 16, 0), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuMemGetInfo(&free, &total), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuMemcpyDtoH(bytes, 4096, 16), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuStreamCreate(&stream, 0), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuEventCreate(&event, 0), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuModuleLoad(&module, check::module_path().c_str()), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuCtxGetDevice(&device), CUDA_ERROR_INVALID_CONTEXT);
  int count = 0;
  CU_OK(cuDeviceGetCount(&count));  // devices need no context
}

CASE(fault_in_a_kernel_sticks) {
  check::use_context();
  CUmodule module = nullptr;
  CUfunction axpy = nullptr;
  CU_OK(cuModuleLoad(&module, check::module_path().c_str()));
  CU_OK(cuModuleGetFunction(&axpy, module, "axpy"));
  CUdeviceptr nowhere = 0;
  float a = 1;
  int count = 1;
  void* parameters[] = {&nowhere, &nowhere, &a, &count};
  CU_OK(cuLaunchKernel(axpy, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
  EXPECT_CUDA(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  CUdeviceptr memory = 0;
  EXPECT_CUDA(cuMemAlloc(&memory, 16), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_CUDA(cuStreamQuery(nullptr), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_CUDA(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

// "cuStreamAddCallback": "In the event of a device error, all subsequently executed callbacks will receive an
// appropriate CUresult." A host function of cuLaunchHostFunc is not called then.
CASE(callback_after_a_fault_gets_its_error) {
  check::use_context();
  CUmodule module = nullptr;
  CUfunction axpy = nullptr;
  CU_OK(cuModuleLoad(&module, check::module_path().c_str()));
  CU_OK(cuModuleGetFunction(&axpy, module, "axpy"));
  CUstream stream = nullptr;
  CU_OK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
  CUdeviceptr nowhere = 0;
  float a = 1;
  int count = 1;
  void* parameters[] = {&nowhere, &nowhere, &a, &count};
  static std::atomic<int> calls{0}, host_calls{0};
  static std::atomic<CUresult> status{CUDA_SUCCESS};
  check::Gate gate;
  CU_OK(cuLaunchHostFunc(stream, check::Gate::wait, &gate));
  CU_OK(cuLaunchKernel(axpy, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr));
  CU_OK(cuLaunchHostFunc(stream, [](void*) { ++host_calls; }, nullptr));
  const auto callback = [](CUstream, CUresult given, void*) {
    status = given;
    ++calls;
  };
  CU_OK(cuStreamAddCallback(stream, callback, nullptr, 0));
  EXPECT(gate.holds(stream));
  EXPECT_EQUAL(calls.load(), 0);
  gate.release();
  EXPECT_CUDA(cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
  for (int i = 0; i < 5000 && calls == 0; ++i) check::Gate::pause(1);
  EXPECT_EQUAL(calls.load(), 1);
  EXPECT_CUDA(status.load(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQUAL(host_calls.load(), 0);
}

CASE(child_of_fork_gets_an_error) {
  check::use_context();
  pid_t child = fork();
  if (child == 0) {
    CUdeviceptr memory = 0;
    CUresult result = cuMemAlloc(&memory, 16);
    _exit(result == CUDA_ERROR_NOT_INITIALIZED ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQUAL(status, 0);
  CUdeviceptr memory = 0;
  CU_OK(cuMemAlloc(&memory, 16));  // the parent is as it was
  CU_OK(cuMemFree(memory));
}

CHECK_ISOLATED_MAIN()
