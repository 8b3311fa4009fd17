/*
 * The spawner's own side: it runs one command at a time and watches over what comes of it.
 */
#include "tool/spawner_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <allocbench/base.h>

#include "tool/tree.h"
#include "tool/util.h"

#define LEFTOVER_GRACE_NS 100000000u  /* helpers that end when a pipe closes get so long */
#define LEFTOVER_KILL_NS  5000000000u /* then we stop waiting for those that do not die */

static int own_socket;
static int own_signals;

/* A command that is running, or has just ended. */
typedef struct running {
    pid_t pid;
    bool ended;
    spawner_end end;
} running;

static uint64_t timeval_ns(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

static void note_child(running *run, pid_t pid, int status, const struct rusage *usage)
{
    spawner_end *end = &run->end;
    const uint64_t peak = (uint64_t)usage->ru_maxrss * 1024;

    if (pid != run->pid) {
        end->orphans++;
        if (peak > end->orphans_peak_rss_bytes)
            end->orphans_peak_rss_bytes = peak;
        return;
    }
    run->ended = true;
    end->status = status;
    end->user_ns = timeval_ns(usage->ru_utime);
    end->system_ns = timeval_ns(usage->ru_stime);
    end->peak_rss_bytes = peak;
    end->minor_faults = (uint64_t)usage->ru_minflt;
    end->major_faults = (uint64_t)usage->ru_majflt;
    end->voluntary_switches = (uint64_t)usage->ru_nvcsw;
    end->involuntary_switches = (uint64_t)usage->ru_nivcsw;
}

/* Of a process that has ended and was not waited for, the kernel still tells the name. */
static void read_last_name(pid_t pid, char *name, size_t size)
{
    char path[40];
    ssize_t got = -1;
    int fd;

    snprintf(path, sizeof path, "/proc/%ld/comm", (long)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        got = util_read_all(fd, name, size - 1);
        close(fd);
    }
    name[got > 0 ? got : 0] = '\0';
    name[strcspn(name, "\n")] = '\0';
}

/* Waits for one child that has ended, of those that waitid would choose. false: there is none. */
static bool reap_one(running *run, idtype_t which, pid_t id)
{
    siginfo_t info = {0};
    struct rusage usage;
    int status;

    if (waitid(which, (id_t)id, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0)
        return false;
    if (info.si_pid == run->pid) {
        run->end.end_ns = abench_clock_ns();
        read_last_name(run->pid, run->end.last_name, sizeof run->end.last_name);
    }
    if (wait4(info.si_pid, &status, WNOHANG, &usage) != info.si_pid)
        return false;
    note_child(run, info.si_pid, status, &usage);
    return true;
}

/* Waits for all that has ended; the command first, so that its end is stamped at once. */
static void reap(running *run)
{
    if (!run->ended)
        (void)reap_one(run, P_PID, run->pid);
    while (reap_one(run, P_ALL, 0))
        continue;
}

static void rest(void)
{
    const struct timespec time = {0, 2000000};

    nanosleep(&time, NULL);
}

static uint32_t count_living(const tree_list *list)
{
    uint32_t living = 0;

    for (size_t at = 0; at < list->count; at++)
        living += list->items[at].state != 'Z' && list->items[at].state != 'X';
    return living;
}

/* Kills until nothing is left: what forks faster than it is killed, or cannot be killed, is given
 * up after a while. Returns how many are left. */
static uint32_t kill_all(running *run)
{
    const uint64_t last_ns = abench_clock_ns() + LEFTOVER_KILL_NS;
    tree_list list = {NULL, 0, 0};
    uint32_t living;

    for (;;) {
        reap(run);
        tree_walk(getpid(), false, &list);
        living = count_living(&list);
        if (list.count == 0 || abench_clock_ns() > last_ns)
            break;
        for (size_t at = 0; at < list.count; at++)
            kill(list.items[at].pid, SIGKILL);
        rest();
    }
    free(list.items);
    return living;
}

static void name_leftovers(spawner_end *end, const tree_list *list)
{
    size_t used = 0;

    for (size_t at = 0; at < list->count; at++) {
        char path[40], *name;
        int length;

        if (list->items[at].state == 'Z' || list->items[at].state == 'X')
            continue;
        snprintf(path, sizeof path, "/proc/%ld/comm", (long)list->items[at].pid);
        name = util_read_file(path, 64, NULL);
        if (name != NULL)
            name[strcspn(name, "\n")] = '\0';
        length =
            snprintf(end->leftover_names + used, sizeof end->leftover_names - used, "%s%s (%ld)",
                     used == 0 ? "" : ", ", name == NULL ? "?" : name, (long)list->items[at].pid);
        free(name);
        if (length < 0 || (size_t)length >= sizeof end->leftover_names - used) {
            end->leftover_names[used] = '\0'; /* whole names only */
            return;
        }
        used += (size_t)length;
    }
}

/* After the command's end: what is still there, beyond a short grace, is named and killed. */
static void settle(running *run)
{
    const uint64_t last_ns = abench_clock_ns() + LEFTOVER_GRACE_NS;
    tree_list list = {NULL, 0, 0};

    for (;;) {
        reap(run);
        tree_walk(getpid(), false, &list);
        if (list.count == 0 || abench_clock_ns() > last_ns)
            break;
        rest();
    }
    if (list.count > 0) {
        const uint32_t orphans = run->end.orphans;
        run->end.leftovers = count_living(&list);
        name_leftovers(&run->end, &list);
        run->end.survivors = kill_all(run);
        run->end.orphans = orphans; /* not those that we made ourselves */
    }
    free(list.items);
}

static void give_up(running *run)
{
    (void)kill_all(run);
    _exit(0);
}

/* The tool may be dead already, killed before it knew of a command that has begun: nobody else
 * would end that one. */
static void answer_send(const spawner_answer *message, running *run)
{
    if (send(own_socket, message, sizeof *message, MSG_NOSIGNAL) != (ssize_t)sizeof *message)
        give_up(run);
}

/* Sleeps until a child has ended or the tool has something to say. true: SIGTERM, the tool is dead.
 */
static bool wait_for_event(bool *spoken)
{
    struct pollfd ends[2] = {{own_socket, POLLIN, 0}, {own_signals, POLLIN, 0}};
    struct signalfd_siginfo info;
    bool told_to_end = false;

    while (poll(ends, 2, -1) < 0)
        continue;
    while (read(own_signals, &info, sizeof info) == (ssize_t)sizeof info)
        told_to_end = told_to_end || info.ssi_signo == SIGTERM;
    *spoken = (ends[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0;
    return told_to_end;
}

static void supervise(running *run)
{
    while (!run->ended) {
        spawner_request asked;
        bool spoken;

        if (wait_for_event(&spoken))
            give_up(run);
        reap(run);
        if (!spoken)
            continue;
        if (recv(own_socket, &asked, sizeof asked, MSG_WAITALL) != (ssize_t)sizeof asked)
            give_up(run);
        if (!run->ended) {
            run->end.killed = 1;
            run->end.survivors = kill_all(run);
            if (!run->ended) /* it sleeps in the kernel: nothing more can be done from here */
                return;
        }
    }
    settle(run);
}

/* The peak of a child that takes every step of the launch but is never replaced by a program: what
 * the kernel hands on to any program started so. */
static uint64_t measure_floor(const launch *how)
{
    const char *nothing[] = {"/", NULL};
    launch same = *how;
    struct rusage usage = {0};
    const char *what;
    pid_t pid;

    same.argv = (char **)(uintptr_t)nothing;
    pid = fork();
    if (pid == 0) {
        launch_exec(&same, &what);
        _exit(0);
    }
    if (pid < 0 || wait4(pid, NULL, 0, &usage) != pid)
        return 0;
    return (uint64_t)usage.ru_maxrss * 1024;
}

static int move_above(int fd, int least)
{
    const int copy = fcntl(fd, F_DUPFD_CLOEXEC, least);

    if (copy >= 0)
        close(fd);
    return copy;
}

/* Gives the inherited descriptors the numbers that they have in the tool. Our own ones and those
 * just received may stand in the way: all of them step aside first. */
static bool place_descriptors(const spawner_request *asked, int *received, int count)
{
    const int standards = count - (int)asked->inherits;
    int most = 2;

    for (uint32_t at = 0; at < asked->inherits; at++)
        if (asked->numbers[at] > most)
            most = asked->numbers[at];
    if ((own_socket = move_above(own_socket, most + 1)) < 0 ||
        (own_signals = move_above(own_signals, most + 1)) < 0)
        _exit(1);
    for (int at = 0; at < count; at++) {
        const int moved = move_above(received[at], most + 1);
        if (moved < 0)
            return false;
        received[at] = moved;
    }
    for (uint32_t at = 0; at < asked->inherits; at++)
        if (dup3(received[standards + (int)at], asked->numbers[at], O_CLOEXEC) < 0)
            return false;
    return true;
}

static void close_descriptors(const spawner_request *asked, const int *received, int count)
{
    for (int at = 0; at < count; at++)
        close(received[at]);
    for (uint32_t at = 0; at < asked->inherits; at++)
        close(asked->numbers[at]);
}

/* Lays the pointers of argv and envp before their text; all in one mapping that is given back. */
static char **receive_payload(const spawner_request *asked, size_t *mapped)
{
    const size_t pointers = (size_t)asked->argc + asked->envc + 2;
    char **list, *text;

    *mapped = pointers * sizeof(char *) + asked->bytes;
    list = mmap(NULL, *mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (list == MAP_FAILED)
        _exit(1);
    text = (char *)(list + pointers);
    if (util_read_all(own_socket, text, asked->bytes) != (ssize_t)asked->bytes)
        _exit(0);
    for (size_t at = 0; at < pointers; at++) {
        if (at == asked->argc || at == pointers - 1)
            continue; /* the NULL that ends a list */
        list[at] = text;
        text += strlen(text) + 1;
    }
    return list;
}

static void run_command(const spawner_request *asked, int *received, int count)
{
    spawner_answer message = {0};
    running run = {0};
    launch how = {0};
    const char *what = "descriptors";
    size_t mapped;
    char **list = receive_payload(asked, &mapped);
    int next = 0;

    how.argv = list;
    how.envp = list + asked->argc + 1;
    how.inherit = asked->numbers;
    how.inherits = (int)asked->inherits;
    how.thp_never = asked->thp_never != 0;
    how.aslr_off = asked->aslr_off != 0;
    how.has_cpus = asked->has_cpus != 0;
    how.cpus = asked->cpus;
    run.pid = -1;
    if (place_descriptors(asked, received, count)) {
        how.input = asked->standard[0] < 0 ? -1 : received[next++];
        how.output = asked->standard[1] < 0 ? -1 : received[next++];
        how.errors = asked->standard[2] < 0 ? -1 : received[next++];
        message.begun.floor_bytes = measure_floor(&how);
        message.begun.start_ns = abench_clock_ns();
        run.pid = launch_start(&how, &what);
    }
    message.error = errno;
    close_descriptors(asked, received, count);
    munmap(list, mapped);
    message.begun.pid = run.pid;
    message.kind = run.pid < 0 ? SPAWNER_FAILED : SPAWNER_BEGUN;
    snprintf(message.what, sizeof message.what, "%s", what);
    answer_send(&message, &run);
    if (run.pid < 0)
        return;
    supervise(&run);
    message.kind = SPAWNER_ENDED;
    message.end = run.end;
    answer_send(&message, &run);
}

/* Receives a request and the descriptors beside it; ends with the tool. */
static int receive_request(spawner_request *asked, int *received)
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int) * SPAWNER_DESCRIPTORS_MOST)];
    } control;
    struct iovec part = {asked, sizeof *asked};
    struct msghdr message = {0};
    struct cmsghdr *header;
    int count = 0;

    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
    if (recvmsg(own_socket, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL) != (ssize_t)sizeof *asked)
        _exit(0);
    header = CMSG_FIRSTHDR(&message);
    if (header != NULL && header->cmsg_type == SCM_RIGHTS) {
        count = (int)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(received, CMSG_DATA(header), (size_t)count * sizeof(int));
    }
    return count;
}

