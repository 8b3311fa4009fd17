#include "tool/tree.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <allocbench/base.h>
#include <allocbench/sampler.h>

#include "tool/util.h"

#define PSS_PERIOD_NS 100000000u
#define PSS_REST      1000u /* times its own cost: a duty of 0.1 % */
#define LOOK_REST     20u   /* likewise: 5 % */
#define HWM_EACH      5u    /* looks */

/* ---- processes ------------------------------------------------------------------------------- */

/* One read: for a file of /proc that is shorter than size, all of it. */
static ssize_t read_small(const char *path, char *data, size_t size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got;

    if (fd < 0)
        return -1;
    got = read(fd, data, size - 1);
    close(fd);
    if (got >= 0)
        data[got] = '\0';
    return got;
}

/* The name is free text in parentheses: the last one ends it. Returns what stands behind it, or
 * NULL. */
static const char *take_name(const char *stat, char *name, size_t size)
{
    const char *first = strchr(stat, '(');
    const char *last = strrchr(stat, ')');

    if (first == NULL || last == NULL || last < first)
        return NULL;
    snprintf(name, size, "%.*s", (int)(last - first - 1), first + 1);
    return last + 1;
}

bool tree_read_process(pid_t pid, tree_process *process)
{
    char path[40], data[1024];
    long long parent, threads;
    unsigned long long start_time, start_code, start_stack;
    const char *after;
    char state;

    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    if (read_small(path, data, sizeof data) <= 0)
        return false;
    after = take_name(data, process->name, sizeof process->name);
    if (after == NULL ||
        sscanf(after,
               " %c %lld %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %lld %*s %llu"
               " %*s %*s %*s %llu %*s %llu",
               &state, &parent, &threads, &start_time, &start_code, &start_stack) != 6)
        return false;
    process->pid = pid;
    process->parent = (pid_t)parent;
    process->state = state;
    process->threads = (uint32_t)threads;
    process->start_time = start_time;
    process->start_code = start_code;
    process->start_stack = start_stack;
    process->above = TREE_TOP;
    return true;
}

static void add_process(tree_list *list, const tree_process *process)
{
    list->items = util_grow(list->items, list->count, &list->capacity, sizeof *list->items);
    list->items[list->count++] = *process;
}

/* A process whose parent died between two reads may turn up a second time, below the root. */
static bool is_listed(const tree_list *list, pid_t pid)
{
    for (size_t at = 0; at < list->count; at++)
        if (list->items[at].pid == pid)
            return true;
    return false;
}

static void add_child(tree_list *list, pid_t pid, size_t above)
{
    tree_process process;

    if (is_listed(list, pid) || !tree_read_process(pid, &process))
        return;
    process.above = above;
    add_process(list, &process);
}

static void add_listed_children(tree_list *list, const char *text, size_t above)
{
    char *end;

    for (const char *at = text;; at = end) {
        const long child = strtol(at, &end, 10);
        if (end == at)
            break;
        add_child(list, (pid_t)child, above);
    }
}

/* The children that one thread of a process made: their pids in one line of any length. The kernel
 * ends a read early only where the next pid would not fit. */
static void add_children_of_thread(tree_list *list, pid_t pid, long thread, size_t above)
{
    char path[64], few[4096], *many;
    ssize_t got;

    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)pid, thread);
    got = read_small(path, few, sizeof few);
    if (got <= 0)
        return;
    if ((size_t)got < sizeof few - 64) {
        add_listed_children(list, few, above);
        return;
    }
    many = util_read_file(path, 1u << 24, NULL);
    if (many != NULL)
        add_listed_children(list, many, above);
    free(many);
}

static void add_children(tree_list *list, pid_t pid, uint32_t threads, size_t above)
{
    char path[40];
    struct dirent *entry;
    DIR *tasks;

    if (threads <= 1) {
        add_children_of_thread(list, pid, pid, above);
        return;
    }
    snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    tasks = opendir(path);
    if (tasks == NULL)
        return;
    while ((entry = readdir(tasks)) != NULL)
        if (isdigit((unsigned char)entry->d_name[0]))
            add_children_of_thread(list, pid, strtol(entry->d_name, NULL, 10), above);
    closedir(tasks);
}

