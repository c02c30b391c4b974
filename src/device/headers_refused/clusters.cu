// error: thread block clusters need sm_90
#include <cooperative_groups.h>
__global__ void k() {
  cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
  cluster.sync();
}
