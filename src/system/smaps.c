#include "system/smaps.h"

#include <string.h>

#include "system/proc.h"

/* ---- whose memory a mapping is --------------------------------------------------------------- */

/* The rest of a header line: what the kernel shows behind the inode. */
typedef struct name {
    const char *text;
    size_t length;
} name;

static int begins(name n, const char *prefix)
{
    const size_t length = strlen(prefix);

    return n.length >= length && memcmp(n.text, prefix, length) == 0;
}

/* The path itself, of a file that may be deleted. */
static int is_path(name n, const char *path)
{
    const size_t length = strlen(path);

    return begins(n, path) &&
           (n.length == length ||
            (n.length == length + 10 && memcmp(n.text + length, " (deleted)", 10) == 0));
}

static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Whether a name that a program or its C library gave has the word "stack" in it: glibc 2.42 writes
 * "[anon: glibc: pthread stack: 123]", Android "[anon:stack_and_tls:123]". */
static int says_stack(name n)
{
    for (size_t at = 0; at + 5 <= n.length; at++)
        if (memcmp(n.text + at, "stack", 5) == 0 && (at == 0 || !is_letter(n.text[at - 1])) &&
            (at + 5 == n.length || !is_letter(n.text[at + 5])))
            return 1;
    return 0;
}

static int is_system_v(name n)
{
    if (!begins(n, "/SYSV") || n.length < 13)
        return 0;
    for (size_t at = 5; at < 13; at++)
        if (!((n.text[at] >= '0' && n.text[at] <= '9') || (n.text[at] >= 'a' && n.text[at] <= 'f')))
            return 0;
    return n.length == 13 || n.text[13] == ' ';
}

static uint32_t category_of_brackets(name n)
{
    if (begins(n, "[heap]"))
        return ABENCH_MAPPINGS_HEAP;
    if (begins(n, "[stack]") || begins(n, "[stack:")) /* the second until Linux 4.5 */
        return ABENCH_MAPPINGS_STACKS;
    if (begins(n, "[anon:"))
        return says_stack(n) ? ABENCH_MAPPINGS_STACKS : ABENCH_MAPPINGS_ANONYMOUS;
    if (begins(n, "[anon_shmem:"))
        return ABENCH_MAPPINGS_SHARED;
    return ABENCH_MAPPINGS_OTHER;
}

/* shared: as the permissions say. Private pages of /dev/zero, or of the file behind MAP_HUGETLB,
 * are anonymous memory that only has a name. */
static uint32_t category_of(name n, int shared, uint64_t inode)
{
    if (n.length == 0)
        return inode == 0 ? ABENCH_MAPPINGS_ANONYMOUS : ABENCH_MAPPINGS_OTHER;
    if (n.text[0] == '[')
        return category_of_brackets(n);
    if (n.text[0] != '/') /* anon_inode:[io_uring], socket:[123] */
        return ABENCH_MAPPINGS_OTHER;
    if (is_path(n, "/dev/zero") || is_path(n, "/anon_hugepage"))
        return shared ? ABENCH_MAPPINGS_SHARED : ABENCH_MAPPINGS_ANONYMOUS;
    if (begins(n, "/memfd:") || begins(n, "/dev/shm/") || is_system_v(n))
        return ABENCH_MAPPINGS_SHARED;
    return begins(n, "/dev/") ? ABENCH_MAPPINGS_OTHER : ABENCH_MAPPINGS_FILES;
}

/* ---- header lines: start-end perms offset device inode [spaces path] ------------------------- */

static int parse_hex(const char **at, const char *end, uint64_t *value)
{
    const char *s = *at;
    uint64_t sum = 0;

    for (; s != end; s++) {
        uint64_t digit;
        if (*s >= '0' && *s <= '9')
            digit = (uint64_t)(*s - '0');
        else if (*s >= 'a' && *s <= 'f')
            digit = (uint64_t)(*s - 'a') + 10;
        else
            break;
        if (sum >> 60 != 0)
            return 0;
        sum = sum << 4 | digit;
    }
    if (s == *at)
        return 0;
    *at = s;
    *value = sum;
    return 1;
}

static int parse_char(const char **at, const char *end, char c)
{
    if (*at == end || **at != c)
        return 0;
    ++*at;
    return 1;
}

typedef struct header {
    uint64_t start;
    uint64_t end;
    uint64_t inode;
    int shared;
    name name;
} header;

