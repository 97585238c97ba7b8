/*
 * Three sizes of one picture out of one decode. Build it with `make`, where `pkg-config downsample` works, and run
 *
 *     ./three-sizes photo.heic
 *
 * which writes photo.heic-256.jpg, photo.heic-1024.jpg and photo.heic-2048.jpg.
 */
#include <downsample.h>
#include <stdio.h>

int main(int argc, char **argv) {
  const int sizes[] = {256, 1024, 2048};
  const size_t count = sizeof sizes / sizeof sizes[0];

  if (argc != 2) {
    fprintf(stderr, "usage: three-sizes PICTURE\n");
    return DSM_USAGE;
  }
  /* Before anything large is allocated: what is freed then goes back to the system, and predictions hold. */
  dsm_configure_process();

  dsm_job *job = dsm_job_create();
  dsm_status status = dsm_job_set_input_path(job, argv[1]);
  for (size_t i = 0; status == DSM_OK && i < count; i++) {
    dsm_rendition rendition = DSM_RENDITION_INIT;
    char name[4096];
    rendition.max_pixel_size = sizes[i];
    if (snprintf(name, sizeof name, "%s-%d.jpg", argv[1], sizes[i]) >= (int)sizeof name) return DSM_USAGE;
    status = dsm_job_add_path(job, &rendition, name, 0);
  }
  if (status == DSM_OK) status = dsm_job_run(job);
  if (status != DSM_OK) fprintf(stderr, "%s: %s (%s)\n", argv[1], dsm_job_message(job), dsm_status_name(status));

  for (size_t i = 0; dsm_job_warning(job, i); i++) {
    fprintf(stderr, "%s: warning: %s\n", argv[1], dsm_job_warning(job, i));
  }
  for (size_t i = 0; status == DSM_OK && i < count; i++) {
    dsm_output output = DSM_OUTPUT_INIT;
    status = dsm_job_output(job, i, &output);
    printf("%dx%d, %llu bytes\n", (int)output.width, (int)output.height, (unsigned long long)output.byte_count);
  }
  printf("peak %.1f MB\n", (double)dsm_peak_resident_bytes() / (1 << 20));
  dsm_job_destroy(job);
  return (int)status;
}
