#include "threads.h"

#include <pthread.h>
#include <stdlib.h>

static void *wait_for_release(void *gate) {
  // Holding it for a moment is enough: until the release nobody gets here.
  pthread_mutex_lock(gate);
  pthread_mutex_unlock(gate);
  return NULL;
}

int cheif_startable_threads(int wanted) {
  pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
  pthread_t *threads = malloc((size_t)wanted * sizeof *threads);
  if (threads == NULL) return 0;
  int started = 0;
  pthread_mutex_lock(&gate);
  while (started < wanted && pthread_create(&threads[started], NULL, wait_for_release, &gate) == 0) started++;
  pthread_mutex_unlock(&gate);
  for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
  pthread_mutex_destroy(&gate);
  free(threads);
  return started;
}
