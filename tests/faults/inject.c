// Preloaded into a process, this library counts the system calls on files below one folder, and
// lets one of them fail, write short, or kill the process.
//
// `faults_arm` starts the count. Calls on other paths, such as the imports of Python, are not
// counted. The functions here call the kernel directly, so they need no address of the functions
// they replace.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

// As in tests/faults/injection.py.
enum fault { NONE, FAIL, FAIL_FROM_HERE, SHORT, KILL_BEFORE, KILL_AFTER, KILL_HALFWAY };

static char folder[PATH_MAX];
static size_t folder_length;
static long calls, fault_at;
static enum fault fault;
static int fault_errno, log_handle = -1;

// Counts calls below `prefix` from now on; at call number `at`, counted from 1, the fault happens.
// Each call is logged as a line "kind path" to the handle `log`, unless it is negative.
void faults_arm(const char *prefix, long at, int what, int error, int log) {
    snprintf(folder, sizeof folder, "%s", prefix);
    calls = 0;
    fault_at = at;
    fault = (enum fault)what;
    fault_errno = error;
    log_handle = log;
    folder_length = strlen(folder);
}

long faults_calls(void) { return calls; }

static void kill_process(void) { syscall(SYS_kill, getpid(), SIGKILL); }

// The absolute path of a file that is named relative to a folder, or of an open file (name NULL).
static void absolute(int handle, const char *name, char *out) {
    out[0] = '\0';
    if (name != NULL && name[0] == '/') {
        snprintf(out, PATH_MAX, "%s", name);
        return;
    }
    char link[64];
    if (handle == AT_FDCWD)
        snprintf(link, sizeof link, "/proc/self/cwd");
    else
        snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
    const ssize_t length = syscall(SYS_readlink, link, out, PATH_MAX - 1);
    out[length < 0 ? 0 : length] = '\0';
    if (name != NULL && length > 0) snprintf(out + length, PATH_MAX - length, "/%s", name);
}

// Counts a call and returns the fault that it suffers.
static enum fault count(const char *kind, int needs_space, int handle, const char *name) {
    if (folder_length == 0) return NONE;
    const int before = errno;
    char path[PATH_MAX];
    absolute(handle, name, path);
    errno = before;
    if (strncmp(path, folder, folder_length) != 0) return NONE;
    if (path[folder_length] != '/' && path[folder_length] != '\0') return NONE;
    const long number = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
    if (log_handle >= 0) {
        char line[PATH_MAX + 32];
        const int length = snprintf(line, sizeof line, "%s %s\n", kind, path + folder_length);
        syscall(SYS_write, log_handle, line, length);
    }
    if (fault == FAIL_FROM_HERE)
        return number == fault_at || (number > fault_at && needs_space) ? FAIL : NONE;
    return number == fault_at ? fault : NONE;
}

// One call: `real` is evaluated unless the call fails or the process is killed before it.
#define SUFFER(kind, needs_space, handle, name, real)                           \
    const enum fault found = count(kind, needs_space, handle, name);            \
    if (found == KILL_BEFORE) kill_process();                                   \
    if (found == FAIL) {                                                        \
        errno = fault_errno;                                                    \
        return -1;                                                              \
    }                                                                           \
    const long result = (real);                                                 \
    if (found == KILL_AFTER || found == KILL_HALFWAY) kill_process();           \
    return result

// The number of bytes that a call is given: half of them for a short one.
static size_t part(enum fault found, size_t size) {
    return (found == SHORT || found == KILL_HALFWAY) && size > 1 ? size / 2 : size;
}

static int exists(int at, const char *path) {
    const int before = errno;
    const int found = syscall(SYS_faccessat, at, path, F_OK) == 0;
    errno = before;
    return found;
}

// A full disk has room for what exists already.
static int open_at(int at, const char *path, int flags, mode_t mode) {
    const int creates = flags & (O_CREAT | O_TRUNC) || (flags & O_TMPFILE) == O_TMPFILE;
    SUFFER(creates ? "create" : "open", creates && !exists(at, path), at, path,
           syscall(SYS_openat, at, path, flags, mode));
}

#define OPEN(name)                                                  \
    int name(const char *path, int flags, ...) {                    \
        va_list rest;                                               \
        va_start(rest, flags);                                      \
        const mode_t mode = va_arg(rest, mode_t);                   \
        va_end(rest);                                               \
        return open_at(AT_FDCWD, path, flags, mode);                \
    }
OPEN(open)
OPEN(open64)

#define OPEN_AT(name)                                               \
    int name(int at, const char *path, int flags, ...) {            \
        va_list rest;                                               \
        va_start(rest, flags);                                      \
        const mode_t mode = va_arg(rest, mode_t);                   \
        va_end(rest);                                               \
        return open_at(at, path, flags, mode);                      \
    }
OPEN_AT(openat)
OPEN_AT(openat64)

