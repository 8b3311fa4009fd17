#include "sampler/schedule.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/text.h"
#include "system/file.h"
#include "system/proc.h"
#include "system/tasks.h"

/* A sum over threads. Absent: one could not be read although it lives, or the sum does not fit. */
typedef struct thread_sum {
    uint64_t value;
    uint32_t threads; /* that were read */
    uint32_t idle;    /* threads that were read, and have no number that is not 0 */
    uint32_t absent;
} thread_sum;

static void add_thread(thread_sum *sum, uint64_t value)
{
    if (__builtin_add_overflow(sum->value, value, &sum->value))
        sum->absent = 1;
    sum->threads++;
}

static int is_there(const thread_sum *sum)
{
    return sum->threads > 0 && !sum->absent;
}

/* Reads a file of one thread whole. Returns its length; 0: the thread has ended, or the kernel has
 * no such file; otherwise minus an errno. */
static ssize_t read_of_thread(abench_memory_reader *reader, int32_t thread, const char *file)
{
    char path[48];
    abench__text name;
    ssize_t length;
    int fd;

    abench__text_init(&name, path, sizeof path);
    abench__text_put(&name, "task/");
    abench__text_put_u64(&name, (uint64_t)thread);
    abench__text_put(&name, file);
    fd = abench__file_open(reader->directory, path);
    if (fd < 0)
        return fd == -ENOENT || fd == -ESRCH ? 0 : fd;
    length = abench__file_again(fd, reader->text, sizeof reader->text);
    close(fd);
    return length == -ESRCH ? 0 : length;
}

static void add_switches(abench_memory_reader *reader, int32_t thread, thread_sum sums[2])
{
    uint64_t values[ABENCH__SWITCHES_FIELDS];
    const ssize_t length = read_of_thread(reader, thread, "/status");
    const uint32_t mask =
        length > 0 ? abench__parse_switches(reader->text, (size_t)length, values) : 0;

    for (uint32_t i = 0; i < ABENCH__SWITCHES_FIELDS; i++) {
        if ((mask >> i & 1) != 0)
            add_thread(&sums[i], values[i]);
        else if (length != 0)
            sums[i].absent = 1;
    }
}

/* All zero: a thread that never ran yet, or a kernel that does not count. */
static int parse_wait(const char *text, ssize_t length, thread_sum *sum)
{
    const uint32_t all = (1u << ABENCH__SCHEDSTAT_FIELDS) - 1;
    uint64_t values[ABENCH__SCHEDSTAT_FIELDS];

    if (length <= 0 || abench__parse_schedstat(text, (size_t)length, values) != all)
        return 0;
    if ((values[0] | values[1] | values[2]) != 0)
        add_thread(sum, values[ABENCH__SCHEDSTAT_WAIT]);
    else
        sum->idle++;
    return 1;
}

static void add_wait(abench_memory_reader *reader, int32_t thread, thread_sum *sum)
{
    const ssize_t length = read_of_thread(reader, thread, "/schedstat");

    if (length != 0 && !parse_wait(reader->text, length, sum))
        sum->absent = 1;
}

/* Whether the kernel counts at all: this thread, at least, has run. */
static int kernel_counts_waiting(void)
{
    thread_sum own = {0, 0, 0, 0};
    char text[96];
    const ssize_t length = abench__file_read("/proc/thread-self/schedstat", text, sizeof text);

    return parse_wait(text, length, &own) && own.threads > 0;
}

static void take_own_switches(abench_memory *memory)
{
    struct rusage usage;

    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return;
    memory->voluntary_switches = (uint64_t)usage.ru_nvcsw;
    memory->involuntary_switches = (uint64_t)usage.ru_nivcsw;
    memory->valid |= ABENCH_MEMORY_VOLUNTARY_SWITCHES | ABENCH_MEMORY_INVOLUNTARY_SWITCHES;
}

int abench__schedule_take(abench_memory_reader *reader, abench_memory *memory)
{
    thread_sum switches[ABENCH__SWITCHES_FIELDS] = {{0, 0, 0, 0}, {0, 0, 0, 0}},
               wait = {0, 0, 0, 0};
    const int is_own = abench__reader_is_own(reader);
    abench__tasks tasks;
    int32_t thread;
    int got;

    if (is_own)
        take_own_switches(memory);
    if (reader->directory < 0)
        return 0;
    got = abench__tasks_open(&tasks, reader->directory, "task");
    if (got < 0)
        return got == -ENOENT || got == -ESRCH;
    while ((got = abench__tasks_next(&tasks, &thread)) > 0) {
        if (!is_own)
            add_switches(reader, thread, switches);
        add_wait(reader, thread, &wait);
    }
    abench__tasks_close(&tasks);
    if (got < 0)
        return got == -ENOENT || got == -ESRCH;
    if (is_there(&switches[ABENCH__SWITCHES_VOLUNTARY])) {
        memory->voluntary_switches = switches[ABENCH__SWITCHES_VOLUNTARY].value;
        memory->valid |= ABENCH_MEMORY_VOLUNTARY_SWITCHES;
    }
    if (is_there(&switches[ABENCH__SWITCHES_INVOLUNTARY])) {
        memory->involuntary_switches = switches[ABENCH__SWITCHES_INVOLUNTARY].value;
        memory->valid |= ABENCH_MEMORY_INVOLUNTARY_SWITCHES;
    }
    if (is_there(&wait) || (wait.idle > 0 && !wait.absent && kernel_counts_waiting())) {
        memory->run_wait_ns = wait.value;
        memory->valid |= ABENCH_MEMORY_RUN_WAIT;
    }
    return 0;
}
