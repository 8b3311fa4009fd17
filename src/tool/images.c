#include "tool/images.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/program.h"
#include "tool/record_json.h"
#include "tool/util.h"

#define FILE_MOST    ((size_t)256 << 20)
#define REPORTS_MOST 1000000u
#define TEXT_MOST    4096u
#define COUNT_MOST   ((uint64_t)INT64_MAX)

#define SETTINGS_MOST  64u /* as in the probe */
#define SETTINGS_BYTES 1500u

/* ---- settings -------------------------------------------------------------------------------- */

static bool is_setting(const char *entry)
{
    const size_t length = strcspn(entry, "=");
    char *name = xstrndup(entry, length);
    const bool is = entry[length] == '=' && abench_allocator_environment(name) != 0 &&
                    strcmp(name, "LD_PRELOAD") != 0 && strcmp(name, "LD_AUDIT") != 0;

    free(name);
    return is;
}

static int compare_entries(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char *images_settings(char *const *envp, bool *cut)
{
    const char **found = NULL;
    size_t count = 0, capacity = 0, length = 0;
    char *text = xcalloc(SETTINGS_BYTES + 1, 1);

    for (; *envp != NULL; envp++) {
        if (!is_setting(*envp))
            continue;
        found = util_grow(found, count, &capacity, sizeof *found);
        found[count++] = *envp;
    }
    if (count > 0)
        qsort(found, count, sizeof *found, compare_entries);
    *cut = count > SETTINGS_MOST;
    for (size_t at = 0; at < count && at < SETTINGS_MOST; at++) {
        if (strlen(found[at]) + 1 > SETTINGS_BYTES - length) {
            *cut = true;
            break;
        }
        for (const char *from = found[at]; *from != '\0'; from++)
            text[length++] = (unsigned char)*from > 127 || *from == '\n' ? '?' : *from;
        text[length++] = '\n';
    }
    free(found);
    return text;
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct reader {
    json_source source;
    images *into;
    size_t capacity;
    size_t exits_capacity;
    uint64_t libc_stack; /* of the exit that told libc_bytes; 0: unknown */
    pid_t libc_pid;
} reader;

static uint64_t count_of(reader *r, const json_t *record, const char *key, json_presence presence)
{
    return json_get_count(&r->source, record, key, COUNT_MOST, presence);
}

static void copy_text(reader *r, const json_t *record, const char *key, char *field, size_t size)
{
    snprintf(field, size, "%s", json_get_text(&r->source, record, key, TEXT_MOST, JSON_NEEDED));
    util_one_line(field);
}

static void forget_report(images_report *report)
{
    free(report->exe);
    free(report->settings);
}

static void read_start(reader *r, const json_t *record)
{
    images_report report = {0};
    abench_identity *identity = &report.identity;

    abench_identity_init(identity);
    report.pid = (pid_t)json_get_count(&r->source, record, "pid", INT_MAX, JSON_NEEDED);
    report.exe_device = count_of(r, record, "exe_device", JSON_MAY_LACK);
    report.exe_inode = count_of(r, record, "exe_inode", JSON_MAY_LACK);
    report.start_code = count_of(r, record, "start_code", JSON_MAY_LACK);
    report.start_stack = count_of(r, record, "start_stack", JSON_MAY_LACK);
    snprintf(report.name, sizeof report.name, "%s",
             json_get_text(&r->source, record, "name", TEXT_MOST, JSON_MAY_LACK));
    identity->device = count_of(r, record, "device", JSON_NEEDED);
    identity->inode = count_of(r, record, "inode", JSON_NEEDED);
    copy_text(r, record, "family", identity->family, sizeof identity->family);
    copy_text(r, record, "version", identity->version, sizeof identity->version);
    copy_text(r, record, "build_id", identity->build_id, sizeof identity->build_id);
    copy_text(r, record, "file", identity->file, sizeof identity->file);
    copy_text(r, record, "others", identity->others, sizeof identity->others);
    if (json_get_flag(&r->source, record, "mixed", JSON_NEEDED))
        identity->flags |= ABENCH_IDENTITY_MIXED;
    if (json_get_flag(&r->source, record, "static", JSON_NEEDED))
        identity->flags |= ABENCH_IDENTITY_STATIC;
    report.exe = xstrdup(json_get_text(&r->source, record, "exe", TEXT_MOST, JSON_NEEDED));
    util_one_line(report.exe);
    report.settings =
        xstrdup(json_get_text(&r->source, record, "settings", TEXT_MOST, JSON_MAY_LACK));
    report.settings_cut = json_get_flag(&r->source, record, "settings_cut", JSON_MAY_LACK);
    if (r->into->count >= REPORTS_MOST)
        json_source_fail(&r->source, NULL, "more than %u images", REPORTS_MOST);
    if (r->source.failed) {
        forget_report(&report);
        return;
    }
    r->into->reports =
        util_grow(r->into->reports, r->into->count, &r->capacity, sizeof *r->into->reports);
    r->into->reports[r->into->count++] = report;
}

static void read_exit(reader *r, const json_t *record)
{
    const uint64_t hwm = count_of(r, record, "hwm_bytes", JSON_MAY_LACK);
    const uint64_t libc = count_of(r, record, "libc_bytes", JSON_MAY_LACK);

    const images_exit left = {
        .pid = (pid_t)json_get_count(&r->source, record, "pid", INT_MAX, JSON_NEEDED),
        .start_stack = count_of(r, record, "start_stack", JSON_MAY_LACK)};

    if (r->into->exits_count >= REPORTS_MOST)
        json_source_fail(&r->source, NULL, "more than %u exits", REPORTS_MOST);
    if (r->source.failed)
        return;
    r->into->exits =
        util_grow(r->into->exits, r->into->exits_count, &r->exits_capacity, sizeof left);
    r->into->exits[r->into->exits_count++] = left;
    if (hwm > r->into->peak_hwm_bytes)
        r->into->peak_hwm_bytes = hwm;
    if (libc > r->into->libc_bytes) {
        r->into->libc_bytes = libc;
        r->libc_stack = left.start_stack;
        r->libc_pid = left.pid;
    }
}

/* Whose exit it was: a forked child shares the stack's start of the image that reported. */
static void name_libc_user(reader *r)
{
    r->into->libc_exe = "?";
    for (size_t at = 0; at < r->into->count; at++) {
        const images_report *report = &r->into->reports[at];
        if (report->exe[0] != '\0' &&
            (report->start_stack != 0 && r->libc_stack != 0 ? report->start_stack == r->libc_stack
                                                            : report->pid == r->libc_pid))
            r->into->libc_exe = report->exe;
    }
}

static void read_record(reader *r, const json_t *record)
{
    const char *kind = json_get_text(&r->source, record, "record", 32, JSON_NEEDED);
    const char *event = json_get_text(&r->source, record, "event", 32, JSON_NEEDED);

    if (r->source.failed)
        return;
    if (strcmp(kind, "probe") != 0)
        json_source_fail(&r->source, "record", "not \"probe\"");
    else if (strcmp(event, "start") == 0)
        read_start(r, record);
    else if (strcmp(event, "exit") == 0)
        read_exit(r, record);
    else
        json_source_fail(&r->source, "event", "not \"start\" or \"exit\"");
}

static void read_lines(reader *r, const char *text, size_t size)
{
    const char *const end = text + size;

    for (const char *at = text; at < end && !r->source.failed; r->source.line++) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        json_t *record;

        r->source.text = at;
        r->source.size = next == NULL ? 0 : (size_t)(next - at);
        if (next == NULL) { /* the probe writes whole lines */
            json_source_fail(&r->source, NULL, "the line is cut off");
            return;
        }
        record = json_source_parse(&r->source);
        if (record != NULL)
            read_record(r, record);
        json_decref(record);
        at = next + 1;
    }
}

images *images_read(const char *file, char *message, size_t message_size)
{
    reader r = {.source = {.file = file, .line = 1}};
    char *text = json_source_read(&r.source, file, FILE_MOST);

    r.into = xcalloc(1, sizeof *r.into);
    if (text != NULL)
        read_lines(&r, text, r.source.size);
    name_libc_user(&r);
    free(text);
    if (r.source.failed) {
        snprintf(message, message_size, "%s", r.source.message);
        images_free(r.into);
        return NULL;
    }
    return r.into;
}

void images_free(images *reported)
{
    if (reported == NULL)
        return;
    for (size_t at = 0; at < reported->count; at++)
        forget_report(&reported->reports[at]);
    free(reported->reports);
    free(reported->exits);
    free(reported);
}

/* ---- joining --------------------------------------------------------------------------------- */

/* Reports ordered by their stack, which differs between nearly all images. */
typedef struct place {
    uint64_t start_stack;
    size_t index; /* of the report */
} place;

static int compare_places(const void *a, const void *b)
{
    const place *left = a, *right = b;

    if (left->start_stack != right->start_stack)
        return left->start_stack < right->start_stack ? -1 : 1;
    return left->index < right->index ? -1 : left->index > right->index;
}

static place *order_reports(const images *reported)
{
    place *places = xcalloc(reported->count, sizeof *places);

    for (size_t at = 0; at < reported->count; at++)
        places[at] = (place){reported->reports[at].start_stack, at};
    qsort(places, reported->count, sizeof *places, compare_places);
    return places;
}

static size_t first_place(const place *places, size_t count, uint64_t start_stack)
{
    size_t low = 0, high = count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (places[middle].start_stack < start_stack)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Does a report with the image's stack, or with none, belong to it? Of a report without the mark
 * the pid must do. */
static bool is_report_of(const images_report *report, const tree_image *image)
{
    if (report->exe_inode != image->inode || report->exe_device != image->device)
        return false;
    if (report->start_stack == 0)
        return report->pid == image->pid;
    return report->start_code == image->start_code;
}

/* Marks every report of the image; false: there is none. With address randomisation off, several
 * images of one program may look alike. A hidden image has none: what its process reported may have
 * been the image before, which then ran a setuid program. */
static bool mark_reports(const images *reported, const place *places, const tree_image *image,
                         bool *is_seen)
{
    const uint64_t stacks[2] = {image->start_stack, 0};
    bool any = false;

    for (int pass = 0; pass < 2 && !image->hidden; pass++)
        for (size_t at = first_place(places, reported->count, stacks[pass]);
             at < reported->count && places[at].start_stack == stacks[pass]; at++)
            if (is_report_of(&reported->reports[places[at].index], image))
                any = is_seen[places[at].index] = true;
    return any;
}

/* ---- judging --------------------------------------------------------------------------------- */

static bool is_wanted(const images_report *report, const images_wanted *wanted)
{
    const abench_identity *identity = &report->identity;

    if ((identity->flags & ABENCH_IDENTITY_MIXED) != 0)
        return false;
    if (wanted->provider == NULL)
        return strcmp(identity->family, wanted->family) == 0 &&
               (identity->flags & ABENCH_IDENTITY_STATIC) == 0;
    return identity->inode == wanted->inode && identity->device == wanted->device;
}

static char *describe_wrong(const images_report *report, const images_wanted *wanted)
{
    const abench_identity *identity = &report->identity;
    const char *version = identity->version;
    char *who, *line;

    if (wanted->provider == NULL)
        who = xasprintf("the C library (%s)", wanted->family);
    else
        who = xstrdup(wanted->provider);
    if ((identity->flags & ABENCH_IDENTITY_MIXED) != 0)
        line = xasprintf("%s (pid %ld): malloc is not served by %s alone: malloc by %s%s%s",
                         report->exe, (long)report->pid, who, identity->file,
                         identity->others[0] == '\0' ? "" : "; ", identity->others);
    else
        line = xasprintf("%s (pid %ld): malloc is served by %s (%s%s%s), not by %s", report->exe,
                         (long)report->pid, identity->file, identity->family,
                         version[0] == '\0' ? "" : " ", version, who);
    free(who);
    return util_one_line(line);
}

static char *describe_silent(const tree_image *image)
{
    char *reason = image->hidden ? xstrdup("it runs as another user, or forbids to be looked at "
                                           "(PR_SET_DUMPABLE); allocbench as root could look")
                                 : program_unreached(image->path);
    char *line = xasprintf(
        "%s (pid %ld) did not report who serves its malloc: %s", image->path, (long)image->pid,
        reason != NULL ? reason : "its environment was emptied, or it is static");

    free(reason);
    return util_one_line(line);
}

/* The line of settings with this name; NULL: none. */
static const char *find_setting(const char *settings, const char *name, size_t length)
{
    for (const char *line = settings; *line != '\0';) {
        const char *next = strchr(line, '\n');
        if (strncmp(line, name, length) == 0 && line[length] == '=')
            return line;
        if (next == NULL)
            break;
        line = next + 1;
    }
    return NULL;
}

/* The first name that says something else in one of them, or is there only. NULL: none. */
static const char *find_change(const char *one, const char *other)
{
    for (const char *line = one; *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        const char *found = find_setting(other, line, strcspn(line, "=\n"));
        if (found == NULL || strcspn(found, "\n") != length || strncmp(found, line, length) != 0)
            return line;
        line += length + (line[length] == '\n');
    }
    return NULL;
}

static bool has_settings(const images_report *report, const images_wanted *wanted)
{
    return wanted->settings == NULL || (strcmp(report->settings, wanted->settings) == 0 &&
                                        report->settings_cut == wanted->settings_cut);
}

static char *describe_change(const images_report *report, const images_wanted *wanted)
{
    const char *given = find_change(wanted->settings, report->settings);
    const char *name = given != NULL ? given : find_change(report->settings, wanted->settings);
    const char *what = "is set";
    char *line;

    if (name == NULL || report->settings_cut)
        return util_one_line(xasprintf("they are too long to be compared in %s", report->exe));
    if (given != NULL)
        what = find_setting(report->settings, name, strcspn(name, "=\n")) == NULL
                   ? "is gone"
                   : "has another value";
    line = xasprintf("%.*s %s in %s", (int)strcspn(name, "=\n"), name, what, report->exe);
    return util_one_line(line);
}

static bool did_exit(const images *reported, const images_report *report)
{
    for (size_t at = 0; at < reported->exits_count; at++)
        if (reported->exits[at].pid == report->pid &&
            reported->exits[at].start_stack == report->start_stack)
            return true;
    return false;
}

/* Other names do not pass through JSON as they are. */
static bool is_plain(const char *name)
{
    const char *at = name;

    while (*at > ' ' && *at < 127)
        at++;
    return at > name && *at == '\0';
}

/* Did a look find the process in that image, and named so? */
static bool was_named(const tree_image *seen, size_t count, const images_report *report,
                      const char *name)
{
    for (size_t at = 0; at < count; at++)
        if (seen[at].pid == report->pid && seen[at].start_stack == report->start_stack &&
            strcmp(seen[at].name, name) == 0)
            return true;
    return false;
}

/* The command's own process may run one more program after the last that reported, and that may end
 * before it is looked at. Then the process has another name at its end, and the program that
 * reported did not exit: it was replaced. A program may also give itself another name and end
 * without exit; a look mostly finds it so. NULL: nothing speaks for a replacement. */
static char *describe_last(const images *reported, const tree_image *seen, size_t seen_count,
                           const char *last_name, pid_t root)
{
    const images_report *last = NULL;

    for (size_t at = reported->count; at > 0 && last == NULL; at--)
        if (reported->reports[at - 1].pid == root)
            last = &reported->reports[at - 1];
    if (last == NULL || last_name == NULL || !is_plain(last_name) || !is_plain(last->name) ||
        strcmp(last->name, last_name) == 0 || did_exit(reported, last) ||
        was_named(seen, seen_count, last, last_name))
        return NULL;
    return util_one_line(
        xasprintf("%s (pid %ld) ended as %s, which did not report who serves its malloc: its "
                  "environment was emptied, or it is static",
                  last->exe, (long)root, last_name));
}

static void refuse(images_verdict *verdict, char *first, size_t others)
{
    if (others == 0) {
        verdict->refusal = first;
        return;
    }
    verdict->refusal = xasprintf("%s (and %zu more)", first, others);
    free(first);
}

void images_judge(const images *reported, const tree_image *seen, size_t seen_count,
                  const images_wanted *wanted, pid_t root, images_verdict *verdict)
{
    bool *is_seen = xcalloc(reported->count, sizeof *is_seen);
    place *places = order_reports(reported);
    const images_report *wrong = NULL;
    size_t wrongs = 0;
    bool is_root_silent = false;
    char *last;

    memset(verdict, 0, sizeof *verdict);
    for (size_t at = 0; at < seen_count; at++) {
        if (mark_reports(reported, places, &seen[at], is_seen))
            continue;
        is_root_silent = is_root_silent || seen[at].pid == root;
        if (verdict->silent++ == 0)
            verdict->silence = describe_silent(&seen[at]);
    }
    last =
        is_root_silent ? NULL : describe_last(reported, seen, seen_count, wanted->last_name, root);
    if (last != NULL && verdict->silent++ == 0)
        verdict->silence = last;
    else
        free(last);
    for (size_t at = 0; at < reported->count; at++) {
        const images_report *report = &reported->reports[at];
        verdict->unseen += !is_seen[at];
        if (verdict->root == NULL && report->pid == root)
            verdict->root = report;
        if (!is_wanted(report, wanted) && wrongs++ == 0)
            wrong = report;
        if (!has_settings(report, wanted) && verdict->changed++ == 0)
            verdict->change = describe_change(report, wanted);
    }
    if (wrong != NULL)
        refuse(verdict, describe_wrong(wrong, wanted), wrongs - 1);
    else if (verdict->silent > 0 && !wanted->may_be_silent)
        refuse(verdict, xstrdup(verdict->silence), verdict->silent - 1);
    free(places);
    free(is_seen);
}

void images_verdict_clear(images_verdict *verdict)
{
    free(verdict->refusal);
    free(verdict->silence);
    free(verdict->change);
    memset(verdict, 0, sizeof *verdict);
}
