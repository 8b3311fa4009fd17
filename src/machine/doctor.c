/* doctor.c - looks at the machine for a while, asks every check, keeps what they found. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/options.h"
#include "machine/check.h"
#include "machine/spin.h"
#include "system/proc.h"
#include "system/rooted.h"

#define OPTIONS_FIRST_RELEASE                                                                      \
    ((uint32_t)(offsetof(abench_doctor_options, hooks) + sizeof(const abench_memory_hooks *)))
#define FINDING_FIRST_RELEASE                                                                      \
    ((uint32_t)(offsetof(abench_finding, advice) + sizeof((abench_finding *)0)->advice))

#define WINDOW_DEFAULT_MS 200u
#define LOOKS             5u /* in the window: spins and loads */
#define FINDINGS_MAX      64u

struct abench_doctor {
    abench_memory_hooks hooks;
    uint32_t count;
    uint32_t truncated;
    abench_finding findings[FINDINGS_MAX];
};

/* In the order in which they are shown: what to fix first, then what belongs to a result. */
static const abench__checks *const themes[] = {
    &abench__checks_time, &abench__checks_cpu,    &abench__checks_share,   &abench__checks_memory,
    &abench__checks_thp,  &abench__checks_kernel, &abench__checks_process,
};

#define THEMES (sizeof themes / sizeof themes[0])

const char *abench_verdict_name(uint32_t verdict)
{
    static const char *const names[] = {"ok", "unknown", "warn", "refuse"};

    return verdict < sizeof names / sizeof names[0] ? names[verdict] : NULL;
}

void abench_finding_init(abench_finding *finding)
{
    memset(finding, 0, sizeof *finding);
    finding->struct_size = sizeof *finding;
}

void abench_doctor_options_init(abench_doctor_options *options)
{
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
}

const char *abench__check_why(const char *name)
{
    for (size_t theme = 0; theme < THEMES; theme++)
        for (uint32_t i = 0; i < themes[theme]->count; i++)
            if (strcmp(themes[theme]->checks[i].name, name) == 0)
                return themes[theme]->checks[i].why;
    return NULL;
}

/* ---- the window ------------------------------------------------------------------------------ */

static int read_waited(uint64_t *waited_ns)
{
    char text[128];
    uint64_t values[ABENCH__SCHEDSTAT_FIELDS];
    const ssize_t length =
        abench__rooted_read("", "/proc/thread-self/schedstat", text, sizeof text);

    if (length <= 0 ||
        (abench__parse_schedstat(text, (size_t)length, values) & 1u << ABENCH__SCHEDSTAT_WAIT) == 0)
        return 0;
    *waited_ns = values[ABENCH__SCHEDSTAT_WAIT];
    return 1;
}

static void sleep_until(uint64_t time_ns)
{
    struct timespec until;

    until.tv_sec = (time_t)(time_ns / 1000000000u);
    until.tv_nsec = (long)(time_ns % 1000000000u);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
}

static void sort(uint64_t *values, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t j = i; j > 0 && values[j] < values[j - 1]; j--) {
            const uint64_t value = values[j];
            values[j] = values[j - 1];
            values[j - 1] = value;
        }
}

/* Spins now and then through the window, and sleeps between. How many tasks could run is looked at
 * behind each sleep: a look in mid-spin would find what the doctor itself woke up. */
static void watch(abench__look *look, uint32_t window_ms)
{
    uint64_t runnable[LOOKS], waited_before = 0, waited_after = 0;
    const int has_waited = read_waited(&waited_before);
    const uint64_t window_ns = (uint64_t)window_ms * 1000000u;

    abench__machine_take(look->root, 1, 0, &look->before);
    for (uint32_t i = 0; i < LOOKS; i++) {
        const uint64_t spin_ns = abench__spin_ns();
        abench_machine now;
        if (look->fastest_ns == 0 || spin_ns < look->fastest_ns)
            look->fastest_ns = spin_ns;
        if (spin_ns > look->slowest_ns)
            look->slowest_ns = spin_ns;
        sleep_until(look->before.time_ns + window_ns / LOOKS * (i + 1));
        abench__machine_take(look->root, 1, 0, &now);
        runnable[i] = now.runnable;
        look->after = now;
    }
    sort(runnable, LOOKS);
    look->runnable = runnable[LOOKS / 2];
    look->has_waited = has_waited && read_waited(&waited_after) &&
                       abench__grew(waited_before, waited_after, &look->waited_ns);
}

