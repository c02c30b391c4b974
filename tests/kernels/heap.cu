// malloc and free in kernels. Oracle: the values written, sums of them on the host.

#include "check.h"

namespace {

struct Node {
  Node* next;
  int value;
};

constexpr int kBlocks = 40, kThreads = 96, kLists = kBlocks * kThreads;

__device__ Node* lists[kLists];

int expected_sum(int list) {
  int sum = 0;
  for (int i = 0; i < list % 5; ++i) sum += list * 10 + i;
  return sum;
}

/// That no kernel has written yet.
void forget(check::Managed<int>& values, int count) {
  for (int i = 0; i < count; ++i) values[i] = -1;
}

}  // namespace

/// Of a remainder of the thread's number many nodes: of every fifth thread none.
__global__ void make_lists() {
  const int number = blockIdx.x * blockDim.x + threadIdx.x;
  Node* first = nullptr;
  for (int i = 0; i < number % 5; ++i) {
    auto* node = static_cast<Node*>(malloc(sizeof(Node)));
    if (!node) break;
    node->next = first;
    node->value = number * 10 + i;
    first = node;
  }
  lists[number] = first;
}

/// Of another thread than made them.
__global__ void sum_and_free_lists(int* sums) {
  const int number = gridDim.x * blockDim.x - 1 - (blockIdx.x * blockDim.x + threadIdx.x);
  int sum = 0;
  for (Node* node = lists[number]; node;) {
    Node* next = node->next;
    sum += node->value;
    free(node);
    node = next;
  }
  sums[number] = sum;
}

CASE(lists_that_another_kernel_frees) {
  check::Managed<int> sums(kLists);
  for (int round = 0; round < 3; ++round) {
    forget(sums, kLists);
    make_lists<<<kBlocks, kThreads>>>();
    sum_and_free_lists<<<kBlocks, kThreads>>>(sums);
    CUDA_OK(cudaDeviceSynchronize());
    for (int i = 0; i < kLists; ++i) EXPECT_EQUAL_AT(i, sums[i], expected_sum(i));
  }
}

/// Blocks of all sizes, each full of its thread's byte before any is looked at: those that are wrong.
__global__ void fill_and_look(int* wrong, int* unaligned) {
  const int number = threadIdx.x, size = 1 + number * 37 % 700;
  auto* bytes = static_cast<unsigned char*>(malloc(size));
  unaligned[number] = reinterpret_cast<uintptr_t>(bytes) % 16 != 0;
  for (int i = 0; bytes && i < size; ++i) bytes[i] = static_cast<unsigned char>(number);
  __syncthreads();
  int count = bytes ? 0 : size;
  for (int i = 0; bytes && i < size; ++i) count += bytes[i] != static_cast<unsigned char>(number);
  wrong[number] = count;
  free(bytes);
}

CASE(blocks_lie_apart_and_are_aligned_to_16_bytes) {
  constexpr int kMany = 256;
  check::Managed<int> wrong(kMany), unaligned(kMany);
  forget(wrong, kMany);
  forget(unaligned, kMany);
  fill_and_look<<<1, kMany>>>(wrong, unaligned);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < kMany; ++i) {
    EXPECT_EQUAL_AT(i, wrong[i], 0);
    EXPECT_EQUAL_AT(i, unaligned[i], 0);
  }
}

__global__ void ask_for_too_much(int* got) {
  void* block = malloc(size_t{1} << 40);
  got[threadIdx.x] = block != nullptr;
  free(block);
  free(nullptr);
}

CASE(what_does_not_fit_is_null) {
  check::Managed<int> got(32);
  forget(got, 32);
  ask_for_too_much<<<1, 32>>>(got);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < 32; ++i) EXPECT_EQUAL_AT(i, got[i], 0);
}

CHECK_MAIN()