static int parse_permissions(const char **at, const char *end, int *shared)
{
    static const char set[] = "rwx";
    const char *s = *at;

    if (end - s < 4)
        return 0;
    for (int i = 0; i < 3; i++)
        if (s[i] != set[i] && s[i] != '-')
            return 0;
    if (s[3] != 's' && s[3] != 'p')
        return 0;
    *shared = s[3] == 's';
    *at = s + 4;
    return 1;
}

static int parse_header(const char *line, const char *end, header *h)
{
    const char *at = line;
    uint64_t unused;

    if (!parse_hex(&at, end, &h->start) || !parse_char(&at, end, '-') ||
        !parse_hex(&at, end, &h->end) || !parse_char(&at, end, ' ') ||
        !parse_permissions(&at, end, &h->shared) || !parse_char(&at, end, ' ') ||
        !parse_hex(&at, end, &unused) || !parse_char(&at, end, ' ') ||
        !parse_hex(&at, end, &unused) || !parse_char(&at, end, ':') ||
        !parse_hex(&at, end, &unused) || !parse_char(&at, end, ' ') ||
        !abench__proc_number(&at, end, &h->inode) || (at != end && *at != ' ') ||
        h->end <= h->start)
        return 0;
    while (at != end && *at == ' ')
        at++;
    h->name.text = at;
    h->name.length = (size_t)(end - at);
    return 1;
}

/* ---- the lines of a mapping ------------------------------------------------------------------ */

/* In the order of the kernel and, from the second on, of the values; VmFlags is none. */
static const abench__proc_key keys[] = {
    ABENCH__KEY_BYTES("Size"),          ABENCH__KEY_BYTES("Rss"),
    ABENCH__KEY_BYTES("Pss"),           ABENCH__KEY_BYTES("Private_Clean"),
    ABENCH__KEY_BYTES("Private_Dirty"), ABENCH__KEY_BYTES("Anonymous"),
    ABENCH__KEY_BYTES("LazyFree"),      ABENCH__KEY_BYTES("AnonHugePages"),
    ABENCH__KEY_BYTES("Swap"),          ABENCH__KEY_COUNT("THPeligible"),
    ABENCH__KEY_COUNT("VmFlags"),
};

#define KEYS         11u
#define KEY_FLAGS    10u
#define ALL_KEYS     0x7ffu /* since Linux 5.0 */
#define FIRST_VALUES 0x007u /* Size, Rss, Pss: every kernel's */

_Static_assert(sizeof keys / sizeof keys[0] == KEYS, "a key each");
_Static_assert(ABENCH__SMAPS_FIELDS == KEY_FLAGS + 1, "a value each, behind the count");

static abench_status refuse(abench__smaps *parser)
{
    parser->status = ABENCH_ERROR_SYNTAX;
    return parser->status;
}

/* 0: a sum would not fit into 64 bits. */
static int add(uint64_t *sum, const uint64_t *more)
{
    for (uint32_t i = 0; i < ABENCH__SMAPS_FIELDS; i++)
        if (__builtin_add_overflow(sum[i], more[i], &sum[i]))
            return 0;
    return 1;
}

static void take_off(uint64_t *sum, const uint64_t *less)
{
    for (uint32_t i = 0; i < ABENCH__SMAPS_FIELDS; i++)
        sum[i] -= less[i];
}

static int is_begun(const abench__smaps *parser)
{
    return parser->last[ABENCH__SMAPS_MAPPINGS] != 0;
}

/* Whether the lines of the mapping that was begun last have all come: a kernel writes the same ones
 * for each. */
static int is_whole(const abench__smaps *parser)
{
    return (parser->seen & FIRST_VALUES) == FIRST_VALUES &&
           (parser->seen & parser->expected) == parser->expected;
}

/* Adds the mapping that was begun last to its category and to all. */
static abench_status finish_mapping(abench__smaps *parser)
{
    uint64_t *last = parser->last;

    if (!is_begun(parser))
        return ABENCH_OK;
    if (!is_whole(parser))
        return refuse(parser);
    if (parser->expected == 0)
        parser->expected = parser->seen;
    if (last[ABENCH__SMAPS_HUGE_ELIGIBLE] != 0)
        last[ABENCH__SMAPS_HUGE_ELIGIBLE] = last[ABENCH__SMAPS_SIZE];
    if (!add(parser->sums[ABENCH_MAPPINGS_ALL], last) ||
        !add(parser->sums[parser->last_category], last))
        return refuse(parser);
    return ABENCH_OK;
}