static bool kernel_lists_children(void)
{
    static int known = -1;
    char path[64];

    if (known < 0) {
        snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
        known = access(path, R_OK) == 0;
    }
    return known != 0;
}

static void read_every_process(tree_list *all)
{
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    tree_process process;

    if (proc == NULL)
        return;
    while ((entry = readdir(proc)) != NULL)
        if (isdigit((unsigned char)entry->d_name[0]) &&
            tree_read_process((pid_t)strtol(entry->d_name, NULL, 10), &process))
            add_process(all, &process);
    closedir(proc);
}

static void add_from(tree_list *list, const tree_list *all, pid_t parent, size_t above)
{
    for (size_t at = 0; at < all->count; at++) {
        tree_process process = all->items[at];
        if (process.parent != parent || is_listed(list, process.pid))
            continue;
        process.above = above;
        add_process(list, &process);
    }
}

void tree_walk(pid_t root, bool plain, tree_list *list)
{
    tree_list all = {NULL, 0, 0};
    tree_process top;

    list->count = 0;
    if (plain || !kernel_lists_children()) {
        read_every_process(&all);
        add_from(list, &all, root, TREE_TOP);
        for (size_t at = 0; at < list->count; at++)
            add_from(list, &all, list->items[at].pid, at);
        free(all.items);
        return;
    }
    if (!tree_read_process(root, &top))
        return;
    add_children(list, root, top.threads, TREE_TOP);
    for (size_t at = 0; at < list->count; at++)
        add_children(list, list->items[at].pid, list->items[at].threads, at);
}

/* ---- images ---------------------------------------------------------------------------------- */

/* A process that was seen at the last look, and the image that it ran then. */
typedef struct known {
    pid_t pid;
    uint64_t start_time;
    uint64_t start_code;
    uint64_t start_stack;
    size_t image; /* index, when the marks are not 0 */
    uint64_t look;
} known;

struct tree_state {
    pid_t root;
    bool plain;
    uint64_t zero_ns;
    uint64_t look; /* how many there were */
    uint64_t pss_due_ns;
    tree_list list;
    known *known;
    size_t known_count;
    size_t known_capacity;
    size_t images_capacity;
    size_t readings_capacity;
};

/* What /proc says in place of the addresses of an image that we may not look at. */
static bool is_hidden(const tree_process *process)
{
    return process->start_code == 1 && process->start_stack == 0;
}

/* Between exec's beginning and end, and of a process that is ending, /proc shows zeros. */
static bool has_image(const tree_process *process)
{
    return is_hidden(process) || (process->start_code != 0 && process->start_stack != 0);
}

/* Of an image that we may not look at: its process's name in brackets, as ps shows it. */
static char *read_exe(pid_t pid)
{
    char link[40], path[4096];
    ssize_t length;

    snprintf(link, sizeof link, "/proc/%ld/exe", (long)pid);
    length = readlink(link, path, sizeof path);
    if (length > 0)
        return xstrndup(path, (size_t)length);
    snprintf(link, sizeof link, "/proc/%ld/comm", (long)pid);
    length = read_small(link, path, sizeof path);
    return length > 1 ? xasprintf("[%.*s]", (int)length - 1, path) : xstrdup("?");
}

static bool is_same_image(const tree_image *a, const tree_image *b)
{
    if (a->hidden || b->hidden)
        return a->hidden && b->hidden && a->pid == b->pid;
    return a->start_stack == b->start_stack && a->start_code == b->start_code &&
           a->inode == b->inode && a->device == b->device;
}

/* Notes the image that the process runs, and where: an index of t->images. false: it is gone, or it
 * called exec while we looked. */
