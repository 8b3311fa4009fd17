#include "tool/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tool/util.h"

#define SCRIPTS_MOST 4
#define HEAD_BYTES   256 /* what the kernel reads of a script (BINPRM_BUF_SIZE) */
#define SHELL        "/bin/sh"

/* ---- finding the file ------------------------------------------------------------------------ */

/* 0, or why the file cannot be run. */
static int check_runnable(const char *path)
{
    struct stat info;

    if (stat(path, &info) != 0)
        return errno;
    if (S_ISDIR(info.st_mode))
        return EISDIR;
    if (!S_ISREG(info.st_mode) || faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) != 0)
        return EACCES;
    return 0;
}

static const char *search_path(void)
{
    static char preset[256];
    const char *path = getenv("PATH");

    if (path != NULL)
        return path;
    if (confstr(_CS_PATH, preset, sizeof preset) == 0)
        return "/bin:/usr/bin";
    return preset;
}

/* As execvp: the first folder whose file can be run; one that cannot is passed over, and remembered
 * for the message. NULL with *error. */
static char *find_program(const char *name, int *error)
{
    const char *at = search_path();

    if (name[0] == '\0' || strchr(name, '/') != NULL) {
        *error = name[0] == '\0' ? ENOENT : check_runnable(name);
        return *error == 0 ? xstrdup(name) : NULL;
    }
    for (*error = ENOENT;; at++) {
        const size_t length = strcspn(at, ":");
        char *path =
            length == 0 ? xasprintf("./%s", name) : xasprintf("%.*s/%s", (int)length, at, name);
        const int trouble = check_runnable(path);
        if (trouble == 0)
            return path;
        if (trouble == EACCES && access(path, F_OK) == 0) /* not: a folder that we cannot enter */
            *error = trouble;
        free(path);
        at += length;
        if (*at == '\0')
            return NULL;
    }
}

/* ---- the ELF file ---------------------------------------------------------------------------- */

typedef struct elf_file {
    ElfW(Ehdr) header;          /* of another class, only e_ident and e_machine make sense */
    char interpreter[PATH_MAX]; /* "" when there is none: a static program */
} elf_file;

static bool read_at(int fd, void *data, size_t size, uint64_t offset)
{
    return offset <= INT64_MAX && pread(fd, data, size, (off_t)offset) == (ssize_t)size;
}

static bool is_elf(const elf_file *elf)
{
    return memcmp(elf->header.e_ident, ELFMAG, SELFMAG) == 0;
}

static void read_interpreter(int fd, elf_file *elf)
{
    ElfW(Phdr) segment;

    if (elf->header.e_phentsize != sizeof segment)
        return;
    for (unsigned at = 0; at < elf->header.e_phnum; at++) {
        if (!read_at(fd, &segment, sizeof segment, elf->header.e_phoff + at * sizeof segment))
            return;
        if (segment.p_type != PT_INTERP)
            continue;
        if (segment.p_filesz >= sizeof elf->interpreter ||
            !read_at(fd, elf->interpreter, segment.p_filesz, segment.p_offset))
            elf->interpreter[0] = '\0';
        return;
    }
}

/* false with errno: it cannot be read. */
static bool read_elf(const char *path, elf_file *elf)
{
    const unsigned char class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    memset(elf, 0, sizeof *elf);
    if (fd < 0)
        return false;
    if (!read_at(fd, &elf->header, sizeof elf->header, 0))
        memset(&elf->header, 0, sizeof elf->header);
    if (is_elf(elf) && elf->header.e_ident[EI_CLASS] == class)
        read_interpreter(fd, elf);
    close(fd);
    return true;
}

/* This program itself: what the allocators beside it were made for. */
static const elf_file *own_elf(void)
{
    static elf_file own;

    if (!is_elf(&own))
        (void)read_elf("/proc/self/exe", &own);
    return &own;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? path : slash + 1;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat left, right;

    return stat(a, &left) == 0 && stat(b, &right) == 0 && left.st_dev == right.st_dev &&
           left.st_ino == right.st_ino;
}

static char *check_elf(const char *path, const elf_file *elf)
{
    const elf_file *own = own_elf();

    if (!is_elf(elf))
        return xasprintf("%s is no ELF program", path);
    if (elf->header.e_machine != own->header.e_machine ||
        elf->header.e_ident[EI_CLASS] != own->header.e_ident[EI_CLASS] ||
        elf->header.e_ident[EI_DATA] != own->header.e_ident[EI_DATA])
        return xasprintf("%s is for another kind of machine than this allocbench", path);
    if (own->interpreter[0] != '\0' && is_same_file(path, own->interpreter))
        return NULL; /* the loader, started by hand: it loads what is preloaded */
    if (elf->interpreter[0] == '\0')
        return xasprintf("%s is static: a preloaded allocator cannot reach it", path);
    if (own->interpreter[0] != '\0' &&
        strcmp(base_name(elf->interpreter), base_name(own->interpreter)) != 0)
        return xasprintf("%s runs on another C library (%s): a preloaded allocator made for this "
                         "one cannot reach it",
                         path, elf->interpreter);
    return NULL;
}

