// A picture in memory becomes pixels in memory: rows are written where they are to stay, and nothing is encoded. The
// pixels are printed as a PPM, to see something. C++17; build it with `make`, where `pkg-config downsample` works.
//
//     ./pixels photo.jpg > small.ppm

#include <downsample.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

struct Pixels {
  int width = 0, height = 0;
  std::vector<char> bytes;
};

// Called once, with the size that comes. No exception may leave it.
std::int32_t begin(void *user, const dsm_pixels *pixels, dsm_pixel_memory *memory) {
  auto &result = *static_cast<Pixels *>(user);
  try {
    result = {pixels->width, pixels->height, std::vector<char>(pixels->row_size * pixels->height)};
  } catch (const std::bad_alloc &) {
    return 1;
  }
  memory->bytes = result.bytes.data();
  memory->size = result.bytes.size();
  memory->stride = pixels->row_size;
  return 0;
}

Pixels downsampled(const std::vector<char> &file, int longestSide) {
  const std::unique_ptr<dsm_job, void (*)(dsm_job *)> job(dsm_job_create(), dsm_job_destroy);
  const auto check = [&](dsm_status status) {
    if (status != DSM_OK) throw std::runtime_error(dsm_job_message(job.get()));
  };
  Pixels result;
  dsm_row_sink sink = DSM_ROW_SINK_INIT;
  sink.begin = begin;
  sink.user = &result;
  dsm_rendition rendition = DSM_RENDITION_INIT;
  rendition.max_pixel_size = longestSide;
  rendition.color = DSM_COLOR_SRGB;
  check(dsm_job_set_input_bytes(job.get(), file.data(), file.size()));
  check(dsm_job_add_rows(job.get(), &rendition, DSM_PIXELS_RGB8, &sink));
  check(dsm_job_run(job.get()));
  return result;
}

int main(int argc, char **argv) try {
  if (argc != 2) throw std::runtime_error("usage: pixels PICTURE > OUTPUT.ppm");
  std::ifstream input(argv[1], std::ios::binary);
  if (!input) throw std::runtime_error(std::string("cannot open ") + argv[1]);
  const Pixels pixels = downsampled({std::istreambuf_iterator<char>(input), {}}, 512);
  std::cout << "P6\n" << pixels.width << ' ' << pixels.height << "\n255\n";
  std::cout.write(pixels.bytes.data(), static_cast<std::streamsize>(pixels.bytes.size()));
  return std::cout.flush() ? 0 : 1;
} catch (const std::exception &error) {
  std::cerr << "pixels: " << error.what() << '\n';
  return 1;
}