static bool note_image(tree *t, const tree_process *process, size_t *index)
{
    tree_image image = {0};
    tree_process again;
    struct stat info;
    char link[40];

    image.pid = process->pid;
    image.hidden = is_hidden(process);
    image.start_code = process->start_code;
    image.start_stack = process->start_stack;
    snprintf(link, sizeof link, "/proc/%ld/exe", (long)process->pid);
    if (stat(link, &info) == 0) {
        image.device = info.st_dev;
        image.inode = info.st_ino;
    } else if (!image.hidden) {
        return false;
    }
    for (*index = 0; *index < t->images_count; ++*index)
        if (is_same_image(&t->images[*index], &image))
            return true;
    image.path = read_exe(process->pid);
    if (!tree_read_process(process->pid, &again) || again.start_time != process->start_time ||
        again.start_code != process->start_code || again.start_stack != process->start_stack) {
        free(image.path);
        return false;
    }
    t->images = util_grow(t->images, t->images_count, &t->state->images_capacity, sizeof image);
    t->images[t->images_count++] = image;
    return true;
}

static known *find_known(struct tree_state *state, const tree_process *process)
{
    for (size_t at = 0; at < state->known_count; at++)
        if (state->known[at].pid == process->pid &&
            state->known[at].start_time == process->start_time)
            return &state->known[at];
    return NULL;
}

static void note_process(tree *t, const tree_process *process)
{
    struct tree_state *state = t->state;
    known *entry = find_known(state, process);

    if (entry == NULL) {
        state->known =
            util_grow(state->known, state->known_count, &state->known_capacity, sizeof *entry);
        entry = &state->known[state->known_count++];
        *entry = (known){.pid = process->pid, .start_time = process->start_time};
        t->processes_seen++;
    }
    entry->look = state->look;
    if (!has_image(process))
        return;
    if (entry->start_code != process->start_code || entry->start_stack != process->start_stack) {
        if (!note_image(t, process, &entry->image))
            return;
        entry->start_code = process->start_code;
        entry->start_stack = process->start_stack;
    }
    if (t->images[entry->image].pid == process->pid)
        memcpy(t->images[entry->image].name, process->name, sizeof process->name);
}

