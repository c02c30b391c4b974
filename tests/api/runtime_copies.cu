// Copies and fills in one, two and three dimensions, each in its synchronous and its stream-ordered form.
// Oracle: "CUDA Runtime API", Memory Management; expected bytes are computed on the host.

#include "streams.h"

namespace {

std::vector<unsigned char> pattern(size_t count, int seed) {
  std::vector<unsigned char> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<unsigned char>(i * 7 + static_cast<size_t>(seed));
  return bytes;
}

/// Device memory of a given size, filled with a byte.
struct Block {
  unsigned char* data = nullptr;
  explicit Block(size_t size, int fill = 0) {
    CUDA_OK(cudaMalloc(&data, size));
    CUDA_OK(cudaMemset(data, fill, size));
    CUDA_OK(cudaDeviceSynchronize());  // a fill returns before it is done, and streams of our own do not wait for it
  }
  ~Block() { CUDA_OK(cudaFree(data)); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
};

}  // namespace

CASE(every_kind) {
  const auto source = pattern(1000, 1);
  Block a(1000), b(1000);
  CUDA_OK(cudaMemcpy(a.data, source.data(), 1000, cudaMemcpyHostToDevice));
  CUDA_OK(cudaMemcpy(b.data, a.data, 1000, cudaMemcpyDeviceToDevice));
  std::vector<unsigned char> out(1000), again(1000), last(1000);
  CUDA_OK(cudaMemcpy(out.data(), b.data, 1000, cudaMemcpyDeviceToHost));
  EXPECT(out == source);
  CUDA_OK(cudaMemcpy(again.data(), out.data(), 1000, cudaMemcpyHostToHost));
  EXPECT(again == source);
  CUDA_OK(cudaMemset(a.data, 0, 1000));
  CUDA_OK(cudaMemcpy(a.data, source.data(), 1000, cudaMemcpyDefault));
  CUDA_OK(cudaMemcpy(last.data(), a.data, 1000, cudaMemcpyDefault));
  EXPECT(last == source);
}

CASE(part_of_an_allocation) {
  const auto source = pattern(10, 50);
  Block a(100, 0xee);
  CUDA_OK(cudaMemcpy(a.data + 31, source.data(), 10, cudaMemcpyHostToDevice));
  std::vector<unsigned char> out(100);
  CUDA_OK(cudaMemcpy(out.data(), a.data, 100, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 100; ++i)
    EXPECT_EQUAL_AT(i, int{out[static_cast<size_t>(i)]},
                    i < 31 || i >= 41 ? 0xee : int{source[static_cast<size_t>(i - 31)]});
}

CASE(copy_refuses) {
  Block a(64);
  unsigned char host[128] = {};
  EXPECT_CUDA(cudaMemcpy(a.data, host, 64, static_cast<cudaMemcpyKind>(77)), cudaErrorInvalidMemcpyDirection);
  EXPECT_CUDA(cudaMemcpy(nullptr, host, 64, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemcpy(host, nullptr, 64, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  CUDA_OK(cudaMemcpy(a.data, host, 0, cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaMemcpyAsync(nullptr, host, 64, cudaMemcpyHostToDevice, nullptr), cudaErrorInvalidValue);
}

// Oracle: the answers of an H200 (driver 580). What the kind calls the host may be device memory, not the reverse.
CASE(kinds_and_what_they_name) {
  Block a(64), b(64);
  unsigned char host[64] = {}, other[64] = {};
  CUDA_OK(cudaMemcpy(a.data, b.data, 64, cudaMemcpyHostToDevice));
  CUDA_OK(cudaMemcpy(a.data, b.data, 64, cudaMemcpyDeviceToHost));
  CUDA_OK(cudaMemcpy(a.data, b.data, 64, cudaMemcpyHostToHost));
  CUDA_OK(cudaMemcpy(a.data, host, 64, cudaMemcpyHostToHost));
  CUDA_OK(cudaMemcpy(a.data, a.data, 64, cudaMemcpyDeviceToDevice));
  EXPECT_CUDA(cudaMemcpy(host, other, 64, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemcpy(host, host, 64, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemcpy(host, other, 64, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemcpy(a.data, host, 64, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemcpy(host, a.data, 64, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemcpy(a.data, host, 64, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
}

CASE(async_copies_follow_their_stream) {
  Stream stream;
  unsigned char* pinned = nullptr;
  CUDA_OK(cudaMallocHost(&pinned, 4096));
  std::memset(pinned, 1, 4096);
  Block a(4096, 9);
  check::Gate gate;
  gate.close(stream);
  CUDA_OK(cudaMemcpyAsync(a.data, pinned, 4096, cudaMemcpyHostToDevice, stream));
  CUDA_OK(cudaMemsetAsync(a.data, 2, 2048, stream));
  CUDA_OK(cudaMemcpyAsync(pinned, a.data, 4096, cudaMemcpyDeviceToHost, stream));
  EXPECT(gate.holds(stream));    // the calls came back before the work was done
  std::memset(pinned, 3, 4096);  // the copy reads pinned memory when its turn comes
  gate.release();
  CUDA_OK(cudaStreamSynchronize(stream));
  EXPECT_EQUAL(pinned[0], 2);
  EXPECT_EQUAL(pinned[2047], 2);
  EXPECT_EQUAL(pinned[2048], 3);
  EXPECT_EQUAL(pinned[4095], 3);
  CUDA_OK(cudaFreeHost(pinned));
}

CASE(peer_copies_on_one_device) {
  const auto source = pattern(500, 9);
  Block a(500), b(500);
  CUDA_OK(cudaMemcpy(a.data, source.data(), 500, cudaMemcpyHostToDevice));
  CUDA_OK(cudaMemcpyPeer(b.data, 0, a.data, 0, 250));
  CUDA_OK(cudaMemcpyPeerAsync(b.data + 250, 0, a.data + 250, 0, 250, nullptr));
  std::vector<unsigned char> out(500);
  CUDA_OK(cudaMemcpy(out.data(), b.data, 500, cudaMemcpyDeviceToHost));
  EXPECT(out == source);
  EXPECT_CUDA(cudaMemcpyPeer(b.data, 9999, a.data, 0, 250), cudaErrorInvalidDevice);
}

CASE(rows) {
  const auto source = pattern(20 * 6, 3);  // six rows of 20 bytes, of which 12 are copied
  Block a(64 * 6, 0xaa);
  std::vector<unsigned char> out(30 * 6, 0xbb);
  CUDA_OK(cudaMemcpy2D(a.data, 64, source.data(), 20, 12, 6, cudaMemcpyHostToDevice));
  CUDA_OK(cudaMemcpy2D(out.data(), 30, a.data, 64, 12, 6, cudaMemcpyDeviceToHost));
  for (size_t row = 0; row < 6; ++row)
    for (size_t x = 0; x < 30; ++x)
      EXPECT_EQUAL_AT(static_cast<long long>(row * 30 + x), out[row * 30 + x], x < 12 ? source[row * 20 + x] : 0xbb);
  unsigned char gap = 0;
  CUDA_OK(cudaMemcpy(&gap, a.data + 12, 1, cudaMemcpyDeviceToHost));
  EXPECT_EQUAL(gap, 0xaa);
  EXPECT_CUDA(cudaMemcpy2D(a.data, 8, source.data(), 20, 12, 6, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);
  EXPECT_CUDA(cudaMemcpy2D(a.data, 64, source.data(), 8, 12, 6, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);
  EXPECT_CUDA(cudaMemcpy2D(a.data, 64, source.data(), 20, 12, 6, static_cast<cudaMemcpyKind>(77)),
              cudaErrorInvalidMemcpyDirection);
}

CASE(rows_async) {
  const auto source = pattern(20 * 6, 4);
  Stream stream;
  Block a(32 * 6);
  std::vector<unsigned char> out(20 * 6);
  CUDA_OK(cudaMemcpy2DAsync(a.data, 32, source.data(), 20, 20, 6, cudaMemcpyHostToDevice, stream));
  CUDA_OK(cudaMemcpy2DAsync(out.data(), 20, a.data, 32, 20, 6, cudaMemcpyDeviceToHost, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  EXPECT(out == source);
}

namespace {

/// Bytes 2..5 of rows 1..2 of slices 1..3 of an 8 x 4 x 5 host volume, to the start of a pitched device volume.
cudaMemcpy3DParms box(const std::vector<unsigned char>& host, cudaPitchedPtr device) {
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(const_cast<unsigned char*>(host.data()), 8, 8, 4);
  copy.srcPos = make_cudaPos(2, 1, 1);
  copy.dstPtr = device;
  copy.extent = make_cudaExtent(4, 2, 3);
  copy.kind = cudaMemcpyHostToDevice;
  return copy;
}

void expect_box(const std::vector<unsigned char>& host, cudaPitchedPtr device) {
  std::vector<unsigned char> out(device.pitch * 4 * 5);
  CUDA_OK(cudaMemcpy(out.data(), device.ptr, out.size(), cudaMemcpyDeviceToHost));
  for (size_t z = 0; z < 5; ++z)
    for (size_t y = 0; y < 4; ++y)
      for (size_t x = 0; x < 8; ++x) {
        bool inside = z < 3 && y < 2 && x < 4;
        EXPECT_EQUAL_AT(static_cast<long long>((z * 4 + y) * 8 + x), out[(z * 4 + y) * device.pitch + x],
                        inside ? host[((z + 1) * 4 + y + 1) * 8 + x + 2] : 0xcc);
      }
}

}  // namespace

CASE(boxes) {
  const auto host = pattern(8 * 4 * 5, 70);
  cudaPitchedPtr device;
  CUDA_OK(cudaMalloc3D(&device, make_cudaExtent(8, 4, 5)));
  CUDA_OK(cudaMemset(device.ptr, 0xcc, device.pitch * 20));
  cudaMemcpy3DParms copy = box(host, device);
  CUDA_OK(cudaMemcpy3D(&copy));
  expect_box(host, device);
  CUDA_OK(cudaMemset(device.ptr, 0xcc, device.pitch * 20));
  CUDA_OK(cudaMemcpy3DAsync(&copy, nullptr));
  expect_box(host, device);
  copy.kind = static_cast<cudaMemcpyKind>(77);
  EXPECT_CUDA(cudaMemcpy3D(&copy), cudaErrorInvalidMemcpyDirection);
  EXPECT_CUDA(cudaMemcpy3D(nullptr), cudaErrorInvalidValue);
  CUDA_OK(cudaFree(device.ptr));
}

CASE(peer_boxes) {
  const auto host = pattern(8 * 4 * 5, 90);
  cudaPitchedPtr from, to;
  CUDA_OK(cudaMalloc3D(&from, make_cudaExtent(8, 4, 5)));
  CUDA_OK(cudaMalloc3D(&to, make_cudaExtent(8, 4, 5)));
  CUDA_OK(cudaMemcpy2D(from.ptr, from.pitch, host.data(), 8, 8, 20, cudaMemcpyHostToDevice));
  cudaMemcpy3DPeerParms copy = {};
  copy.srcPtr = from;
  copy.srcPos = make_cudaPos(2, 1, 1);
  copy.dstPtr = to;
  copy.extent = make_cudaExtent(4, 2, 3);
  for (int asynchronous = 0; asynchronous < 2; ++asynchronous) {
    CUDA_OK(cudaMemset(to.ptr, 0xcc, to.pitch * 20));
    CUDA_OK(asynchronous ? cudaMemcpy3DPeerAsync(&copy, nullptr) : cudaMemcpy3DPeer(&copy));
    expect_box(host, to);
  }
  CUDA_OK(cudaFree(from.ptr));
  CUDA_OK(cudaFree(to.ptr));
}

CASE(fills) {
  Block a(256, 1);
  CUDA_OK(cudaMemset(a.data + 16, 0x1ff, 16));  // only the low byte counts
  EXPECT(check::all_bytes(a.data, 16, 1));
  EXPECT(check::all_bytes(a.data + 16, 16, 0xff));
  EXPECT(check::all_bytes(a.data + 32, 224, 1));
  Stream stream;
  CUDA_OK(cudaMemsetAsync(a.data, 5, 256, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  EXPECT(check::all_bytes(a.data, 256, 5));
  CUDA_OK(cudaMemset(a.data, 7, 0));
  EXPECT(check::all_bytes(a.data, 256, 5));
  EXPECT_CUDA(cudaMemset(nullptr, 0, 16), cudaErrorInvalidValue);
}

CASE(fills_of_rows_and_boxes) {
  Block a(64 * 8, 1);
  auto expect = [&](size_t width, size_t rows, unsigned char inside) {
    std::vector<unsigned char> out(64 * 8);
    CUDA_OK(cudaMemcpy(out.data(), a.data, out.size(), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < out.size(); ++i)
      EXPECT_EQUAL_AT(static_cast<long long>(i), out[i], i % 64 < width && i / 64 < rows ? inside : 1);
    CUDA_OK(cudaMemset(a.data, 1, 64 * 8));
  };
  CUDA_OK(cudaMemset2D(a.data, 64, 2, 10, 3));
  expect(10, 3, 2);
  CUDA_OK(cudaMemset2DAsync(a.data, 64, 3, 11, 4, nullptr));
  expect(11, 4, 3);
  // Two slices of two rows each, one slice after the other: four rows of the same pitch.
  const cudaPitchedPtr volume = make_cudaPitchedPtr(a.data, 64, 64, 2);
  CUDA_OK(cudaMemset3D(volume, 4, make_cudaExtent(12, 2, 2)));
  expect(12, 4, 4);
  CUDA_OK(cudaMemset3DAsync(volume, 6, make_cudaExtent(13, 2, 3), nullptr));
  expect(13, 6, 6);
  EXPECT_CUDA(cudaMemset2D(nullptr, 64, 2, 10, 3), cudaErrorInvalidValue);
}

CHECK_MAIN()
