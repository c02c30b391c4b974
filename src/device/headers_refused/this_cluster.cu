// error: 'this_cluster' is unavailable: thread block clusters need sm_90
#include <cooperative_groups.h>
__global__ void k() {
  auto cluster = cooperative_groups::this_cluster();
  cluster.sync();
}
