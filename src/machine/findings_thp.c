/* findings_thp.c - transparent huge pages (Documentation/admin-guide/mm/transhuge.rst). */
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/hash.h"
#include "machine/check.h"
#include "system/rooted.h"
#include "system/scan.h"

#define THP_FOLDER "/sys/kernel/mm/transparent_hugepage/"

static void look_thp(const abench__look *look, abench__found *found)
{
    char word[16];
    const int error = abench__rooted_choice(look->root, THP_FOLDER "enabled", word, sizeof word);

    if (error != 0)
        abench__found_unread(found, error);
    else
        abench__put_foreign(&found->value, word, sizeof word);
}

static void look_defrag(const abench__look *look, abench__found *found)
{
    char word[24];
    const int error = abench__rooted_choice(look->root, THP_FOLDER "defrag", word, sizeof word);

    if (error != 0) {
        abench__found_unread(found, error);
        return;
    }
    abench__put_foreign(&found->value, word, sizeof word);
    if (strcmp(word, "always") == 0 && (look->after.valid & ABENCH_MACHINE_THP) != 0 &&
        strcmp(look->after.thp, "never") != 0)
        abench__found_judge(found, ABENCH_VERDICT_WARN,
                            "Set the kernel's default, madvise, unless the program will run with "
                            "always: " THP_FOLDER "defrag");
}

static void look_khugepaged(const abench__look *look, abench__found *found)
{
    uint64_t sleep_ms, pages, none;
    int error =
        abench__rooted_number(look->root, THP_FOLDER "khugepaged/scan_sleep_millisecs", &sleep_ms);

    if (error == 0)
        error = abench__rooted_number(look->root, THP_FOLDER "khugepaged/pages_to_scan", &pages);
    if (error != 0) {
        abench__found_unread(found, error);
        return;
    }
    abench__text_printf(&found->value, "%llu pages every %llu ms", (unsigned long long)pages,
                        (unsigned long long)sleep_ms);
    if (abench__rooted_number(look->root, THP_FOLDER "khugepaged/max_ptes_none", &none) == 0)
        abench__text_printf(&found->value, ", fills in up to %llu pages", (unsigned long long)none);
}

#define SIZES_LETTERS 140u

/* A folder for each size, from two pages of 4 KiB to the largest that any machine has. A size that
 * is never used is not told. Of those for which there is no room a digest stands in the key. */
static void look_mthp(const abench__look *look, abench__found *found)
{
    uint32_t sizes = 0, used = 0, left = 0;
    uint64_t digest = 0;

    for (uint32_t shift = 3; shift <= 24; shift++) {
        char path[96], word[16];
        abench__text text;
        abench__text_init(&text, path, sizeof path);
        abench__text_printf(&text, THP_FOLDER "hugepages-%ukB/enabled", 1u << shift);
        if (abench__rooted_choice(look->root, path, word, sizeof word) != 0)
            continue;
        sizes++;
        if (strcmp(word, "never") == 0)
            continue;
        if (found->value.length > SIZES_LETTERS) {
            digest = abench__fold_text(digest + shift, word);
            left++;
            continue;
        }
        abench__text_printf(&found->value, "%s%ukB ", used++ > 0 ? ", " : "", 1u << shift);
        abench__put_foreign(&found->value, word, sizeof word);
    }
    if (left > 0)
        abench__text_printf(&found->value, ", and %u more (%08x)", left,
                            (unsigned)(abench__mix(digest) >> 32));
    if (sizes == 0)
        abench__found_unread(found, -ENOENT);
    else if (used == 0)
        abench__text_put(&found->value, "all never");
}

#define EXCEPT_ADVISED 2 /* PR_THP_DISABLE_EXCEPT_ADVISED, of Linux 6.18 */

static void look_process(const abench__look *look, abench__found *found)
{
    const char *rest, *end;
    int allowed, disabled = 0;

    if (look->live) {
        disabled = prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0);
        if (disabled < 0) {
            abench__found_unread(found, -ENOENT);
            return;
        }
        allowed = disabled == 0;
    } else if (abench__scan_keyed(look->status, look->status_length, "THP_enabled:", &rest, &end)) {
        allowed = !abench__scan_is(rest, end, "0");
    } else {
        abench__found_unread(found, -ENOENT);
        return;
    }
    abench__text_put(&found->value, allowed ? "allowed"
                                    : (disabled & EXCEPT_ADVISED) != 0
                                        ? "switched off for this process, but where madvise asks"
                                        : "switched off for this process");
    if (!allowed)
        abench__found_judge(found, ABENCH_VERDICT_WARN,
                            "Find which parent called prctl(PR_SET_THP_DISABLE), or make thp=never "
                            "a setting of all targets.");
}

static const abench__check checks[] = {
    {"thp", 1, 0, look_thp,
     "Huge pages decide RSS and speed more than most allocators do: with always, freed pieces stay "
     "resident until 2 MiB are free together. Results of different modes do not compare."},
    {"thp-defrag", 0, 0, look_defrag,
     "Whether a page fault may stop to make a huge page out of scattered ones: that is a tail of "
     "milliseconds in whatever touches memory first."},
    {"thp-khugepaged", 0, 0, look_khugepaged,
     "It makes huge pages of small ones behind the program's back, and fills the gaps: RSS can "
     "grow "
     "long after the last malloc."},
    {"thp-mthp", 1, 0, look_mthp,
     "Sizes between a page and 2 MiB, served like huge pages: each changes RSS and faults in its "
     "own way."},
    {"thp-process", 1, 0, look_process,
     "A process can be barred from huge pages, and its children with it: whatever the mode, they "
     "then run without."},
};

const abench__checks abench__checks_thp = {checks, sizeof checks / sizeof checks[0]};