/* The loader ignores LD_PRELOAD where exec gives a program more than its caller has. */
static char *check_privileges(const char *path)
{
    struct stat info;
    struct statvfs mount;

    if (stat(path, &info) != 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ||
        (statvfs(path, &mount) == 0 && (mount.f_flag & ST_NOSUID) != 0))
        return NULL;
    if ((info.st_mode & S_ISUID) != 0 && info.st_uid != geteuid())
        return xasprintf("%s is setuid to another user (%ld): the loader keeps preloaded "
                         "allocators out",
                         path, (long)info.st_uid);
    if ((info.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && info.st_gid != getegid())
        return xasprintf("%s is setgid to another group (%ld): the loader keeps preloaded "
                         "allocators out",
                         path, (long)info.st_gid);
    if (geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0)
        return xasprintf("%s has file capabilities: the loader keeps preloaded allocators out",
                         path);
    return NULL;
}

char *program_unreached(const char *path)
{
    elf_file elf;
    char *reason;

    if (!read_elf(path, &elf))
        return NULL;
    reason = check_elf(path, &elf);
    return reason != NULL ? reason : check_privileges(path);
}

/* ---- scripts --------------------------------------------------------------------------------- */

typedef enum file_kind { FILE_ELF, FILE_SCRIPT, FILE_TEXT, FILE_OTHER, FILE_SECRET } file_kind;

/* Sorts a file by its head; of a script also tells the interpreter (free() it). */
static file_kind read_kind(const char *path, char **interpreter)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char head[HEAD_BYTES + 1];
    const char *at;
    ssize_t got;

    if (fd < 0)
        return FILE_SECRET;
    got = util_read_all(fd, head, HEAD_BYTES);
    close(fd);
    if (got < 0)
        return FILE_SECRET;
    head[got] = '\0';
    if (got >= SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0)
        return FILE_ELF;
    if (memchr(head, '\0', (size_t)got) != NULL)
        return FILE_OTHER;
    if (head[0] != '#' || head[1] != '!')
        return FILE_TEXT;
    at = head + 2 + strspn(head + 2, " \t");
    *interpreter = xstrndup(at, strcspn(at, " \t\n"));
    return FILE_SCRIPT;
}

static void conclude(program *out, program_state state, char *reason)
{
    out->state = state;
    out->reason = reason;
}

/* Follows the interpreters from out->path; leaves the last file in out->image. false: concluded. */
static bool find_image(program *out)
{
    out->image = xstrdup(out->path);
    for (int depth = 0;; depth++) {
        char *interpreter = NULL;
        const file_kind kind = read_kind(out->image, &interpreter);
        int trouble;

        if (kind == FILE_ELF)
            return true;
        if (kind == FILE_SECRET) {
            conclude(out, PROGRAM_UNREACHED,
                     xasprintf("%s cannot be looked into: %s", out->image, strerror(errno)));
            return false;
        }
        if (kind == FILE_OTHER || depth == SCRIPTS_MOST) {
            free(interpreter);
            conclude(out, PROGRAM_BROKEN,
                     xasprintf(kind == FILE_OTHER ? "%s is neither an ELF program nor a script"
                                                  : "%s: too many interpreters of interpreters",
                               kind == FILE_OTHER ? out->image : out->path));
            return false;
        }
        if (kind == FILE_TEXT)
            interpreter = xstrdup(SHELL);
        trouble = check_runnable(interpreter);
        if (trouble != 0) {
            conclude(out, PROGRAM_BROKEN,
                     xasprintf("%s: its interpreter \"%s\": %s", out->image, interpreter,
                               strerror(trouble)));
            free(interpreter);
            return false;
        }
        free(out->image);
        out->image = interpreter;
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void check_image(program *out)
{
    elf_file elf;
    char *reason = program_unreached(out->image);

    if (reason != NULL)
        conclude(out, PROGRAM_UNREACHED, reason);
    if (!read_elf(out->image, &elf) || elf.interpreter[0] == '\0' ||
        access(elf.interpreter, X_OK) == 0)
        return;
    free(out->reason);
    conclude(out, PROGRAM_BROKEN,
             xasprintf("%s: its loader %s: %s", out->image, elf.interpreter, strerror(errno)));
}

void program_inspect(const char *name, program *out)
{
    int error;

    memset(out, 0, sizeof *out);
    out->path = find_program(name, &error);
    if (out->path == NULL)
        conclude(out, PROGRAM_BROKEN,
                 error == ENOENT && strchr(name, '/') == NULL
                     ? xasprintf("%s: no such program in PATH", name)
                     : xasprintf("%s: %s", name, strerror(error)));
    else if (find_image(out))
        check_image(out);
    if (out->reason != NULL)
        util_one_line(out->reason);
}

void program_clear(program *p)
{
    free(p->path);
    free(p->image);
    free(p->reason);
    memset(p, 0, sizeof *p);
}
