// A library that is preloaded into a program and makes one of its calls fail. tools/attack and the tests in this folder
// use it. It works only with glibc on Linux. Variables of the environment say what it does:
//
//   C63_FAULT=malloc:17     call 17 of malloc fails, counted from the start of main
//   C63_FAULT=malloc:17+    call 17 and all later ones fail
//   C63_FAULT=write:17!     call 17 of write writes half of its bytes, and then the program is killed
//   C63_FAULT=close:17!     the program is killed at call 17 of close (the same for other calls)
//   C63_FAULT_COUNT=FILE    writes the number of calls of the kind in C63_FAULT to FILE when main returns
//   C63_FAULT_TRACE=FILE    appends a line to FILE for each open, write, fsync, close and rename, in their order
//   C63_FAULT_SERVE=1       does not run main here, but in a child for each line of standard input; see serve()
//
// "malloc" means all functions that allocate. "open", "write" and "read" include their variants.

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// These functions are glibc's own allocator. They are declared here, because looking them up with dlsym() would
// allocate.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}

namespace {

enum class Call { none, malloc, write, read, open, close, fsync, rename, pthread_create, fstat };

struct Kind {
  const char* name;
  Call call;
  int code;  ///< the errno that the failing call sets
};
constexpr Kind kKinds[] = {{"malloc", Call::malloc, ENOMEM},
                           {"write", Call::write, ENOSPC},
                           {"read", Call::read, EIO},
                           {"open", Call::open, EMFILE},
                           {"close", Call::close, EIO},
                           {"fsync", Call::fsync, EIO},
                           {"rename", Call::rename, EIO},
                           {"pthread_create", Call::pthread_create, EAGAIN},
                           {"fstat", Call::fstat, EIO}};

std::atomic<bool> running = false;  // main has started and not returned
std::atomic<long> calls = 0;
Call failing = Call::none;
int failure_code = 0;
long first = 0;
bool from_there_on = false;
bool kills = false;
const char* count_path = nullptr;
int trace = -1;
int (*program_main)(int, char**, char**) = nullptr;

void set_fault(const char* wanted) {
  const std::size_t length = std::strcspn(wanted, ":");
  for (const Kind& kind : kKinds) {
    if (std::strncmp(kind.name, wanted, length) != 0 || kind.name[length] != '\0') continue;
    failing = kind.call;
    failure_code = kind.code;
    char* end = nullptr;
    first = wanted[length] == ':' ? std::strtol(wanted + length + 1, &end, 10) : 0;
    from_there_on = end != nullptr && *end == '+';
    kills = end != nullptr && *end == '!';
  }
}

void read_environment() {
  count_path = std::getenv("C63_FAULT_COUNT");
  if (const char* path = std::getenv("C63_FAULT_TRACE")) {
    trace = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  }
  if (const char* wanted = std::getenv("C63_FAULT")) set_fault(wanted);
}

/// Counts this call, and returns true if C63_FAULT says that it must fail.
bool fails(Call call) {
  if (call != failing || !running) return false;
  const long number = ++calls;
  if (first == 0 || (from_there_on ? number < first : number != first)) return false;
  if (kills && call != Call::write) ::raise(SIGKILL);
  errno = failure_code;
  return true;
}

/// Replaces a write() that must fail: returns an error, or writes half of the bytes and kills the program.
ssize_t failing_write(int descriptor, const void* bytes, std::size_t count) {
  if (!kills) return -1;
  static_cast<void>(::syscall(SYS_write, descriptor, bytes, count / 2));
  ::raise(SIGKILL);
  return -1;
}

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

void note(const char* call, const char* what, int descriptor) {
  if (trace < 0 || !running) return;
  char link[64];
  char target[512];
  if (what == nullptr) {
    std::snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    const ssize_t length = ::readlink(link, target, sizeof target - 1);
    target[length < 0 ? 0 : length] = '\0';
    what = target;
  }
  char line[600];
  const int length = std::snprintf(line, sizeof line, "%s %s\n", call, what);
  static_cast<void>(::syscall(SYS_write, trace, line, static_cast<std::size_t>(length)));
}

void redirect(int descriptor, const char* path, int flags) {
  const auto file = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, 0600));
  if (file < 0 || ::dup2(file, descriptor) < 0) ::_exit(127);
  ::syscall(SYS_close, file);
}

