// Loaded into mysqld (LD_PRELOAD): shifts its wall clock by the milliseconds in the first eight bytes of CLOCK_FILE, at any
// time. Monotonic time is unchanged.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t none, *offset_ms = &none;

__attribute__((constructor)) static void begin(void) {
  int file = open(getenv("CLOCK_FILE") ?: "", O_RDONLY);
  void *map = file < 0 ? MAP_FAILED : mmap(0, 8, PROT_READ, MAP_SHARED, file, 0);
  if (map != MAP_FAILED) offset_ms = map;
}

static void shift(struct timespec *at, int64_t ms) {
  int64_t ns = at->tv_sec * 1000000000LL + at->tv_nsec + ms * 1000000;
  at->tv_sec = ns / 1000000000;
  at->tv_nsec = ns % 1000000000;
}

int clock_gettime(clockid_t id, struct timespec *at) {
  int failed = syscall(SYS_clock_gettime, id, at);
  if (!failed && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) shift(at, *offset_ms);
  return failed;
}

int gettimeofday(struct timeval *at, void *zone) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  at->tv_sec = now.tv_sec;
  at->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *at) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return at ? (*at = now.tv_sec) : now.tv_sec;
}

// Deadlines of the kernel are by its own clock; small ones are monotonic.
int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *until) {
  static int (*wait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
  if (!wait) wait = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
  struct timespec real = *until;
  if (real.tv_sec > 1000000000) shift(&real, -*offset_ms);
  return wait(cond, mutex, &real);
}
