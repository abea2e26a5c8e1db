// Faults in system calls, for files below one folder: the n-th call of a kind fails, is cut short, or ends the process.
//
// Loaded by LD_PRELOAD; armed by fault_arm() from the process itself. Calls on other files are passed on uncounted.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { OPEN, READ, WRITE, RENAME, SYNC, UNLINK, CLOSE, KINDS };
static const char* const kNames[KINDS] = {"open", "read", "write", "rename", "fsync", "unlink", "close"};
static char folder[PATH_MAX];
static size_t folder_length;
static unsigned char watched[1 << 16];
static long counts[KINDS];
static int wanted = -1;
static long place;
static int error_number;  // 0: none
static int signal_number;
static int cut;

#define NEXT(type, name)          \
  static __typeof__(type) real;   \
  if (!real) real = (type)dlsym(RTLD_NEXT, name)

// Watch files below `where`; the `n`-th call of the kind `call` (1 is the first) gets the fault: an error number, or a
// signal, or only a part of its bytes.
void fault_arm(const char* where, const char* call, long n, int error, int number, int shorter) {
  strncpy(folder, where, sizeof folder - 1);
  folder_length = strlen(folder);
  memset(counts, 0, sizeof counts);
  memset(watched, 0, sizeof watched);
  wanted = -1;
  for (int k = 0; k < KINDS; ++k)
    if (call && strcmp(call, kNames[k]) == 0) wanted = k;
  place = n, error_number = error, signal_number = number, cut = shorter;
}

long fault_count(const char* call) {
  for (int k = 0; k < KINDS; ++k)
    if (strcmp(call, kNames[k]) == 0) return counts[k];
  return -1;
}

// What to do with this call: 0 to go on, 1 to fail with errno, 2 to go on with fewer bytes.
static int fault(int kind) {
  const long now = __atomic_add_fetch(&counts[kind], 1, __ATOMIC_SEQ_CST);
  if (kind != wanted || now != place) return 0;
  if (signal_number) raise(signal_number);
  if (error_number) {
    errno = error_number;
    return 1;
  }
  return cut ? 2 : 0;
}

static int below(const char* path) {
  if (!folder_length || !path) return 0;
  if (path[0] != '/') {  // the tests work with absolute paths; relative ones are those of the folder itself
    char here[PATH_MAX];
    return getcwd(here, sizeof here) && strncmp(here, folder, folder_length) == 0;
  }
  return strncmp(path, folder, folder_length) == 0;
}

static int known(int fd) { return folder_length && fd >= 0 && fd < (int)sizeof watched && watched[fd]; }

static void keep(int fd, int is) {
  if (fd >= 0 && fd < (int)sizeof watched) watched[fd] = (unsigned char)is;
}

#define OPENER(name)                                                    \
  int name(const char* path, int flags, ...) {                          \
    NEXT(int (*)(const char*, int, ...), #name);                        \
    va_list rest;                                                       \
    va_start(rest, flags);                                              \
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0; \
    va_end(rest);                                                       \
    const int ours = below(path);                                       \
    if (ours && fault(OPEN) == 1) return -1;                            \
    const int fd = real(path, flags, mode);                             \
    keep(fd, ours);                                                     \
    return fd;                                                          \
  }
OPENER(open)
OPENER(open64)

#define OPENER_AT(name)                                                 \
  int name(int at, const char* path, int flags, ...) {                  \
    NEXT(int (*)(int, const char*, int, ...), #name);                   \
    va_list rest;                                                       \
    va_start(rest, flags);                                              \
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0; \
    va_end(rest);                                                       \
    const int ours = at == AT_FDCWD && below(path);                     \
    if (ours && fault(OPEN) == 1) return -1;                            \
    const int fd = real(at, path, flags, mode);                         \
    keep(fd, ours);                                                     \
    return fd;                                                          \
  }
OPENER_AT(openat)
OPENER_AT(openat64)

static size_t part(size_t n) { return n > 1 ? n / 2 : n; }

ssize_t read(int fd, void* data, size_t n) {
  NEXT(ssize_t(*)(int, void*, size_t), "read");
  const int how = known(fd) ? fault(READ) : 0;
  return how == 1 ? -1 : real(fd, data, how == 2 ? part(n) : n);
}

ssize_t write(int fd, const void* data, size_t n) {
  NEXT(ssize_t(*)(int, const void*, size_t), "write");
  const int how = known(fd) ? fault(WRITE) : 0;
  return how == 1 ? -1 : real(fd, data, how == 2 ? part(n) : n);
}

#define AT_PLACE(name, kind, pointer)                                        \
  ssize_t name(int fd, pointer data, size_t n, off_t at) {                   \
    NEXT(ssize_t(*)(int, pointer, size_t, off_t), #name);                    \
    const int how = known(fd) ? fault(kind) : 0;                             \
    return how == 1 ? -1 : real(fd, data, how == 2 ? part(n) : n, at);       \
  }
AT_PLACE(pread, READ, void*)
AT_PLACE(pread64, READ, void*)
AT_PLACE(pwrite, WRITE, const void*)
AT_PLACE(pwrite64, WRITE, const void*)

int rename(const char* from, const char* to) {
  NEXT(int (*)(const char*, const char*), "rename");
  return below(to) && fault(RENAME) == 1 ? -1 : real(from, to);
}

int renameat(int a, const char* from, int b, const char* to) {
  NEXT(int (*)(int, const char*, int, const char*), "renameat");
  return below(to) && fault(RENAME) == 1 ? -1 : real(a, from, b, to);
}

int fsync(int fd) {
  NEXT(int (*)(int), "fsync");
  return known(fd) && fault(SYNC) == 1 ? -1 : real(fd);
}

int fdatasync(int fd) {
  NEXT(int (*)(int), "fdatasync");
  return known(fd) && fault(SYNC) == 1 ? -1 : real(fd);
}

int unlink(const char* path) {
  NEXT(int (*)(const char*), "unlink");
  return below(path) && fault(UNLINK) == 1 ? -1 : real(path);
}

int close(int fd) {
  NEXT(int (*)(int), "close");
  const int ours = known(fd);
  keep(fd, 0);
  if (ours && fault(CLOSE) == 1) {  // as the system does it: the file is closed, and the error told
    const int told = errno;
    real(fd);
    errno = told;
    return -1;
  }
  return real(fd);
}
