/* PNG with stored (uncompressed) deflate blocks: a few checksums instead of a dependency. */
#include "png.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kLargestStoredBlock = 65535 };

static unsigned char* put_u32(unsigned char* at, uint32_t v) {
  *at++ = (unsigned char)(v >> 24);
  *at++ = (unsigned char)(v >> 16);
  *at++ = (unsigned char)(v >> 8);
  *at++ = (unsigned char)v;
  return at;
}

static uint32_t crc32_of(const unsigned char* data, size_t n) {
  uint32_t crc = 0xffffffffu;
  for (size_t i = 0; i < n; i++) {
    crc ^= data[i];
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  }
  return ~crc;
}

static uint32_t adler32_of(const unsigned char* data, size_t n) {
  uint32_t a = 1, b = 0;
  for (size_t i = 0; i < n; i++) {
    a = (a + data[i]) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

/* One chunk: length, type, data, checksum of type and data. `box` starts with room for length and type. */
static int write_chunk(FILE* out, const char* type, unsigned char* box, size_t n) {
  put_u32(box, (uint32_t)n);
  memcpy(box + 4, type, 4);
  put_u32(box + 8 + n, crc32_of(box + 4, n + 4));
  return fwrite(box, 1, n + 12, out) == n + 12 ? 0 : -1;
}

/* zlib stream of the rows, each led by filter byte 0. Returns the bytes written to `to`. */
static size_t store_rows(unsigned char* to, int width, int height, const unsigned char* pixels, unsigned char* raw) {
  const size_t row = (size_t)width + 1, total = row * (size_t)height;
  for (size_t y = 0; y < (size_t)height; y++) {
    raw[y * row] = 0;
    memcpy(raw + y * row + 1, pixels + y * (size_t)width, (size_t)width);
  }
  unsigned char* at = to;
  *at++ = 0x78;
  *at++ = 0x01;
  for (size_t done = 0; done < total;) {
    const size_t n = total - done < kLargestStoredBlock ? total - done : kLargestStoredBlock;
    *at++ = done + n == total;
    *at++ = (unsigned char)n;
    *at++ = (unsigned char)(n >> 8);
    *at++ = (unsigned char)~n;
    *at++ = (unsigned char)(~n >> 8);
    memcpy(at, raw + done, n);
    at += n;
    done += n;
  }
  return (size_t)(put_u32(at, adler32_of(raw, total)) - to);
}

int png_write(const char* path, int width, int height, const unsigned char* pixels, const unsigned char* palette) {
  static const unsigned char signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  const size_t raw_size = ((size_t)width + 1) * (size_t)height;
  const size_t room = raw_size + 5 * (raw_size / kLargestStoredBlock + 1) + 1024;
  unsigned char* raw = malloc(raw_size);
  unsigned char* box = malloc(room);
  FILE* out = fopen(path, "wb");
  int failed = !raw || !box || !out || fwrite(signature, 1, 8, out) != 8;

  if (!failed) {
    unsigned char* at = put_u32(put_u32(box + 8, (uint32_t)width), (uint32_t)height);
    memcpy(at, "\x08\x03\x00\x00\x00", 5); /* 8 bits, palette, deflate, filters by row, not interlaced */
    failed |= write_chunk(out, "IHDR", box, 13);
    memcpy(box + 8, palette, 768);
    failed |= write_chunk(out, "PLTE", box, 768);
    failed |= write_chunk(out, "IDAT", box, store_rows(box + 8, width, height, pixels, raw));
    failed |= write_chunk(out, "IEND", box, 0);
  }
  if (out && fclose(out) != 0) failed = 1;
  free(raw);
  free(box);
  return failed ? -1 : 0;
}
