#include "sampler/mappings.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/options.h"
#include "base/text.h"
#include "system/file.h"

/* As often is a process read whose mappings become others under the reading: one in some thousand,
 * in a program that does nothing but that. */
#define READINGS_MAX 16u

#define SUM_FIRST_RELEASE                                                                          \
    ((uint32_t)(offsetof(abench_mappings_sum, huge_eligible_bytes) + sizeof(uint64_t)))

void abench_mappings_sum_init(abench_mappings_sum *sum)
{
    memset(sum, 0, sizeof *sum);
    sum->struct_size = sizeof *sum;
}

const char *abench_mappings_name(uint32_t category)
{
    static const char *const names[ABENCH_MAPPINGS_COUNT] = {
        "heap", "anonymous", "stacks", "files", "shared", "other", "all",
    };

    return category < ABENCH_MAPPINGS_COUNT ? names[category] : NULL;
}

abench_status abench_mappings_create(const abench_memory_hooks *hooks, abench_mappings **out)
{
    abench_memory_hooks copy;
    abench_mappings *mappings;
    abench_status status;

    *out = NULL;
    status = abench__hooks_copy(hooks, &copy);
    if (status != ABENCH_OK)
        return status;
    mappings = abench__map(&copy, sizeof *mappings, 1);
    if (mappings == NULL)
        return ABENCH_ERROR_MEMORY;
    mappings->hooks = copy;
    *out = mappings;
    return ABENCH_OK;
}

/* ---- a reading ------------------------------------------------------------------------------- */

static abench_status status_of_errno(int error)
{
    return error == ESRCH || error == ENOENT ? ABENCH_ERROR_NOT_FOUND : ABENCH_ERROR_SYSTEM;
}

/* The descriptor stays with the address space that the process had when it was opened. Once that is
 * gone, by exit or exec, a read finds an end before the end: only while the first mapping can still
 * be read was the end a true one. */
static int is_gone(int fd)
{
    char first;

    return abench__file_again(fd, &first, 1) <= 0;
}

abench_status abench__mappings_stream(abench_mappings *mappings, int fd)
{
    abench__smaps *parser = &mappings->parser;
    abench_status status = ABENCH_OK;

    abench__smaps_begin(parser);
    while (status == ABENCH_OK) {
        const ssize_t length = read(fd, mappings->text, sizeof mappings->text);
        if (length < 0 && errno == EINTR)
            continue;
        if (length < 0)
            return status_of_errno(errno);
        if (length == 0)
            break;
        status = abench__smaps_feed(parser, mappings->text, (size_t)length);
    }
    if (status != ABENCH_OK)
        return status;
    return is_gone(fd) ? ABENCH_ERROR_NOT_FOUND : abench__smaps_end(parser);
}

static abench_status read_once(abench_mappings *mappings, int32_t pid)
{
    abench_status status;
    char path[32];
    abench__text name;
    int fd;

    abench__text_init(&name, path, sizeof path);
    abench__text_put(&name, "/proc/");
    if (pid == 0)
        abench__text_put(&name, "self");
    else
        abench__text_put_u64(&name, (uint64_t)pid);
    abench__text_put(&name, "/smaps");
    fd = abench__file_open(AT_FDCWD, path);
    if (fd < 0)
        return pid == 0 && fd == -ENOENT ? ABENCH_ERROR_SYSTEM : status_of_errno(-fd);
    status = abench__mappings_stream(mappings, fd);
    close(fd);
    return status;
}

static abench_status read_process(abench_mappings *mappings, int32_t pid)
{
    abench_status status = ABENCH_ERROR_STATE;

    for (uint32_t i = 0; status == ABENCH_ERROR_STATE && i < READINGS_MAX; i++)
        status = read_once(mappings, pid);
    return status;
}

abench_status abench_mappings_read(abench_mappings *mappings, int32_t pid)
{
    const uint64_t begun_ns = abench_clock_ns();
    abench_status status;

    if (pid < 0)
        return ABENCH_ERROR_ARGUMENT;
    status = read_process(mappings, pid);
    mappings->is_read = status == ABENCH_OK;
    mappings->cost_ns = abench_clock_ns() - begun_ns;
    return status;
}

abench_status abench_mappings_at(const abench_mappings *mappings, uint32_t category,
                                 abench_mappings_sum *out)
{
    const uint64_t *sum;
    abench_mappings_sum copy;

    if (category >= ABENCH_MAPPINGS_COUNT)
        return ABENCH_ERROR_NOT_FOUND;
    if (!mappings->is_read)
        return ABENCH_ERROR_STATE;
    sum = mappings->parser.sums[category];
    abench_mappings_sum_init(&copy);
    copy.category = category;
    copy.mappings = sum[ABENCH__SMAPS_MAPPINGS];
    copy.size_bytes = sum[ABENCH__SMAPS_SIZE];
    copy.rss_bytes = sum[ABENCH__SMAPS_RSS];
    copy.pss_bytes = sum[ABENCH__SMAPS_PSS];
    copy.private_clean_bytes = sum[ABENCH__SMAPS_PRIVATE_CLEAN];
    copy.private_dirty_bytes = sum[ABENCH__SMAPS_PRIVATE_DIRTY];
    copy.anonymous_bytes = sum[ABENCH__SMAPS_ANONYMOUS];
    copy.lazyfree_bytes = sum[ABENCH__SMAPS_LAZYFREE];
    copy.huge_bytes = sum[ABENCH__SMAPS_HUGE];
    copy.swap_bytes = sum[ABENCH__SMAPS_SWAP];
    copy.huge_eligible_bytes = sum[ABENCH__SMAPS_HUGE_ELIGIBLE];
    return abench__options_write(out, &copy, sizeof copy, SUM_FIRST_RELEASE);
}

uint64_t abench_mappings_cost_ns(const abench_mappings *mappings)
{
    return mappings->cost_ns;
}

void abench_mappings_destroy(abench_mappings *mappings)
{
    abench_memory_hooks hooks;

    if (mappings == NULL)
        return;
    hooks = mappings->hooks;
    abench__unmap(&hooks, mappings, sizeof *mappings);
}