static void read_status(abench__look *look)
{
    ssize_t length = look->live ? abench__rooted_read("", "/proc/thread-self/status", look->status,
                                                      sizeof look->status)
                                : -ENOENT;

    if (length < 0)
        length =
            abench__rooted_read(look->root, "/proc/self/status", look->status, sizeof look->status);
    look->status_length = length > 0 ? (uint32_t)length : 0;
}

static void look_around(const abench_doctor_options *options, abench__look *look)
{
    memset(look, 0, sizeof *look);
    look->root = options->root != NULL ? options->root : "";
    look->live = options->root == NULL;
    if (look->live) {
        watch(look, options->window_ms != 0 ? options->window_ms : WINDOW_DEFAULT_MS);
    } else {
        abench__machine_take(look->root, 0, 0, &look->before);
        look->after = look->before;
        look->runnable = look->after.runnable;
    }
    read_status(look);
}

/* ---- the object ------------------------------------------------------------------------------ */

static void ask(abench_doctor *doctor, const abench__look *look, const abench__check *check)
{
    abench_finding *finding;
    abench__found found = {.verdict = ABENCH_VERDICT_OK};

    if ((check->live_only && !look->live) || doctor->count == FINDINGS_MAX)
        return;
    finding = &doctor->findings[doctor->count++];
    abench_finding_init(finding);
    abench__text_init(&found.value, finding->value, sizeof finding->value);
    abench__text_init(&found.advice, finding->advice, sizeof finding->advice);
    check->look(look, &found);
    finding->verdict = found.verdict;
    finding->is_key = check->is_key;
    abench__copy(finding->name, sizeof finding->name, check->name);
    abench__copy(finding->why, sizeof finding->why, check->why);
    doctor->truncated += found.value.truncated + found.advice.truncated +
                         (strlen(check->why) >= sizeof finding->why) +
                         (strlen(check->name) >= sizeof finding->name);
}

abench_status abench_doctor_create(const abench_doctor_options *options, abench_doctor **out)
{
    abench_doctor_options mine = ABENCH_DOCTOR_OPTIONS_INIT;
    abench_memory_hooks hooks;
    abench_doctor *doctor;
    abench__look look;
    abench_status status;

    if (out == NULL)
        return ABENCH_ERROR_ARGUMENT;
    *out = NULL;
    status = abench__options_read(&mine, sizeof mine, options, OPTIONS_FIRST_RELEASE);
    if (status != ABENCH_OK)
        return status;
    status = abench__hooks_copy(mine.hooks, &hooks);
    if (status != ABENCH_OK)
        return status;
    doctor = abench__map(&hooks, sizeof *doctor, 1);
    if (doctor == NULL)
        return ABENCH_ERROR_MEMORY;
    doctor->hooks = hooks;
    look_around(&mine, &look);
    for (size_t theme = 0; theme < THEMES; theme++)
        for (uint32_t i = 0; i < themes[theme]->count; i++)
            ask(doctor, &look, &themes[theme]->checks[i]);
    *out = doctor;
    return ABENCH_OK;
}

abench_status abench_doctor_at(const abench_doctor *doctor, uint32_t index, abench_finding *out)
{
    if (index >= doctor->count)
        return ABENCH_ERROR_NOT_FOUND;
    return abench__options_write(out, &doctor->findings[index], sizeof doctor->findings[index],
                                 FINDING_FIRST_RELEASE);
}

uint32_t abench_doctor_verdict(const abench_doctor *doctor)
{
    uint32_t worst = ABENCH_VERDICT_OK;

    for (uint32_t i = 0; i < doctor->count; i++)
        if (doctor->findings[i].verdict > worst)
            worst = doctor->findings[i].verdict;
    return worst;
}

uint32_t abench__doctor_truncated(const abench_doctor *doctor)
{
    return doctor->truncated;
}

void abench_doctor_destroy(abench_doctor *doctor)
{
    abench_memory_hooks hooks;

    if (doctor == NULL)
        return;
    hooks = doctor->hooks;
    abench__unmap(&hooks, doctor, sizeof *doctor);
}
