/* fuzz_cgroup.c - the texts of /proc/PID/cgroup, of a limit, of cpu.max and cgroup.controllers. */
#include "fuzz.h"

#include "system/cgroup.h"

/* A path that may be appended to a mount: it stays below it. */
static void check_path(const fuzz_text *input, const char *controller, uint32_t size)
{
    char *path = malloc(size);

    if (path == NULL)
        abort();
    if (abench__cgroup_path(input->text, input->length, controller, path, size)) {
        const size_t length = strnlen(path, size);
        FUZZ_CHECK(length > 0 && length < size && path[0] == '/');
        FUZZ_CHECK(memmem(input->text, input->length, path, length) != NULL);
        FUZZ_CHECK(strchr(path, '\n') == NULL && strstr(path, "/../") == NULL);
        FUZZ_CHECK(length < 3 || strcmp(path + length - 3, "/..") != 0);
        FUZZ_CHECK(abench__cgroup_names(input->text, input->length, controller));
    }
    free(path);
}

static void check_quota(const fuzz_text *input)
{
    static const abench__quota half = {50000, 100000}, none = {0, 0};
    abench__quota quota = {7, 7};

    if (!abench__parse_cpu_max(input->text, input->length, &quota)) {
        FUZZ_CHECK(quota.quota_us == 7 && quota.period_us == 7);
        return;
    }
    FUZZ_CHECK(quota.period_us > 0 && quota.period_us <= ABENCH__PERIOD_MAX_US);
    FUZZ_CHECK(fuzz_has_token(input, quota.period_us));
    FUZZ_CHECK(quota.quota_us == 0 || fuzz_has_token(input, quota.quota_us));
    FUZZ_CHECK(!abench__quota_tighter(&quota, &quota) && !abench__quota_tighter(&none, &quota));
    FUZZ_CHECK(abench__quota_tighter(&quota, &none) == (quota.quota_us != 0));
    FUZZ_CHECK(abench__quota_tighter(&quota, &half) + abench__quota_tighter(&half, &quota) <= 1);
    if (quota.quota_us != 0 && quota.quota_us < (uint64_t)1 << 32)
        FUZZ_CHECK(abench__quota_tighter(&quota, &half) ==
                   (quota.quota_us * half.period_us < half.quota_us * quota.period_us));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_text input = fuzz_text_of(data, size);
    const uint64_t limit = abench__parse_cgroup_limit(input.text, input.length);

    FUZZ_CHECK(limit < (uint64_t)1 << 62);
    FUZZ_CHECK(limit == 0 || fuzz_has_number(input.text, input.length, limit, "\n"));
    check_path(&input, "memory", 1024);
    check_path(&input, "memory", 16);
    check_path(&input, "", 256);
    check_quota(&input);
    FUZZ_CHECK(!abench__cgroup_has_controller(input.text, input.length, "memory") ||
               memmem(input.text, input.length, "memory", 6) != NULL);
    fuzz_text_free(&input);
    return 0;
}
