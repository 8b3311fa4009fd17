/*
 * The helper's own side: system calls and pure functions only. Its memory is the owner's of the
 * moment of the clone, less what it gives up: no lock there can be trusted and no heap is left.
 */
#include "sampler/helper.h"

#if ABENCH__HELPER_POSSIBLE

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sampler/shed.h"

/* Around what a thread keeps for itself: errno, its control block, and what the kernel writes
 * there. */
#define THREAD_KEPT ((uint64_t)32 * 1024)

static int keep_only(int fd)
{
    return (fd == 0 || syscall(SYS_close_range, 0, fd - 1, 0) == 0) &&
           syscall(SYS_close_range, fd + 1, ~0u, 0) == 0;
}

/* When it crashes there is no core file of the host's. */
static void keep_quiet(void)
{
    const struct rlimit core = {1, 1}; /* 0 would still call a program that collects cores */

    setrlimit(RLIMIT_CORE, &core);
    prctl(PR_SET_NAME, "abench-sampler");
}

static uint64_t page_below(uint64_t address)
{
    return address & ~(uint64_t)(ABENCH__PAGE - 1);
}

static int shed_memory(abench__helper *helper)
{
    const uint64_t shared = (uint64_t)(uintptr_t)helper->shared;
    const uint64_t own = (uint64_t)(uintptr_t)pthread_self(), error = (uint64_t)(uintptr_t)&errno;
    const uint64_t low = own < error ? own : error, high = own < error ? error : own;
    const abench__kept memory = {shared, shared + helper->shared_bytes};
    const abench__kept thread = {page_below(low - THREAD_KEPT), page_below(high + THREAD_KEPT)};
    const abench__kept ranges[2] = {shared < thread.start ? memory : thread,
                                    shared < thread.start ? thread : memory};
    abench_memory_reader *reader = &helper->pace->reader;

    return abench__shed_memory(ranges, 2, reader->text, sizeof reader->text) == 0;
}

/* Every page that the owner has touched: its share of them does not change later. */
static void touch_shared(const abench__helper *helper)
{
    for (uint64_t at = ABENCH__HELPER_STACK_BYTES; at < helper->shared_bytes; at += ABENCH__PAGE)
        (void)*(volatile const unsigned char *)(helper->shared + at);
}

static int answer(const abench__helper *helper, char byte)
{
    return send(helper->its_socket, &byte, 1, MSG_NOSIGNAL) == 1;
}

/* Returns the descriptor that tells of the owner's end. */
static int prepare(abench__helper *helper)
{
    abench__pace *pace = helper->pace;
    abench_memory trial;
    int owner;

    keep_quiet();
    if (!keep_only(helper->its_socket) || chdir("/") != 0)
        return -1;
    owner = (int)syscall(SYS_pidfd_open, helper->owner, 0);
    if (owner < 0 || syscall(SYS_getppid) != helper->owner) /* it is another's number by now */
        return -1;
    if (!shed_memory(helper) || abench__reader_open(&pace->reader, helper->owner_number,
                                                    abench__pace_tiers(pace)) != ABENCH_OK)
        return -1;
    touch_shared(helper);
    if (abench__reader_take(&pace->reader, abench__pace_tiers(pace), &trial) != ABENCH_OK)
        return -1;
    helper->trial_valid = trial.valid;
    return owner;
}

static int obey(const abench__helper *helper, int *running)
{
    char byte;

    if (recv(helper->its_socket, &byte, 1, 0) != 1) /* the owner has closed its end, or executes */
        return 0;
    if (byte == ABENCH__ASK_RUN)
        abench__timeline_run(&helper->pace->timeline, abench_clock_ns());
    *running = byte == ABENCH__ASK_RUN;
    return answer(helper, byte);
}

static void serve(const abench__helper *helper, int owner)
{
    struct pollfd ends[2] = {{helper->its_socket, POLLIN, 0}, {owner, POLLIN, 0}};
    int running = 0;

    for (;;) {
        const uint64_t wait_ns =
            running ? abench__pace_wait_ns(helper->pace, abench_clock_ns()) : 0;
        const struct timespec wait = {(time_t)(wait_ns / 1000000000u),
                                      (long)(wait_ns % 1000000000u)};
        const int ready = ppoll(ends, 2, running ? &wait : NULL, NULL);
        if (ready < 0 && errno != EINTR)
            return;
        if (ready > 0) {
            if (ends[1].revents != 0 || !obey(helper, &running))
                return;
        } else if (running && abench__pace_wait_ns(helper->pace, abench_clock_ns()) == 0 &&
                   abench__pace_read(helper->pace) != ABENCH_OK) {
            return;
        }
    }
}

int abench__helper_run(void *argument)
{
    abench__helper *helper = argument;
    const int owner = prepare(helper);

    if (owner < 0 || !answer(helper, ABENCH__ASK_READY))
        return 1;
    serve(helper, owner);
    return 0;
}

#endif
