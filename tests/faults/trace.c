// Preloaded into a process, this library logs every change of files below one folder, with the data
// that were written, and what was synced: enough to tell what a disk may hold after a power loss.
//
// `trace_start` starts the log. Nothing is really synced. A record of the log is a line "kind inode
// offset length path", where the path begins below the folder, followed by `length` bytes. The
// second path of a rename are such bytes.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static char folder[PATH_MAX];
static size_t folder_length;
static int log_handle = -1;
// The order of the log is that of the changes, whichever threads make them.
static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;

static void put(const void *data, size_t size) {
    const char *next = data;
    while (size > 0) {
        const ssize_t done = syscall(SYS_write, log_handle, next, size);
        if (done <= 0) _exit(98);
        next += done;
        size -= (size_t)done;
    }
}

static void put_record(const char *kind, ino_t inode, off_t offset, const char *path,
                       const void *data, size_t size) {
    char line[PATH_MAX + 128];
    const int length = snprintf(line, sizeof line, "%s %llu %lld %zu %s\n", kind,
                                (unsigned long long)inode, (long long)offset, size, path);
    put(line, (size_t)length);
    put(data, size);
}

// Logs changes below `prefix` from now on to the handle `log`.
void trace_start(const char *prefix, int log) {
    snprintf(folder, sizeof folder, "%s", prefix);
    folder_length = strlen(folder);
    log_handle = log;
}

// Logs a moment of the process, such as that a request was acknowledged.
void trace_mark(const char *text) {
    pthread_mutex_lock(&order);
    put_record("mark", 0, 0, "", text, strlen(text));
    pthread_mutex_unlock(&order);
}

// Finds the path below the folder of a named file, or of an open file (name NULL). Returns NULL if
// it is elsewhere.
static const char *below(int handle, const char *name, char *out) {
    if (folder_length == 0) return NULL;
    const int before = errno;
    if (name != NULL && name[0] == '/') {
        snprintf(out, PATH_MAX, "%s", name);
    } else {
        char link[64];
        if (handle == AT_FDCWD)
            snprintf(link, sizeof link, "/proc/self/cwd");
        else
            snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
        const ssize_t length = syscall(SYS_readlink, link, out, PATH_MAX - 1);
        out[length < 0 ? 0 : length] = '\0';
        if (name != NULL && length > 0)
            snprintf(out + length, PATH_MAX - (size_t)length, "/%s", name);
    }
    errno = before;
    if (strncmp(out, folder, folder_length) != 0) return NULL;
    if (out[folder_length] != '/' && out[folder_length] != '\0') return NULL;
    return out + folder_length;
}

static ino_t inode_of(int handle) {
    struct stat about;
    const int before = errno;
    const int result = fstat(handle, &about);
    errno = before;
    return result == 0 ? about.st_ino : 0;
}

// One change: `real` is done, and logged if it succeeds, before another thread changes anything.
#define LOGGED(handle, name, real, log_it)                  \
    char room[PATH_MAX];                                    \
    const char *path = below(handle, name, room);           \
    if (path == NULL) return (real);                        \
    pthread_mutex_lock(&order);                             \
    const long result = (real);                             \
    if (result >= 0) log_it;                                \
    pthread_mutex_unlock(&order);                           \
    return result

static int open_at(int at, const char *name, int flags, mode_t mode) {
    if (!(flags & (O_CREAT | O_TRUNC))) return (int)syscall(SYS_openat, at, name, flags, mode);
    const int before = errno;
    const int is_new = syscall(SYS_faccessat, at, name, F_OK) != 0;
    errno = before;
    LOGGED(at, name, syscall(SYS_openat, at, name, flags, mode), {
        if (is_new)
            put_record("create", inode_of((int)result), 0, path, "", 0);
        else if (flags & O_TRUNC)
            put_record("truncate", inode_of((int)result), 0, path, "", 0);
    });
}

#define OPEN(function)                                              \
    int function(const char *name, int flags, ...) {                \
        va_list rest;                                               \
        va_start(rest, flags);                                      \
        const mode_t mode = va_arg(rest, mode_t);                   \
        va_end(rest);                                               \
        return open_at(AT_FDCWD, name, flags, mode);                \
    }
OPEN(open)
OPEN(open64)

#define OPEN_AT(function)                                           \
    int function(int at, const char *name, int flags, ...) {        \
        va_list rest;                                               \
        va_start(rest, flags);                                      \
        const mode_t mode = va_arg(rest, mode_t);                   \
        va_end(rest);                                               \
        return open_at(at, name, flags, mode);                      \
    }
OPEN_AT(openat)
OPEN_AT(openat64)

ssize_t pwrite(int handle, const void *data, size_t size, off_t at) {
    LOGGED(handle, NULL, syscall(SYS_pwrite64, handle, data, size, at),
           put_record("write", inode_of(handle), at, path, data, (size_t)result));
}
ssize_t pwrite64(int handle, const void *data, size_t size, off_t at) {
    return pwrite(handle, data, size, at);
}
// The position after the write says where it went, also in a file that is only appended to.
ssize_t write(int handle, const void *data, size_t size) {
    LOGGED(handle, NULL, syscall(SYS_write, handle, data, size),
           put_record("write", inode_of(handle), lseek(handle, 0, SEEK_CUR) - result, path, data,
                      (size_t)result));
}
// Short, which every caller has to expect: one part per call.
ssize_t writev(int handle, const struct iovec *parts, int size) {
    return size > 0 ? write(handle, parts[0].iov_base, parts[0].iov_len) : 0;
}
int ftruncate(int handle, off_t size) {
    LOGGED(handle, NULL, syscall(SYS_ftruncate, handle, size),
           put_record("truncate", inode_of(handle), size, path, "", 0));
}
int ftruncate64(int handle, off_t size) { return ftruncate(handle, size); }
int fsync(int handle) {
    LOGGED(handle, NULL, 0, put_record("sync", inode_of(handle), 0, path, "", 0));
}
int fdatasync(int handle) { return fsync(handle); }

int renameat2(int from, const char *old, int to, const char *name, unsigned int flags) {
    char target_room[PATH_MAX];
    const char *target = below(to, name, target_room);
    LOGGED(from, old, syscall(SYS_renameat2, from, old, to, name, flags),
           if (target != NULL) put_record("rename", 0, 0, path, target, strlen(target)));
}
int renameat(int from, const char *old, int to, const char *name) {
    return renameat2(from, old, to, name, 0);
}
int rename(const char *old, const char *name) {
    return renameat2(AT_FDCWD, old, AT_FDCWD, name, 0);
}
int unlinkat(int at, const char *name, int flags) {
    LOGGED(at, name, syscall(SYS_unlinkat, at, name, flags),
           put_record("unlink", 0, 0, path, "", 0));
}
int unlink(const char *name) { return unlinkat(AT_FDCWD, name, 0); }
int rmdir(const char *name) { return unlinkat(AT_FDCWD, name, AT_REMOVEDIR); }
int mkdirat(int at, const char *name, mode_t mode) {
    LOGGED(at, name, syscall(SYS_mkdirat, at, name, mode),
           put_record("mkdir", 0, 0, path, "", 0));
}
int mkdir(const char *name, mode_t mode) { return mkdirat(AT_FDCWD, name, mode); }
