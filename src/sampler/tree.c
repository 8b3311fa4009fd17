#include "sampler/tree.h"

#include <string.h>
#include <unistd.h>

#include "base/options.h"

/* ---- create and destroy ---------------------------------------------------------------------- */

/* This process's number in the /proc that is mounted here; 0: there is none. */
static int32_t own_pid(void)
{
    char link[24];
    const ssize_t length = readlink("/proc/self", link, sizeof link);
    int64_t pid = 0;

    if (length <= 0 || length == (ssize_t)sizeof link)
        return 0;
    for (ssize_t at = 0; at < length; at++) {
        if (link[at] < '0' || link[at] > '9')
            return 0;
        pid = pid * 10 + (link[at] - '0');
        if (pid > INT32_MAX)
            return 0;
    }
    return (int32_t)pid;
}

static int is_over(const abench__process *process)
{
    return process->state == 'Z' || process->state == 'X' || process->size_bytes == 0;
}

static abench_status open_tree(abench_tree *tree, int32_t root)
{
    abench__process top;
    abench_status status;

    tree->root = root == 0 ? own_pid() : root;
    if (tree->root == 0)
        return ABENCH_ERROR_SYSTEM;
    status = abench__process_read_pid(tree->root, &top);
    if (status != ABENCH_OK)
        return status;
    if (is_over(&top))
        return ABENCH_ERROR_NOT_FOUND;
    tree->root_start_time = top.start_time;
    status = abench__processes_create(&tree->now, &tree->hooks);
    return status != ABENCH_OK ? status : abench__processes_create(&tree->before, &tree->hooks);
}

abench_status abench__tree_create(int32_t root, int plain, const abench_memory_hooks *hooks,
                                  abench_tree **out)
{
    abench_memory_hooks copy;
    abench_status status;
    abench_tree *tree;

    *out = NULL;
    status = abench__hooks_copy(hooks, &copy);
    if (status != ABENCH_OK || root < 0)
        return status != ABENCH_OK ? status : ABENCH_ERROR_ARGUMENT;
    tree = abench__map(&copy, sizeof *tree, 1);
    if (tree == NULL)
        return ABENCH_ERROR_MEMORY;
    tree->hooks = copy;
    tree->plain = (uint32_t)plain;
    status = open_tree(tree, root);
    if (status != ABENCH_OK) {
        abench_tree_destroy(tree);
        return status;
    }
    *out = tree;
    return ABENCH_OK;
}

abench_status abench_tree_create(int32_t root, const abench_memory_hooks *hooks, abench_tree **out)
{
    return abench__tree_create(root, !abench__processes_kernel_lists_children(), hooks, out);
}

void abench_tree_destroy(abench_tree *tree)
{
    abench_memory_hooks hooks;

    if (tree == NULL)
        return;
    abench__processes_destroy(&tree->now);
    abench__processes_destroy(&tree->before);
    hooks = tree->hooks;
    abench__unmap(&hooks, tree, sizeof *tree);
}

/* ---- a reading ------------------------------------------------------------------------------- */

/* Reads one process. *is_there: it is the process that the walk found, and it had its memory from
 * the reading's beginning to its end. */
static abench_status read_process(abench_tree *tree, int32_t own, uint32_t tiers,
                                  abench__process *process, int *is_there)
{
    abench_memory_reader *reader = &tree->reader;
    abench__process after;
    abench_status status;

    *is_there = 0;
    status = abench__reader_open(reader, process->pid == own ? 0 : process->pid, tiers);
    if (status != ABENCH_OK)
        return status == ABENCH_ERROR_NOT_FOUND ? ABENCH_OK : status;
    status = abench__reader_take(reader, tiers, &process->memory);
    if (status == ABENCH_OK) { /* who has its memory now had it all the time: an end is final */
        status = abench__process_read(reader->directory, "stat", &after);
        *is_there =
            status == ABENCH_OK && after.start_time == process->start_time && !is_over(&after);
    }
    abench__reader_close(reader);
    return status == ABENCH_ERROR_NOT_FOUND ? ABENCH_OK : status;
}

/* Reads all that the walk found, and keeps in the list those that are still there. */
static abench_status read_processes(abench_tree *tree, uint32_t tiers)
{
    abench__processes *list = &tree->now;
    const int32_t own = own_pid();
    uint32_t kept = 0;

    for (uint32_t at = 0; at < list->count; at++) {
        abench__process *process = &list->items[at];
        abench_status status;
        int is_there;
        if (process->is_guest)
            continue;
        status = read_process(tree, own, tiers, process, &is_there);
        if (status != ABENCH_OK)
            return status;
        if (at == 0 && !is_there)
            return ABENCH_ERROR_NOT_FOUND;
        if (is_there)
            list->items[kept++] = *process;
    }
    list->count = kept;
    return ABENCH_OK;
}

/* Valid in the sum is what every process has, and what fits. */
static void add_up(const abench__processes *list, abench_memory *sum)
{
    abench_memory_field field = ABENCH_MEMORY_FIELD_INIT;

    for (uint32_t i = 0; abench_memory_field_at(i, &field) == ABENCH_OK; i++) {
        uint64_t total = 0;
        uint32_t at = 0;
        for (; at < list->count; at++) {
            const abench_memory *memory = &list->items[at].memory;
            uint64_t value;
            memcpy(&value, (const char *)memory + field.offset, sizeof value);
            if ((memory->valid & field.bit) == 0 || __builtin_add_overflow(total, value, &total))
                break;
        }
        if (at != list->count)
            continue;
        memcpy((char *)sum + field.offset, &total, sizeof total);
        sum->valid |= field.bit;
    }
}

static void swap_lists(abench_tree *tree)
{
    const abench__processes last = tree->now;

    tree->now = tree->before;
    tree->before = last;
}

abench_status abench_tree_read(abench_tree *tree, uint32_t tiers, abench_memory *sum)
{
    abench_memory mine;
    abench_status status;

    if (tiers == 0 || (tiers & ~ABENCH__TIERS) != 0)
        return ABENCH_ERROR_ARGUMENT;
    abench_memory_init(&mine);
    mine.time_ns = abench_clock_ns();
    swap_lists(tree);
    status = abench__processes_walk(&tree->now, &tree->before, tree->root, tree->root_start_time,
                                    tree->plain != 0);
    if (status == ABENCH_OK)
        status = read_processes(tree, tiers);
    if (status != ABENCH_OK) {
        tree->now.count = 0;
        return status;
    }
    add_up(&tree->now, &mine);
    mine.cost_ns = abench_clock_ns() - mine.time_ns;
    return abench__options_write(sum, &mine, sizeof mine, ABENCH__MEMORY_FIRST_RELEASE);
}

uint32_t abench_tree_count(const abench_tree *tree)
{
    return tree->now.count;
}

abench_status abench_tree_at(const abench_tree *tree, uint32_t index, int32_t *pid, int32_t *parent,
                             abench_memory *out)
{
    const abench__process *process;

    if (index >= tree->now.count)
        return ABENCH_ERROR_NOT_FOUND;
    process = &tree->now.items[index];
    if (pid != NULL)
        *pid = process->pid;
    if (parent != NULL)
        *parent = process->parent;
    return abench__options_write(out, &process->memory, sizeof process->memory,
                                 ABENCH__MEMORY_FIRST_RELEASE);
}