static void forget_gone(struct tree_state *state)
{
    size_t kept = 0;

    for (size_t at = 0; at < state->known_count; at++)
        if (state->known[at].look == state->look)
            state->known[kept++] = state->known[at];
    state->known_count = kept;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* A vfork child runs in its parent's memory until it calls exec (posix_spawn does so): counting
 * both would double the sum. Where kcmp is not allowed: the parent of such a child sleeps, state D.
 */
static bool shares_memory(const struct tree_state *state, const tree_process *process)
{
    const tree_process *parent;
    long order = -1;

    if (process->above == TREE_TOP)
        return false;
    parent = &state->list.items[process->above];
    if (parent->start_stack != process->start_stack || parent->start_code != process->start_code)
        return false;
    if (!state->plain)
        order = syscall(SYS_kcmp, process->pid, parent->pid, KCMP_VM, 0, 0);
    return order < 0 ? parent->state == 'D' : order == 0;
}

static void add_memory(tree *t, const tree_process *process, uint32_t tiers, tree_reading *sum,
                       uint64_t *dear_ns)
{
    abench_memory memory = ABENCH_MEMORY_INIT;

    if (abench_memory_read(process->pid, tiers, &memory) != ABENCH_OK ||
        (memory.valid & ABENCH_MEMORY_RSS) == 0)
        return;
    sum->processes++;
    sum->rss_bytes += memory.rss_bytes;
    if ((memory.valid & ABENCH_MEMORY_HWM) != 0 && memory.hwm_bytes > t->peak_hwm_bytes)
        t->peak_hwm_bytes = memory.hwm_bytes;
    if ((tiers & ABENCH_TIER_ROLLUP) == 0)
        return;
    *dear_ns += memory.cost_ns;
    if ((memory.valid & ABENCH_MEMORY_PSS) != 0)
        sum->pss_bytes += memory.pss_bytes;
    else
        sum->has_pss = false; /* a sum that lacks a process is none */
}

/* Keeps every second reading, of each pair the one that has more to say. */
static void thin_out(tree *t)
{
    size_t kept = 0;

    for (size_t at = 0; at + 1 < t->readings_count; at += 2)
        t->readings[kept++] = t->readings[at + (t->readings[at + 1].has_pss ? 1 : 0)];
    t->readings_count = kept;
    t->period_ns *= 2;
}

static void keep_reading(tree *t, const tree_reading *sum)
{
    if (sum->rss_bytes > t->peak_rss_bytes)
        t->peak_rss_bytes = sum->rss_bytes;
    if (sum->has_pss && sum->pss_bytes >= t->peak_pss_bytes) {
        t->has_pss = true;
        t->peak_pss_bytes = sum->pss_bytes;
        t->rss_then_bytes = sum->rss_bytes;
    }
    if (t->readings_count == TREE_READINGS)
        thin_out(t);
    t->readings = util_grow(t->readings, t->readings_count, &t->state->readings_capacity,
                            sizeof *t->readings);
    t->readings[t->readings_count++] = *sum;
}

/* Returns what the dear readings took: they are spaced by a rule of their own. */
static uint64_t read_memory(tree *t, uint64_t now_ns)
{
    struct tree_state *state = t->state;
    tree_reading sum = {0};
    uint32_t tiers = ABENCH_TIER_STATM;
    uint64_t dear_ns = 0;

    if (state->look % HWM_EACH == 0)
        tiers |= ABENCH_TIER_STATUS;
    if (now_ns >= state->pss_due_ns) {
        tiers |= ABENCH_TIER_ROLLUP;
        sum.has_pss = true;
    }
    for (size_t at = 0; at < state->list.count; at++) {
        const tree_process *process = &state->list.items[at];
        if (process->state != 'Z' && process->state != 'X' && !shares_memory(state, process))
            add_memory(t, process, tiers, &sum, &dear_ns);
    }
    if ((tiers & ABENCH_TIER_ROLLUP) != 0) {
        const uint64_t rest = PSS_REST * dear_ns;
        state->pss_due_ns = now_ns + (rest > PSS_PERIOD_NS ? rest : PSS_PERIOD_NS);
    }
    if (sum.processes > 0) {
        sum.time_ns = now_ns - state->zero_ns;
        keep_reading(t, &sum);
    }
    return dear_ns;
}

/* ---- the watcher ----------------------------------------------------------------------------- */

tree *tree_create(pid_t root, uint64_t zero_ns, uint64_t period_ns, bool plain)
{
    tree *t = xcalloc(1, sizeof *t);

    t->state = xcalloc(1, sizeof *t->state);
    t->state->root = root;
    t->state->plain = plain;
    t->state->zero_ns = zero_ns;
    t->period_ns = period_ns == 0 ? TREE_PERIOD_NS : period_ns;
    t->due_ns = zero_ns;
    t->look_ns = zero_ns;
    return t;
}

void tree_look(tree *t)
{
    struct tree_state *state = t->state;
    const uint64_t now_ns = abench_clock_ns();
    uint64_t dear_ns, rest_ns;

    if (now_ns > t->look_ns && now_ns - t->look_ns > t->longest_gap_ns &&
        now_ns - t->look_ns > 2 * t->period_ns)
        t->longest_gap_ns = now_ns - t->look_ns;
    t->look_ns = now_ns;
    tree_walk(state->root, state->plain, &state->list);
    for (size_t at = 0; at < state->list.count; at++)
        note_process(t, &state->list.items[at]);
    forget_gone(state);
    dear_ns = read_memory(t, now_ns);
    state->look++;

    rest_ns = abench_clock_ns() - now_ns;
    rest_ns = LOOK_REST * (rest_ns > dear_ns ? rest_ns - dear_ns : 0);
    t->due_ns = now_ns + (rest_ns > t->period_ns ? rest_ns : t->period_ns);
}

void tree_stood_still(tree *t, uint64_t for_ns)
{
    t->state->zero_ns += for_ns;
    t->state->pss_due_ns += for_ns;
    t->look_ns += for_ns;
    t->due_ns += for_ns;
}

void tree_destroy(tree *t)
{
    if (t == NULL)
        return;
    for (size_t at = 0; at < t->images_count; at++)
        free(t->images[at].path);
    free(t->images);
    free(t->readings);
    free(t->state->list.items);
    free(t->state->known);
    free(t->state);
    free(t);
}
