// Memory pools of the runtime API. Oracle: "CUDA Runtime API, Stream Ordered Memory Allocator" and "CUDA C++
// Programming Guide, Stream Ordered Memory Allocator"; the passages are quoted where a case relies on them.

#include "api.h"
#include "child.h"

namespace {

constexpr size_t kMiB = 1 << 20;

cudaMemPool_t make_pool(cudaMemAllocationHandleType handles = cudaMemHandleTypeNone, size_t most = 0) {
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.handleTypes = handles;
  properties.location = {cudaMemLocationTypeDevice, 0};
  properties.maxSize = most;
  cudaMemPool_t pool = nullptr;
  CUDA_OK(cudaMemPoolCreate(&pool, &properties));
  return pool;
}

unsigned long long number(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
  unsigned long long value = ~0ull;
  CUDA_OK(cudaMemPoolGetAttribute(pool, attribute, &value));
  return value;
}

int flag(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
  int value = -1;
  CUDA_OK(cudaMemPoolGetAttribute(pool, attribute, &value));
  return value;
}

__global__ void add_one(unsigned* words, int count) {
  int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) words[i] += 1;
}

}  // namespace

CASE(pools_are_supported) {
  int supported = 0, handles = 0;
  CUDA_OK(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0));
  EXPECT(supported == 1);
  CUDA_OK(cudaDeviceGetAttribute(&handles, cudaDevAttrMemoryPoolSupportedHandleTypes, 0));
  EXPECT(handles & cudaMemHandleTypePosixFileDescriptor);
}

// "The default pool ... of a device"; "the current pool is the default pool unless cudaDeviceSetMemPool changed it".
CASE(default_and_current_pool) {
  cudaMemPool_t first = nullptr, again = nullptr, current = nullptr, own = make_pool();
  CUDA_OK(cudaDeviceGetDefaultMemPool(&first, 0));
  CUDA_OK(cudaDeviceGetDefaultMemPool(&again, 0));
  CUDA_OK(cudaDeviceGetMemPool(&current, 0));
  EXPECT(first && first == again && first == current && first != own);
  CUDA_OK(cudaDeviceSetMemPool(0, own));
  CUDA_OK(cudaDeviceGetMemPool(&current, 0));
  EXPECT(current == own);
  void* block = nullptr;
  CUDA_OK(cudaMallocAsync(&block, kMiB, nullptr));
  CUDA_OK(cudaStreamSynchronize(nullptr));
  EXPECT(number(own, cudaMemPoolAttrUsedMemCurrent) >= kMiB);
  CUDA_OK(cudaFreeAsync(block, nullptr));
  CUDA_OK(cudaStreamSynchronize(nullptr));
  // "If the pool is the current pool of a device, the current pool is set to the default pool."
  CUDA_OK(cudaMemPoolDestroy(own));
  CUDA_OK(cudaDeviceGetMemPool(&current, 0));
  EXPECT(current == first);
  EXPECT_CUDA(cudaMemPoolDestroy(first), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaDeviceGetDefaultMemPool(&first, 99), cudaErrorInvalidDevice);
  cudaGetLastError();
}

CASE(pools_by_location) {
  cudaMemPool_t by_device = nullptr, by_place = nullptr, current = nullptr;
  cudaMemLocation place{cudaMemLocationTypeDevice, 0};
  CUDA_OK(cudaDeviceGetDefaultMemPool(&by_device, 0));
  CUDA_OK(cudaMemGetDefaultMemPool(&by_place, &place, cudaMemAllocationTypePinned));
  EXPECT(by_device == by_place);
  CUDA_OK(cudaMemGetMemPool(&current, &place, cudaMemAllocationTypePinned));
  EXPECT(current == by_place);
  CUDA_OK(cudaMemSetMemPool(&place, cudaMemAllocationTypePinned, by_place));
}