ssize_t read(int handle, void *out, size_t size) {
    SUFFER("read", 0, handle, NULL, syscall(SYS_read, handle, out, part(found, size)));
}
ssize_t pread(int handle, void *out, size_t size, off_t at) {
    SUFFER("read", 0, handle, NULL, syscall(SYS_pread64, handle, out, part(found, size), at));
}
ssize_t pread64(int handle, void *out, size_t size, off_t at) {
    return pread(handle, out, size, at);
}
ssize_t write(int handle, const void *data, size_t size) {
    SUFFER("write", 1, handle, NULL, syscall(SYS_write, handle, data, part(found, size)));
}
ssize_t pwrite(int handle, const void *data, size_t size, off_t at) {
    SUFFER("write", 1, handle, NULL, syscall(SYS_pwrite64, handle, data, part(found, size), at));
}
ssize_t pwrite64(int handle, const void *data, size_t size, off_t at) {
    return pwrite(handle, data, size, at);
}
ssize_t writev(int handle, const struct iovec *parts, int size) {
    SUFFER("write", 1, handle, NULL,
           part(found, 2) == 1 ? syscall(SYS_write, handle, parts[0].iov_base,
                                         part(found, parts[0].iov_len))
                               : syscall(SYS_writev, handle, parts, size));
}
// Nothing is synced: a killed process leaves what it has written, and a disk would only take time.
int fsync(int handle) { SUFFER("fsync", 1, handle, NULL, 0); }
int fdatasync(int handle) { return fsync(handle); }
int ftruncate(int handle, off_t size) {
    struct stat about;
    const int grows = fstat(handle, &about) == 0 && about.st_size < size;
    SUFFER("truncate", grows, handle, NULL, syscall(SYS_ftruncate, handle, size));
}
int ftruncate64(int handle, off_t size) { return ftruncate(handle, size); }

// Locks of parts of a file, as SQLite uses them. Other commands pass, and so does the release of a
// lock, which a kernel does not refuse.
static int takes_lock(int command, const void *argument) {
    return (command == F_SETLK || command == F_SETLKW) &&
           ((const struct flock *)argument)->l_type != F_UNLCK;
}
#define FCNTL(name)                                                             \
    int name(int handle, int command, ...) {                                    \
        va_list rest;                                                           \
        va_start(rest, command);                                                \
        void *argument = va_arg(rest, void *);                                  \
        va_end(rest);                                                           \
        if (!takes_lock(command, argument))                                     \
            return syscall(SYS_fcntl, handle, command, argument);               \
        SUFFER("lock", 0, handle, NULL, syscall(SYS_fcntl, handle, command, argument)); \
    }
FCNTL(fcntl)
FCNTL(fcntl64)
int flock(int handle, int operation) {
    SUFFER("flock", 0, handle, NULL, syscall(SYS_flock, handle, operation));
}
int fchmod(int handle, mode_t mode) {
    SUFFER("chmod", 0, handle, NULL, syscall(SYS_fchmod, handle, mode));
}
int chmod(const char *path, mode_t mode) {
    SUFFER("chmod", 0, AT_FDCWD, path, syscall(SYS_chmod, path, mode));
}
int fchmodat(int at, const char *path, mode_t mode, int flags) {
    (void)flags;
    SUFFER("chmod", 0, at, path, syscall(SYS_fchmodat, at, path, mode));
}
int utimensat(int at, const char *path, const struct timespec times[2], int flags) {
    SUFFER("utime", 0, at, path, syscall(SYS_utimensat, at, path, times, flags));
}
int futimens(int handle, const struct timespec times[2]) {
    SUFFER("utime", 0, handle, NULL, syscall(SYS_utimensat, handle, NULL, times, 0));
}

int renameat2(int from, const char *old, int to, const char *path, unsigned int flags) {
    SUFFER("rename", 1, to, path, syscall(SYS_renameat2, from, old, to, path, flags));
}
int renameat(int from, const char *old, int to, const char *path) {
    return renameat2(from, old, to, path, 0);
}
int rename(const char *old, const char *path) {
    return renameat2(AT_FDCWD, old, AT_FDCWD, path, 0);
}
int linkat(int from, const char *old, int to, const char *path, int flags) {
    SUFFER("link", 1, to, path, syscall(SYS_linkat, from, old, to, path, flags));
}
int link(const char *old, const char *path) { return linkat(AT_FDCWD, old, AT_FDCWD, path, 0); }
int unlinkat(int at, const char *path, int flags) {
    SUFFER("unlink", 0, at, path, syscall(SYS_unlinkat, at, path, flags));
}
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int mkdirat(int at, const char *path, mode_t mode) {
    SUFFER("mkdir", 1, at, path, syscall(SYS_mkdirat, at, path, mode));
}
int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

// Whether closing a file can report that data are lost: it was written, and it has a name.
static int can_lose_data(int handle) {
    struct stat about;
    const int flags = fcntl(handle, F_GETFL);
    return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && fstat(handle, &about) == 0 &&
           about.st_nlink > 0;
}

// A file is closed even if closing it reports an error.
int close(int handle) {
    const int before = errno;
    const enum fault found =
        folder_length > 0 && can_lose_data(handle) ? count("close", 0, handle, NULL) : NONE;
    errno = before;
    if (found == KILL_BEFORE) kill_process();
    const long result = syscall(SYS_close, handle);
    if (found == KILL_AFTER) kill_process();
    if (found != FAIL) return result;
    errno = fault_errno;
    return -1;
}
