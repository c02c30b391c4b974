// error: the size of a tile is a power of two
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k() {
  cg::tiled_partition<3>(cg::this_thread_block()).sync();
}
