/* findings_kernel.c - the kernel and the C library, and what they do to addresses and faults. */
#include <errno.h>
#include <string.h>
#include <sys/personality.h>

#include "base/hash.h"
#include "machine/check.h"
#include "system/rooted.h"
#include "system/scan.h"

#define VULNERABILITIES "/sys/devices/system/cpu/vulnerabilities"

static void look_kernel(const abench__look *look, abench__found *found)
{
    char release[72];
    const int error =
        abench__rooted_line(look->root, "/proc/sys/kernel/osrelease", release, sizeof release);

    if (error != 0)
        abench__found_unread(found, error);
    else
        abench__put_foreign(&found->value, release, sizeof release);
}

static void look_libc(const abench__look *look, abench__found *found)
{
    abench_host host = ABENCH_HOST_INIT;

    (void)look;
    if (abench_host_read(&host) != ABENCH_OK || host.libc[0] == '\0') {
        abench__text_put(&found->value, "none that tells its version");
        found->verdict = ABENCH_VERDICT_UNKNOWN;
        return;
    }
    abench__put_foreign(&found->value, host.libc, sizeof host.libc);
}

static void look_aslr(const abench__look *look, abench__found *found)
{
    static const char *const modes[] = {"off", "on, but not for the heap", "on"};
    uint64_t mode;
    const int error =
        abench__rooted_number(look->root, "/proc/sys/kernel/randomize_va_space", &mode);

    if (error != 0 || mode > 2) {
        abench__found_unread(found, error != 0 ? error : -1);
        return;
    }
    if (look->live && mode > 0) {
        const int persona = personality(0xffffffff); /* asks, sets nothing */
        if (persona != -1 && (persona & ADDR_NO_RANDOMIZE) != 0)
            mode = 3;
    }
    abench__text_put(&found->value, mode == 3 ? "off for this process" : modes[mode]);
    if (mode == 3)
        abench__found_judge(found, ABENCH_VERDICT_WARN,
                            "Do not start it by setarch -R or from a debugger; aslr=off is a "
                            "setting of a target where it is wanted.");
    else if (mode != 2)
        abench__found_judge(found, ABENCH_VERDICT_WARN,
                            "Set the default: sysctl kernel.randomize_va_space=2");
}

/* ---- mitigations ----------------------------------------------------------------------------- */

typedef struct tally {
    const char *root;
    uint64_t digest; /* a sum: folders have no order */
    uint32_t mitigated;
    uint32_t vulnerable;
    uint32_t unaffected;
    uint32_t other;
} tally;

static int begins_with(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

static void count_vulnerability(const char *name, void *user)
{
    tally *t = user;
    char path[192], line[256];
    abench__text text;

    abench__text_init(&text, path, sizeof path);
    abench__text_put(&text, VULNERABILITIES "/");
    abench__text_put(&text, name);
    if (text.truncated || abench__rooted_line(t->root, path, line, sizeof line) != 0)
        return;
    t->digest += abench__fold_text(abench__fold_text(0, name), line);
    if (begins_with(line, "Vulnerable"))
        t->vulnerable++;
    else if (begins_with(line, "Not affected"))
        t->unaffected++;
    else if (strstr(line, "Mitigation") != NULL) /* "KVM: Mitigation: ..." too */
        t->mitigated++;
    else
        t->other++;
}

static int is_switched_off(const char *root)
{
    char text[4096];
    const ssize_t length = abench__rooted_read(root, "/proc/cmdline", text, sizeof text);
    const char *at = text, *line, *end, *token, *token_end;

    if (length <= 0 || !abench__scan_line(&at, text + length, &line, &end))
        return 0;
    while (abench__scan_token(&line, end, &token, &token_end))
        if (abench__scan_is(token, token_end, "mitigations=off"))
            return 1;
    return 0;
}

/* As a key it must differ when any of them differs: the short digest does. */
static void look_mitigations(const abench__look *look, abench__found *found)
{
    tally t = {.root = look->root};
    const int error = abench__rooted_names(look->root, VULNERABILITIES, count_vulnerability, &t);

    if (error != 0) {
        abench__found_unread(found, error);
        return;
    }
    if (is_switched_off(look->root))
        abench__text_put(&found->value, "switched off; ");
    abench__text_printf(&found->value, "%u mitigated, %u vulnerable, %u not affected", t.mitigated,
                        t.vulnerable, t.unaffected);
    if (t.other > 0)
        abench__text_printf(&found->value, ", %u other", t.other);
    abench__text_printf(&found->value, " (%08x)", (unsigned)(abench__mix(t.digest) >> 32));
}

static const abench__check checks[] = {
    {"kernel", 1, 0, look_kernel,
     "Huge pages, page faults and the counters themselves change from release to release."},
    {"libc", 1, 1, look_libc,
     "It is the baseline: its malloc, and what the other allocators are called by, differ from "
     "version to version."},
    {"aslr", 0, 0, look_aslr,
     "With the same addresses in each run one lucky or unlucky layout is measured again and again, "
     "and looks like the allocator's doing."},
    {"mitigations", 1, 0, look_mitigations,
     "They make system calls and page faults dearer: an allocator that maps, unmaps and purges "
     "more "
     "pays more for them."},
};

const abench__checks abench__checks_kernel = {checks, sizeof checks / sizeof checks[0]};