CASE(used_memory_follows_the_stream) {
  cudaMemPool_t pool = make_pool();
  cudaStream_t stream = nullptr;
  CUDA_OK(cudaStreamCreate(&stream));
  EXPECT(number(pool, cudaMemPoolAttrUsedMemCurrent) == 0ull);
  void *one = nullptr, *two = nullptr;
  CUDA_OK(cudaMallocFromPoolAsync(&one, 3 * kMiB, pool, stream));
  CUDA_OK(cudaMallocFromPoolAsync(&two, kMiB, pool, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  EXPECT(number(pool, cudaMemPoolAttrUsedMemCurrent) >= 4 * kMiB);
  EXPECT(number(pool, cudaMemPoolAttrReservedMemCurrent) >= number(pool, cudaMemPoolAttrUsedMemCurrent));
  CUDA_OK(cudaFreeAsync(one, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  unsigned long long used = number(pool, cudaMemPoolAttrUsedMemCurrent);
  EXPECT(used >= kMiB && used < 3 * kMiB);
  EXPECT(number(pool, cudaMemPoolAttrUsedMemHigh) >= 4 * kMiB);
  CUDA_OK(cudaFreeAsync(two, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  EXPECT(number(pool, cudaMemPoolAttrUsedMemCurrent) == 0ull);
  // "High watermarks can be reset to zero only", from where they count anew.
  unsigned long long zero = 0, one_byte = 1;
  CUDA_OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero));
  EXPECT(number(pool, cudaMemPoolAttrUsedMemHigh) == 0ull);
  EXPECT_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &one_byte), cudaErrorInvalidValue);
  cudaGetLastError();
  CUDA_OK(cudaStreamDestroy(stream));
  CUDA_OK(cudaMemPoolDestroy(pool));
}

// "cudaMemPoolAttrReleaseThreshold: amount of reserved memory in bytes to hold onto before trying to release memory
// back to the OS. When more than the release threshold bytes of memory are held by the memory pool, the allocator will
// try to release memory back to the OS on the next call to stream, event or context synchronize. (default 0)"
CASE(release_threshold) {
  cudaMemPool_t pool = make_pool();
  EXPECT(number(pool, cudaMemPoolAttrReleaseThreshold) == 0ull);
  void* block = nullptr;
  CUDA_OK(cudaMallocFromPoolAsync(&block, 64 * kMiB, pool, nullptr));
  CUDA_OK(cudaFreeAsync(block, nullptr));
  CUDA_OK(cudaStreamSynchronize(nullptr));
  EXPECT(number(pool, cudaMemPoolAttrReservedMemCurrent) == 0ull);

  unsigned long long all = ~0ull;
  CUDA_OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
  EXPECT(number(pool, cudaMemPoolAttrReleaseThreshold) == all);
  CUDA_OK(cudaMallocFromPoolAsync(&block, 64 * kMiB, pool, nullptr));
  CUDA_OK(cudaFreeAsync(block, nullptr));
  CUDA_OK(cudaStreamSynchronize(nullptr));
  EXPECT(number(pool, cudaMemPoolAttrReservedMemCurrent) >= 64 * kMiB);
  EXPECT(number(pool, cudaMemPoolAttrUsedMemCurrent) == 0ull);

  // "Releases memory back to the OS until the pool contains fewer than minBytesToKeep reserved bytes, or there is no
  // more memory that the allocator can safely release."
  CUDA_OK(cudaMemPoolTrimTo(pool, 0));
  EXPECT(number(pool, cudaMemPoolAttrReservedMemCurrent) == 0ull);
  EXPECT(number(pool, cudaMemPoolAttrReservedMemHigh) >= 64 * kMiB);
  CUDA_OK(cudaMemPoolDestroy(pool));
}

CASE(reuse_flags) {
  cudaMemPool_t pool = make_pool();
  const cudaMemPoolAttr flags[] = {cudaMemPoolReuseFollowEventDependencies, cudaMemPoolReuseAllowOpportunistic,
                                   cudaMemPoolReuseAllowInternalDependencies};
  for (cudaMemPoolAttr each : flags) {
    EXPECT(flag(pool, each) == 1);  // "(default enabled)"
    int off = 0;
    CUDA_OK(cudaMemPoolSetAttribute(pool, each, &off));
    EXPECT(flag(pool, each) == 0);
  }
  unsigned long long value = 0;
  EXPECT_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &value), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemPoolGetAttribute(pool, static_cast<cudaMemPoolAttr>(99), &value), cudaErrorInvalidValue);
  cudaGetLastError();
  CUDA_OK(cudaMemPoolDestroy(pool));
}

