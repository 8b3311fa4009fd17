#include "sampler/processes.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/text.h"
#include "system/file.h"
#include "system/proc.h"
#include "system/tasks.h"

#define FIRST_CAPACITY 64u
#define NONE           UINT32_MAX
#define PASSES_MAX     64u /* over all processes: a chain of parents with falling pids, at worst */

/* ---- the list -------------------------------------------------------------------------------- */

static uint64_t bytes_of_items(uint32_t capacity)
{
    return (uint64_t)capacity * sizeof(abench__process);
}

static uint64_t bytes_of_slots(uint32_t capacity)
{
    return (uint64_t)capacity * 2 * sizeof(uint32_t);
}

abench_status abench__processes_create(abench__processes *list, const abench_memory_hooks *hooks)
{
    memset(list, 0, sizeof *list);
    list->hooks = hooks;
    list->items = abench__map(hooks, bytes_of_items(FIRST_CAPACITY), 1);
    list->slots = abench__map(hooks, bytes_of_slots(FIRST_CAPACITY), 1);
    list->capacity = FIRST_CAPACITY;
    if (list->items != NULL && list->slots != NULL)
        return ABENCH_OK;
    abench__processes_destroy(list);
    return ABENCH_ERROR_MEMORY;
}

void abench__processes_destroy(abench__processes *list)
{
    abench__unmap(list->hooks, list->items, bytes_of_items(list->capacity));
    abench__unmap(list->hooks, list->slots, bytes_of_slots(list->capacity));
    memset(list, 0, sizeof *list);
}

/* The slot that holds pid, or the empty one where it would be. Half of them are empty at least. */
static uint32_t slot_of(const abench__processes *list, int32_t pid)
{
    const uint32_t mask = 2 * list->capacity - 1;
    uint32_t slot = ((uint32_t)pid * 2654435769u >> 7) & mask;

    while (list->slots[slot] != 0 && list->items[list->slots[slot] - 1].pid != pid)
        slot = (slot + 1) & mask;
    return slot;
}

static uint32_t find(const abench__processes *list, int32_t pid)
{
    const uint32_t entry = list->slots[slot_of(list, pid)];

    return entry == 0 ? NONE : entry - 1;
}

static abench_status grow(abench__processes *list)
{
    const uint32_t old = list->capacity;
    abench__process *items;
    uint32_t *slots;

    if (old >= ABENCH__PROCESSES_MAX)
        return ABENCH_ERROR_LIMIT;
    slots = abench__map(list->hooks, bytes_of_slots(old * 2), 0);
    if (slots == NULL)
        return ABENCH_ERROR_MEMORY;
    items = abench__regrow(list->hooks, list->items, bytes_of_items(old), bytes_of_items(old * 2));
    if (items == NULL) {
        abench__unmap(list->hooks, slots, bytes_of_slots(old * 2));
        return ABENCH_ERROR_MEMORY;
    }
    abench__unmap(list->hooks, list->slots, bytes_of_slots(old));
    list->items = items;
    list->slots = slots;
    list->capacity = old * 2;
    for (uint32_t at = 0; at < list->count; at++)
        list->slots[slot_of(list, items[at].pid)] = at + 1;
    return ABENCH_OK;
}

abench_status abench__processes_add(abench__processes *list, const abench__process *process)
{
    abench_status status;

    if (find(list, process->pid) != NONE)
        return ABENCH_OK;
    if (list->count == list->capacity) {
        status = grow(list);
        if (status != ABENCH_OK)
            return status;
    }
    list->items[list->count] = *process;
    list->slots[slot_of(list, process->pid)] = list->count + 1;
    list->count++;
    return ABENCH_OK;
}

/* ---- one process ----------------------------------------------------------------------------- */

static abench_status status_of_open(int error)
{
    return error == -EMFILE || error == -ENFILE ? ABENCH_ERROR_SYSTEM : ABENCH_ERROR_NOT_FOUND;
}

static int is_pid(uint64_t number)
{
    return number > 0 && number <= INT32_MAX;
}

