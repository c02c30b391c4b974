#pragma once

// Writes an 8-bit RGB image as a PNG file with stored (uncompressed) blocks; see https://www.w3.org/TR/png/ and RFC
// 1950.

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

class PngWriter {
 public:
  /// `rgb` holds height rows of width pixels of three bytes. False when the file can't be written.
  static bool write(const std::string& path, const std::vector<uint8_t>& rgb, uint32_t width, uint32_t height) {
    PngWriter png;
    png.bytes_ = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    std::vector<uint8_t> header;
    put32(header, width);
    put32(header, height);
    header.insert(header.end(), {8, 2, 0, 0, 0});
    png.chunk("IHDR", header);
    png.chunk("IDAT", zlib_stored(rows(rgb, width, height)));
    png.chunk("IEND", {});
    std::FILE* file = std::fopen(path.c_str(), "wb");
    if (!file) return false;
    bool written = std::fwrite(png.bytes_.data(), 1, png.bytes_.size(), file) == png.bytes_.size();
    return std::fclose(file) == 0 && written;
  }

 private:
  static void put32(std::vector<uint8_t>& to, uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) to.push_back(static_cast<uint8_t>(value >> shift));
  }

  static std::vector<uint8_t> rows(const std::vector<uint8_t>& rgb, uint32_t width, uint32_t height) {
    std::vector<uint8_t> result;
    for (uint32_t y = 0; y < height; ++y) {
      result.push_back(0);  // no filter
      result.insert(result.end(), rgb.begin() + size_t{y} * width * 3, rgb.begin() + size_t{y + 1} * width * 3);
    }
    return result;
  }

  static std::vector<uint8_t> zlib_stored(const std::vector<uint8_t>& data) {
    std::vector<uint8_t> result = {0x78, 0x01};
    uint32_t a = 1, b = 0;
    for (uint8_t byte : data) {
      a = (a + byte) % 65521;
      b = (b + a) % 65521;
    }
    for (size_t begin = 0; begin < data.size(); begin += 65535) {
      size_t length = data.size() - begin < 65535 ? data.size() - begin : 65535;
      result.push_back(begin + length == data.size());
      for (size_t word : {length, ~length}) {
        result.push_back(static_cast<uint8_t>(word));
        result.push_back(static_cast<uint8_t>(word >> 8));
      }
      result.insert(result.end(), data.begin() + begin, data.begin() + begin + length);
    }
    put32(result, b << 16 | a);
    return result;
  }

  void chunk(const char* type, const std::vector<uint8_t>& data) {
    put32(bytes_, static_cast<uint32_t>(data.size()));
    size_t begin = bytes_.size();
    for (int i = 0; i < 4; ++i) bytes_.push_back(static_cast<uint8_t>(type[i]));
    bytes_.insert(bytes_.end(), data.begin(), data.end());
    uint32_t crc = 0xFFFFFFFFu;
    for (size_t i = begin; i < bytes_.size(); ++i) {
      crc ^= bytes_[i];
      for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    }
    put32(bytes_, ~crc);
  }

  std::vector<uint8_t> bytes_;
};