/* Quiet, alone in its session (a command must not wait for a terminal), nothing open but the
 * socket. */
static void set_up(int socket, pid_t tool)
{
    struct sigaction plain;
    sigset_t all;
    int null;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    memset(&plain, 0, sizeof plain);
    plain.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &plain, NULL); /* ignored (inherited so), the kernel would reap for us */
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
    if (getppid() != tool || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0)
        _exit(1);
    null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0 || (socket = move_above(socket, 3)) < 0)
        _exit(1);
    for (int fd = 0; fd < 3; fd++)
        if (dup2(null, fd) < 0)
            _exit(1);
    if ((own_socket = dup3(socket, 3, O_CLOEXEC)) < 0 && errno == EINVAL)
        own_socket = socket;
    close_range(4, ~0u, 0);
    sigemptyset(&all);
    sigaddset(&all, SIGCHLD);
    sigaddset(&all, SIGTERM);
    own_signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
    if (own_socket < 0 || own_signals < 0)
        _exit(1);
}

/* Forks a spawner that is a child of the tool, not ours: no command of it is below us, and the tool
 * waits for it. */
static void fork_another(int socket, pid_t tool)
{
    spawner_answer message = {0};
    running nobody = {0};
    const pid_t pid = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);

    if (pid == 0)
        spawner_serve(socket, tool);
    message.error = errno;
    message.kind = pid < 0 ? SPAWNER_FAILED : SPAWNER_BEGUN;
    message.begun.pid = pid;
    nobody.ended = true;
    answer_send(&message, &nobody);
}

/* What runs from now on runs there. */
static void enter_folder(int folder)
{
    spawner_answer message = {0};
    running nobody = {0};
    const bool entered = fchdir(folder) == 0;

    message.error = errno;
    message.kind = entered ? SPAWNER_BEGUN : SPAWNER_FAILED;
    nobody.ended = true;
    answer_send(&message, &nobody);
}

void spawner_serve(int socket, pid_t tool)
{
    set_up(socket, tool);
    for (;;) {
        running nobody = {0};
        int received[SPAWNER_DESCRIPTORS_MOST];
        spawner_request asked;
        bool spoken;
        int count;

        nobody.pid = -1;
        nobody.ended = true;
        if (wait_for_event(&spoken))
            _exit(0);
        reap(&nobody);
        if (!spoken)
            continue;
        count = receive_request(&asked, received);
        if (asked.kind == SPAWNER_RUN) /* a kill may come too late: nothing is left to do for it */
            run_command(&asked, received, count);
        else if (asked.kind == SPAWNER_ANOTHER && count == 1) {
            fork_another(received[0], tool);
            close(received[0]);
        } else if (asked.kind == SPAWNER_FOLDER && count == 1) {
            enter_folder(received[0]);
            close(received[0]);
        }
    }
}