CASE(kernels_use_pool_memory) {
  cudaMemPool_t pool = make_pool();
  constexpr int kCount = 1000;
  unsigned* words = nullptr;
  CUDA_OK(cudaMallocFromPoolAsync(reinterpret_cast<void**>(&words), kCount * sizeof(unsigned), pool, nullptr));
  CUDA_OK(cudaMemsetAsync(words, 0, kCount * sizeof(unsigned), nullptr));
  add_one<<<4, 256>>>(words, kCount);
  std::vector<unsigned> host(kCount);
  CUDA_OK(cudaMemcpyAsync(host.data(), words, kCount * sizeof(unsigned), cudaMemcpyDeviceToHost, nullptr));
  CUDA_OK(cudaFreeAsync(words, nullptr));
  CUDA_OK(cudaStreamSynchronize(nullptr));
  for (unsigned word : host) EXPECT(word == 1u);
  // "cudaFree ... can be used to free memory allocated with cudaMallocAsync".
  CUDA_OK(cudaMallocFromPoolAsync(reinterpret_cast<void**>(&words), kMiB, pool, nullptr));
  CUDA_OK(cudaFree(words));
  EXPECT(number(pool, cudaMemPoolAttrUsedMemCurrent) == 0ull);
  CUDA_OK(cudaMemPoolDestroy(pool));
}

// "If there are outstanding allocations from the pool, ... cudaMemPoolDestroy returns immediately and the resources are
// released once there are no more outstanding allocations."
CASE(allocations_outlive_their_pool) {
  cudaMemPool_t pool = make_pool();
  void* block = nullptr;
  CUDA_OK(cudaMallocFromPoolAsync(&block, kMiB, pool, nullptr));
  CUDA_OK(cudaMemPoolDestroy(pool));
  CUDA_OK(cudaMemset(block, 5, kMiB));
  EXPECT(check::all_bytes(block, kMiB, 5));
  CUDA_OK(cudaFreeAsync(block, nullptr));
  CUDA_OK(cudaDeviceSynchronize());
}

CASE(a_pool_may_have_a_limit) {
  cudaMemPool_t pool = make_pool(cudaMemHandleTypeNone, 64 * kMiB);
  void* block = nullptr;
  EXPECT_CUDA(cudaMallocFromPoolAsync(&block, 1024 * kMiB, pool, nullptr), cudaErrorMemoryAllocation);
  cudaGetLastError();
  CUDA_OK(cudaMallocFromPoolAsync(&block, 32 * kMiB, pool, nullptr));
  CUDA_OK(cudaFreeAsync(block, nullptr));
  CUDA_OK(cudaStreamSynchronize(nullptr));
  CUDA_OK(cudaMemPoolDestroy(pool));
}

CASE(access) {
  cudaMemPool_t pool = make_pool();
  cudaMemLocation place{cudaMemLocationTypeDevice, 0};
  cudaMemAccessFlags flags = cudaMemAccessFlagsProtNone;
  CUDA_OK(cudaMemPoolGetAccess(&flags, pool, &place));
  EXPECT(static_cast<int>(flags) == static_cast<int>(cudaMemAccessFlagsProtReadWrite));
  cudaMemAccessDesc wanted{place, cudaMemAccessFlagsProtReadWrite};
  CUDA_OK(cudaMemPoolSetAccess(pool, &wanted, 1));
  // "It is an error to revoke the access of the device on which the pool's memory lies." Oracle of the number: an H200.
  wanted.flags = cudaMemAccessFlagsProtNone;
  EXPECT_CUDA(cudaMemPoolSetAccess(pool, &wanted, 1), cudaErrorInvalidDevice);
  cudaGetLastError();
  CUDA_OK(cudaMemPoolDestroy(pool));
}