abench_status abench__process_read(int directory, const char *path, abench__process *process)
{
    const uint32_t all = (1u << ABENCH__STAT_FIELDS) - 1;
    uint64_t values[ABENCH__STAT_FIELDS];
    char text[1024];
    ssize_t length;
    const int fd = abench__file_open(directory, path);

    if (fd < 0)
        return status_of_open(fd);
    length = abench__file_again(fd, text, sizeof text);
    close(fd);
    if (length <= 0 || abench__parse_stat(text, (size_t)length, values) != all ||
        values[ABENCH__STAT_PARENT] > INT32_MAX)
        return ABENCH_ERROR_NOT_FOUND;
    process->parent = (int32_t)values[ABENCH__STAT_PARENT];
    process->state = (uint32_t)values[ABENCH__STAT_STATE];
    process->threads = values[ABENCH__STAT_THREADS];
    process->start_time = values[ABENCH__STAT_START_TIME];
    process->size_bytes = values[ABENCH__STAT_SIZE];
    process->start_code = values[ABENCH__STAT_START_CODE];
    process->start_stack = values[ABENCH__STAT_START_STACK];
    return ABENCH_OK;
}

abench_status abench__process_read_pid(int32_t pid, abench__process *process)
{
    char path[40];
    abench__text name;

    memset(process, 0, sizeof *process);
    process->pid = pid;
    abench__text_init(&name, path, sizeof path);
    abench__text_put(&name, "/proc/");
    abench__text_put_u64(&name, (uint64_t)pid);
    abench__text_put(&name, "/stat");
    return abench__process_read(AT_FDCWD, path, process);
}

/* Where kcmp is not allowed: the parent of a child of vfork sleeps, state D. An image that we may
 * not look at shows 0 as its stack. */
static int is_guest(const abench__process *process, const abench__process *parent)
{
    long order;

    if (process->start_stack == 0 || process->start_stack != parent->start_stack ||
        process->start_code != parent->start_code)
        return 0;
    order = syscall(SYS_kcmp, process->pid, parent->pid, KCMP_VM, 0ul, 0ul);
    return order < 0 ? parent->state == 'D' : order == 0;
}

/* Adds a process whose parent is listed. One that is gone, or that has another parent by now, is
 * none of ours: only the memory of the list, and descriptors, can fail. */
static abench_status add_descendant(abench__processes *list, int32_t pid, uint64_t start_time)
{
    abench__process process;
    abench_status status;
    uint32_t above;

    if (find(list, pid) != NONE)
        return ABENCH_OK;
    status = abench__process_read_pid(pid, &process);
    if (status != ABENCH_OK)
        return status == ABENCH_ERROR_NOT_FOUND ? ABENCH_OK : status;
    above = find(list, process.parent);
    if (above == NONE || (start_time != 0 && start_time != process.start_time))
        return ABENCH_OK;
    process.is_guest = (uint32_t)is_guest(&process, &list->items[above]);
    return abench__processes_add(list, &process);
}

/* ---- children, as the kernel lists them ------------------------------------------------------ */

int abench__processes_kernel_lists_children(void)
{
    return faccessat(AT_FDCWD, "/proc/thread-self/children", R_OK, 0) == 0;
}

/* Numbers, each with a space behind it, in a text of any length: two reads may split one. */
static abench_status add_listed(abench__processes *list, int fd)
{
    char text[4096];
    uint64_t number = 0;
    ssize_t length;

    for (;;) {
        length = read(fd, text, sizeof text);
        if (length < 0 && errno == EINTR)
            continue;
        if (length <= 0) /* an error: the thread is gone */
            return ABENCH_OK;
        for (ssize_t at = 0; at < length; at++) {
            abench_status status;
            if (text[at] >= '0' && text[at] <= '9' && number <= INT32_MAX) {
                number = number * 10 + (uint64_t)(text[at] - '0');
                continue;
            }
            status = is_pid(number) ? add_descendant(list, (int32_t)number, 0) : ABENCH_OK;
            if (status != ABENCH_OK)
                return status;
            number = 0;
        }
    }
}