/// Runs main many times, in child processes. This saves loading the program and its libraries for each run, which takes
/// longer than a small run. Each line of standard input has these words, with tabs between them:
///
///   FAULT SECONDS FOLDER INPUT OUTPUT ERRORS COUNT
///
/// For each line, a child runs main in FOLDER, for at most SECONDS. FAULT is a value of C63_FAULT. INPUT, OUTPUT and ERRORS
/// are the files for standard input, output and error, COUNT the file for the number of calls. The answer, on standard
/// output, is the child's status from waitpid(). This function returns only in the children. The process itself ends when
/// its input ends.
void serve() {
  static char line[8192];
  for (;;) {
    std::size_t length = 0;
    while (length + 1 < sizeof line && ::syscall(SYS_read, STDIN_FILENO, line + length, 1) == 1 && line[length] != '\n') ++length;
    if (length == 0 || length + 1 == sizeof line) ::_exit(length == 0 ? 0 : 127);
    line[length] = '\0';
    const pid_t child = ::fork();
    if (child == 0) {
      const char* fields[7] = {};
      char* rest = line;
      for (const char*& field : fields) field = ::strsep(&rest, "\t");
      if (fields[6] == nullptr || ::chdir(fields[2]) != 0) ::_exit(127);
      redirect(STDIN_FILENO, fields[3], O_RDONLY);
      redirect(STDOUT_FILENO, fields[4], O_WRONLY | O_CREAT | O_TRUNC);
      redirect(STDERR_FILENO, fields[5], O_WRONLY | O_CREAT | O_TRUNC);
      ::alarm(static_cast<unsigned>(std::atoi(fields[1])));
      set_fault(fields[0]);
      if (*fields[6] != '\0') count_path = fields[6];
      return;
    }
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) != child) ::_exit(127);
    char text[32];
    const int digits = std::snprintf(text, sizeof text, "%d\n", status);
    if (::syscall(SYS_write, STDOUT_FILENO, text, static_cast<std::size_t>(digits)) != digits) ::_exit(127);
  }
}

int counted_main(int argc, char** argv, char** environment) {
  if (std::getenv("C63_FAULT_SERVE") != nullptr) serve();
  running = true;
  const int code = program_main(argc, argv, environment);
  running = false;
  if (count_path != nullptr) {
    char text[32];
    const int length = std::snprintf(text, sizeof text, "%ld\n", calls.load());
    const int file = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, count_path, O_WRONLY | O_CREAT | O_TRUNC, 0600));
    static_cast<void>(::syscall(SYS_write, file, text, static_cast<std::size_t>(length)));
    ::syscall(SYS_close, file);
  }
  return code;
}

}  // namespace

extern "C" {

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(), void (*fini)(),
                      void (*rtld_fini)(), void* stack_end) {
  read_environment();
  program_main = main;
  return next<decltype(&__libc_start_main)>("__libc_start_main")(counted_main, argc, argv, init, fini, rtld_fini, stack_end);
}

void* malloc(std::size_t size) { return fails(Call::malloc) ? nullptr : __libc_malloc(size); }
void* calloc(std::size_t count, std::size_t size) { return fails(Call::malloc) ? nullptr : __libc_calloc(count, size); }
void* realloc(void* memory, std::size_t size) { return fails(Call::malloc) ? nullptr : __libc_realloc(memory, size); }
void* memalign(std::size_t alignment, std::size_t size) {
  return fails(Call::malloc) ? nullptr : __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  void* const got = memalign(alignment, size);
  if (got == nullptr) return ENOMEM;
  *memory = got;
  return 0;
}

ssize_t write(int descriptor, const void* bytes, std::size_t count) {
  note("write", nullptr, descriptor);
  return fails(Call::write) ? failing_write(descriptor, bytes, count) : ::syscall(SYS_write, descriptor, bytes, count);
}
ssize_t writev(int descriptor, const iovec* parts, int count) {
  return fails(Call::write) ? failing_write(descriptor, parts[0].iov_base, parts[0].iov_len)
                            : ::syscall(SYS_writev, descriptor, parts, count);
}
ssize_t read(int descriptor, void* bytes, std::size_t count) {
  return fails(Call::read) ? -1 : ::syscall(SYS_read, descriptor, bytes, count);
}
ssize_t pread(int descriptor, void* bytes, std::size_t count, off_t offset) {
  return fails(Call::read) ? -1 : ::syscall(SYS_pread64, descriptor, bytes, count, offset);
}
ssize_t pread64(int descriptor, void* bytes, std::size_t count, off64_t offset) {
  return pread(descriptor, bytes, count, offset);
}

int open(const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  note("open", path, -1);
  return fails(Call::open) ? -1 : static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}
int open64(const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return open(path, flags, mode);
}
int close(int descriptor) {
  note("close", nullptr, descriptor);
  // A real close() that fails has closed the descriptor nevertheless. This one does the same.
  const bool fault = fails(Call::close);
  const int code = errno;
  const int closed = static_cast<int>(::syscall(SYS_close, descriptor));
  if (!fault) return closed;
  errno = code;
  return -1;
}
int fsync(int descriptor) {
  note("fsync", nullptr, descriptor);
  return fails(Call::fsync) ? -1 : static_cast<int>(::syscall(SYS_fsync, descriptor));
}
int rename(const char* from, const char* to) noexcept {
  note("rename", to, -1);
  return fails(Call::rename) ? -1 : static_cast<int>(::syscall(SYS_rename, from, to));
}
int fstat(int descriptor, struct stat* status) noexcept {
  return fails(Call::fstat) ? -1 : static_cast<int>(::syscall(SYS_fstat, descriptor, status));
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) noexcept {
  if (fails(Call::pthread_create)) return EAGAIN;
  static const auto real = next<decltype(&pthread_create)>("pthread_create");
  return real(thread, attributes, start, argument);
}

}  // extern "C"
