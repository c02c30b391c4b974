// Thrust of a CCCL that the user brings (cmake -DCUPOLA_CCCL=FOLDER).
// Oracle: the C++ standard library's algorithms on the host.

#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <algorithm>
#include <numeric>

#include "../kernels/check.h"

struct Square {
  __host__ __device__ int operator()(int x) const { return x * x; }
};

CASE(sort_transform_reduce) {
  thrust::host_vector<int> host(5000);
  unsigned seed = 1;
  for (int& x : host) seed = seed * 1664525 + 1013904223, x = static_cast<int>(seed >> 20);
  thrust::device_vector<int> device = host;
  thrust::sort(device.begin(), device.end());
  thrust::host_vector<int> sorted = device;
  std::sort(host.begin(), host.end());
  EXPECT(sorted == host);
  thrust::sort(device.begin(), device.end(), thrust::greater<int>());
  EXPECT_EQUAL(static_cast<int>(device[0]), host.back());
  thrust::transform(device.begin(), device.end(), device.begin(), Square());
  const long long squares =
      std::accumulate(host.begin(), host.end(), 0ll, [](long long sum, int x) { return sum + x * x; });
  EXPECT_EQUAL(thrust::reduce(device.begin(), device.end(), 0ll), squares);
}

CASE(sequence_and_scan) {
  thrust::device_vector<int> device(3000);
  thrust::sequence(device.begin(), device.end());
  thrust::inclusive_scan(device.begin(), device.end(), device.begin());
  const thrust::host_vector<int> host = device;
  for (int i = 0; i < 3000; ++i) EXPECT_EQUAL_AT(i, host[i], i * (i + 1) / 2);
}

CHECK_MAIN()