static abench_status add_children_of_thread(abench__processes *list, int32_t pid, int32_t thread)
{
    char path[64];
    abench__text name;
    abench_status status;
    int fd;

    abench__text_init(&name, path, sizeof path);
    abench__text_put(&name, "/proc/");
    abench__text_put_u64(&name, (uint64_t)pid);
    abench__text_put(&name, "/task/");
    abench__text_put_u64(&name, (uint64_t)thread);
    abench__text_put(&name, "/children");
    fd = abench__file_open(AT_FDCWD, path);
    if (fd < 0)
        return status_of_open(fd) == ABENCH_ERROR_SYSTEM ? ABENCH_ERROR_SYSTEM : ABENCH_OK;
    status = add_listed(list, fd);
    close(fd);
    return status;
}

static abench_status add_children(abench__processes *list, uint32_t at)
{
    const int32_t pid = list->items[at].pid;
    abench_status status = ABENCH_OK;
    abench__tasks tasks;
    char path[40];
    abench__text name;
    int32_t thread;
    int error;

    if (list->items[at].threads <= 1)
        return add_children_of_thread(list, pid, pid);
    abench__text_init(&name, path, sizeof path);
    abench__text_put(&name, "/proc/");
    abench__text_put_u64(&name, (uint64_t)pid);
    abench__text_put(&name, "/task");
    error = abench__tasks_open(&tasks, AT_FDCWD, path);
    if (error < 0)
        return status_of_open(error) == ABENCH_ERROR_SYSTEM ? ABENCH_ERROR_SYSTEM : ABENCH_OK;
    while (status == ABENCH_OK && abench__tasks_next(&tasks, &thread) > 0)
        status = add_children_of_thread(list, pid, thread);
    abench__tasks_close(&tasks);
    return status;
}

/* From *at on, which is left at the list's end. */
static abench_status add_all_children(abench__processes *list, uint32_t *at)
{
    abench_status status = ABENCH_OK;

    while (status == ABENCH_OK && *at < list->count)
        status = add_children(list, (*at)++);
    return status;
}

/* ---- children, as their parents tell --------------------------------------------------------- */

/* One pass over all processes. */
static abench_status add_by_parents(abench__processes *list)
{
    abench_status status = ABENCH_OK;
    abench__tasks tasks;
    int32_t pid;
    int got = abench__tasks_open(&tasks, AT_FDCWD, "/proc");

    if (got < 0)
        return ABENCH_ERROR_SYSTEM;
    while (status == ABENCH_OK && (got = abench__tasks_next(&tasks, &pid)) > 0)
        status = add_descendant(list, pid, 0);
    abench__tasks_close(&tasks);
    return got < 0 ? ABENCH_ERROR_SYSTEM : status;
}

/* The kernel goes by rising number, and most children have a higher one than their parent: until a
 * pass finds no more. */
static abench_status add_until_none_is_left(abench__processes *list)
{
    abench_status status = ABENCH_OK;
    uint32_t before = 0;

    for (uint32_t pass = 0; status == ABENCH_OK && pass < PASSES_MAX && before != list->count;
         pass++) {
        before = list->count;
        status = add_by_parents(list);
    }
    return status;
}

/* ---- the walk -------------------------------------------------------------------------------- */

abench_status abench__processes_add_missed(abench__processes *list, const abench__processes *before)
{
    abench_status status = ABENCH_OK;
    uint32_t at = list->count;

    for (uint32_t i = 0; status == ABENCH_OK && i < before->count; i++) {
        status = add_descendant(list, before->items[i].pid, before->items[i].start_time);
        if (status == ABENCH_OK)
            status = add_all_children(list, &at);
    }
    return status;
}

abench_status abench__processes_walk(abench__processes *list, const abench__processes *before,
                                     int32_t root, uint64_t root_start_time, int plain)
{
    abench__process top;
    abench_status status = abench__process_read_pid(root, &top);
    uint32_t at = 0;

    list->count = 0;
    memset(list->slots, 0, bytes_of_slots(list->capacity));
    if (status != ABENCH_OK)
        return status;
    if (top.start_time != root_start_time)
        return ABENCH_ERROR_NOT_FOUND;
    status = abench__processes_add(list, &top);
    if (status != ABENCH_OK || plain)
        return status != ABENCH_OK ? status : add_until_none_is_left(list);
    status = add_all_children(list, &at);
    return status != ABENCH_OK ? status : abench__processes_add_missed(list, before);
}