CASE(refusals) {
  cudaMemPool_t pool = nullptr;
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypeInvalid;
  properties.location = {cudaMemLocationTypeDevice, 0};
  EXPECT_CUDA(cudaMemPoolCreate(&pool, &properties), cudaErrorInvalidValue);
  properties.allocType = cudaMemAllocationTypePinned;
  EXPECT_CUDA(cudaMemPoolCreate(nullptr, &properties), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemPoolCreate(&pool, nullptr), cudaErrorInvalidValue);
  cudaMemPool_t own = make_pool();
  int file = -1;
  EXPECT_CUDA(cudaMemPoolExportToShareableHandle(&file, own, cudaMemHandleTypePosixFileDescriptor, 0),
              cudaErrorInvalidValue);
  cudaGetLastError();
  CUDA_OK(cudaMemPoolDestroy(own));
}

// A child process imports the pool and a pointer from what it is sent.
namespace {

/// A message with a file descriptor: the way that "CUDA C++ Programming Guide, Interprocess Communication Support"
/// shows.
struct Message {
  cudaMemPoolPtrExportData pointer;
  iovec part{&pointer, sizeof pointer};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header() {
    msghdr made = {};
    made.msg_iov = &part;
    made.msg_iovlen = 1;
    made.msg_control = control;
    made.msg_controllen = sizeof control;
    return made;
  }
};

bool send(int socket, const cudaMemPoolPtrExportData& pointer, int file) {
  Message message;
  message.pointer = pointer;
  msghdr header = message.header();
  cmsghdr* rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof file);
  std::memcpy(CMSG_DATA(rights), &file, sizeof file);
  return sendmsg(socket, &header, 0) == static_cast<ssize_t>(sizeof pointer);
}

int receive(int socket, cudaMemPoolPtrExportData& pointer) {
  Message message;
  msghdr header = message.header();
  int file = -1;
  if (recvmsg(socket, &header, 0) != static_cast<ssize_t>(sizeof pointer) || !CMSG_FIRSTHDR(&header)) return -1;
  std::memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&header)), sizeof file);
  pointer = message.pointer;
  return file;
}

/// The child's half: checks the bytes, and answers by changing them.
int import_and_answer(const check::Way& parent) {
  cudaMemPoolPtrExportData exported = {};
  int file = receive(parent.socket, exported);
  if (file < 0) return 11;
  cudaMemPool_t pool = nullptr;
  void* block = nullptr;
  if (cudaMemPoolImportFromShareableHandle(&pool, reinterpret_cast<void*>(static_cast<intptr_t>(file)),
                                           cudaMemHandleTypePosixFileDescriptor, 0) != cudaSuccess)
    return 12;
  if (cudaMemPoolImportPointer(&block, pool, &exported) != cudaSuccess) return 13;
  if (!check::all_bytes(block, kMiB, 0x5a)) return 14;
  if (cudaMemset(block, 0xa5, kMiB) != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess) return 15;
  void* none = nullptr;
  if (cudaMallocFromPoolAsync(&none, kMiB, pool, nullptr) == cudaSuccess)
    return 16;  // nothing comes from imported pools
  if (cudaFree(block) != cudaSuccess || cudaMemPoolDestroy(pool) != cudaSuccess) return 17;
  return 0;
}

}  // namespace

CASE(shared_with_another_process) {
  const check::Child child(import_and_answer);
  cudaMemPool_t pool = make_pool(cudaMemHandleTypePosixFileDescriptor);
  void* block = nullptr;
  CUDA_OK(cudaMallocFromPoolAsync(&block, kMiB, pool, nullptr));
  CUDA_OK(cudaMemset(block, 0x5a, kMiB));
  CUDA_OK(cudaDeviceSynchronize());
  int file = -1;
  cudaMemPoolPtrExportData exported = {};
  CUDA_OK(cudaMemPoolExportToShareableHandle(&file, pool, cudaMemHandleTypePosixFileDescriptor, 0));
  CUDA_OK(cudaMemPoolExportPointer(&exported, block));
  EXPECT(send(child->socket, exported, file));
  close(file);
  EXPECT_EQUAL(child.ended(), 0);
  EXPECT(check::all_bytes(block, kMiB, 0xa5));
  CUDA_OK(cudaFree(block));
  CUDA_OK(cudaMemPoolDestroy(pool));
}

CHECK_ISOLATED_MAIN()