/* The kernel lets go of the address space between two reads. When the mapping that was shown last
 * grew meanwhile (an arena's mprotect moves the border to its neighbour, say), it comes once more,
 * whole: then the first showing does not count. One that begins elsewhere in what was shown may
 * hold others too, whose values are in the sums already. */
static abench_status forget_if_shown_again(abench__smaps *parser, const header *h)
{
    if (!is_begun(parser) || h->start >= parser->last_end)
        return ABENCH_OK;
    if (h->start != parser->last_start || h->end < parser->last_end) {
        parser->status = ABENCH_ERROR_STATE;
        return parser->status;
    }
    take_off(parser->sums[ABENCH_MAPPINGS_ALL], parser->last);
    take_off(parser->sums[parser->last_category], parser->last);
    return ABENCH_OK;
}

static abench_status take_header(abench__smaps *parser, const char *line, const char *end)
{
    header h;

    if (finish_mapping(parser) != ABENCH_OK)
        return parser->status;
    if (!parse_header(line, end, &h))
        return refuse(parser);
    if (forget_if_shown_again(parser, &h) != ABENCH_OK)
        return parser->status;
    memset(parser->last, 0, sizeof parser->last);
    parser->last[ABENCH__SMAPS_MAPPINGS] = 1;
    parser->last_category = category_of(h.name, h.shared, h.inode);
    parser->last_start = h.start;
    parser->last_end = h.end;
    parser->seen = 0;
    parser->next_key = 0;
    return ABENCH_OK;
}

static abench_status take_value(abench__smaps *parser, const char *line, const char *end)
{
    uint64_t value = 0;
    uint32_t key;

    if (!is_begun(parser))
        return refuse(parser);
    key = abench__proc_key_find(keys, KEYS, &parser->next_key, line, end);
    if (key == KEYS)
        return ABENCH_OK;
    if ((parser->seen >> key & 1) != 0)
        return refuse(parser);
    parser->seen |= 1u << key;
    if (key == KEY_FLAGS)
        return ABENCH_OK;
    if (!abench__proc_key_value(&keys[key], line, end, 1, &value))
        return refuse(parser);
    parser->last[key + 1] = value;
    return ABENCH_OK;
}

/* A line without its newline. Keys begin with a capital letter, addresses do not. */
static abench_status take_line(abench__smaps *parser, const char *line, const char *end)
{
    if (line == end)
        return refuse(parser);
    if ((*line >= '0' && *line <= '9') || (*line >= 'a' && *line <= 'f'))
        return take_header(parser, line, end);
    if (*line >= 'A' && *line <= 'Z')
        return take_value(parser, line, end);
    return refuse(parser);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

void abench__smaps_begin(abench__smaps *parser)
{
    memset(parser, 0, offsetof(abench__smaps, line));
}

static void keep(abench__smaps *parser, const char *text, size_t length)
{
    const size_t room = sizeof parser->line - parser->length;
    const size_t kept = length < room ? length : room;

    memcpy(parser->line + parser->length, text, kept);
    parser->length += (uint32_t)kept;
}

abench_status abench__smaps_feed(abench__smaps *parser, const char *text, size_t length)
{
    const char *at = text, *const end = text + length;

    while (at != end && parser->status == ABENCH_OK) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        if (newline == NULL) {
            keep(parser, at, (size_t)(end - at));
            break;
        }
        if (parser->length == 0) {
            const size_t whole = (size_t)(newline - at);
            take_line(parser, at, whole < ABENCH__SMAPS_LINE ? newline : at + ABENCH__SMAPS_LINE);
        } else {
            keep(parser, at, (size_t)(newline - at));
            take_line(parser, parser->line, parser->line + parser->length);
            parser->length = 0;
        }
        at = newline + 1;
    }
    return parser->status;
}

abench_status abench__smaps_end(abench__smaps *parser)
{
    if (parser->status != ABENCH_OK)
        return parser->status;
    if (parser->length != 0 || !is_begun(parser) || !is_whole(parser))
        return ABENCH_ERROR_NOT_FOUND;
    if (finish_mapping(parser) != ABENCH_OK)
        return parser->status;
    memset(parser->last, 0, sizeof parser->last);
    return (parser->expected & ALL_KEYS) == ALL_KEYS ? ABENCH_OK : ABENCH_ERROR_UNSUPPORTED;
}
