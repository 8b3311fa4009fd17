/*
 * histogram.c - the kind histogram:@FILE: parts and their weights from a file.
 *
 * A line is "SIZE WEIGHT" or "LOW-HIGH WEIGHT"; '#' begins a comment. Lines may come in any order;
 * ranges that overlap add up, and a weight of 0 is an empty bin. The weight is that of the whole
 * range. At the end of the spec, '#' and 16 hexadecimal digits are the digest of what the file held
 * once: the spec is refused when that is no longer so.
 */
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/text.h"
#include "shape/parser.h"
#include "system/file.h"

#define FILE_MAX   (256u << 10) /* bytes */
#define PATH_BYTES 4096u
#define WEIGHT_MAX ((uint64_t)1 << 32) /* 1024 of them, times 1024, are below 2^64 */
#define DIGITS     16u

typedef struct reader {
    abench__parser *p;
    const char *path;
    const char *end;  /* of the text, which a terminator follows */
    const char *line; /* its first character */
    const char *at;
    uint32_t number; /* of the line */
    uint32_t reserved;
} reader;

static abench_status fail(const reader *r, const char *what)
{
    const uint32_t column = (uint32_t)(r->at - r->line) + 1;

    abench__fail_at(r->p->error, ABENCH_ERROR_SYNTAX, column,
                    "histogram file '%.60s', line %u, column %u: %s", r->path, r->number, column,
                    what);
    if (r->p->error != NULL)
        r->p->error->line = r->number;
    return ABENCH_ERROR_SYNTAX;
}

static void skip_blanks(reader *r)
{
    while (*r->at == ' ' || *r->at == '\t' || *r->at == '\r')
        r->at++;
}

/* At the line's end, or at its comment. */
static int at_end(const reader *r)
{
    return *r->at == '\n' || *r->at == '#' || r->at == r->end;
}

static abench_status read_size(reader *r, uint64_t *size)
{
    const char *start = r->at;

    if (!abench__parse_size(&r->at, size))
        return fail(r, "a size or LOW-HIGH is wanted here, for instance 64 or 4k-8k");
    if (*size < r->p->limit)
        return ABENCH_OK;
    r->at = start;
    return fail(r, "the size is too large (the limit is 128 TiB)");
}

static abench_status read_range(reader *r, uint64_t *low, uint64_t *high)
{
    const char *start;
    abench_status status = read_size(r, low);

    *high = *low;
    if (status != ABENCH_OK || *r->at != '-')
        return status;
    start = ++r->at;
    status = read_size(r, high);
    if (status != ABENCH_OK || *low <= *high)
        return status;
    r->at = start;
    return fail(r, "the largest size is below the smallest");
}

static abench_status read_weight(reader *r, uint64_t *weight)
{
    const char *start = r->at;

    skip_blanks(r);
    if (r->at == start)
        return fail(r, "a blank and the weight are wanted here");
    start = r->at;
    if (!abench__parse_u64(&r->at, weight) || *weight > WEIGHT_MAX) {
        r->at = start;
        return fail(r, "a weight is wanted here, a whole number from 0 to 4294967296");
    }
    skip_blanks(r);
    return at_end(r) ? ABENCH_OK : fail(r, "nothing more is expected in this line");
}

static abench_status read_line(reader *r)
{
    uint64_t low, high, weight;
    const char *start;
    abench_status status;

    skip_blanks(r);
    if (at_end(r))
        return ABENCH_OK;
    start = r->at;
    status = read_range(r, &low, &high);
    if (status == ABENCH_OK)
        status = read_weight(r, &weight);
    if (status != ABENCH_OK || weight == 0)
        return status;
    if (r->p->count == ABENCH__ALIAS_MAX) {
        r->at = start;
        return fail(r, "too many lines with a weight (the limit is 1024): join neighbours");
    }
    r->p->digest = abench__fold(abench__fold(abench__fold(r->p->digest, low), high), weight);
    return abench__parser_put(r->p, low, high, weight);
}

static abench_status read_lines(reader *r)
{
    while (r->at < r->end) {
        abench_status status;
        r->line = r->at;
        r->number++;
        status = read_line(r);
        if (status != ABENCH_OK)
            return status;
        r->at = memchr(r->at, '\n', (size_t)(r->end - r->at)); /* behind the comment */
        r->at = r->at == NULL ? r->end : r->at + 1;
    }
    if (r->p->count != 0)
        return ABENCH_OK;
    return abench__fail(r->p->error, ABENCH_ERROR_SYNTAX,
                        "histogram file '%.60s' has no line with a weight above 0", r->path);
}

/* Reads the file at path into text, which has room for FILE_MAX + 1. */
static abench_status read_file(const abench__parser *p, const char *path, char *text,
                               size_t *length)
{
    struct stat about;
    ssize_t got;

    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode)) /* a pipe may have no end */
        return abench__fail(p->error, ABENCH_ERROR_SYNTAX,
                            "histogram file '%.60s' is not a regular file: it is read more than "
                            "once",
                            path);
    got = abench__file_read(path, text, FILE_MAX + 1);
    if (got < 0)
        return abench__fail_errno(p->error, (int)-got, "cannot read histogram file '%.60s'", path);
    if (got > FILE_MAX)
        return abench__fail(p->error, ABENCH_ERROR_SYNTAX,
                            "histogram file '%.60s' is too long (the limit is 256 KiB)", path);
    *length = (size_t)got;
    return ABENCH_OK;
}

static abench_status read_path(abench__parser *p, const char *path)
{
    const uint64_t bytes = FILE_MAX + 2;
    char *text = abench__map(NULL, bytes, 0);
    size_t length = 0;
    abench_status status;

    if (text == NULL)
        return abench__fail(p->error, ABENCH_ERROR_MEMORY, "no memory");
    status = read_file(p, path, text, &length);
    if (status == ABENCH_OK) {
        reader r = {.p = p, .path = path, .at = text, .end = text + length};
        status = read_lines(&r);
        p->digest = abench__fold(p->digest, p->count);
        p->digest += p->digest == 0; /* 0 says that there is none */
    }
    abench__unmap(NULL, text, bytes);
    return status;
}

/* The digest that a spec of length bytes ends with; 0 when there is none. */
static uint64_t digest_at_end(const char *text, size_t length)
{
    uint64_t digest = 0;

    if (length < DIGITS + 1 || text[length - DIGITS - 1] != '#')
        return 0;
    for (const char *at = text + length - DIGITS; *at != '\0'; at++) {
        if (*at >= '0' && *at <= '9')
            digest = digest << 4 | (uint64_t)(*at - '0');
        else if (*at >= 'a' && *at <= 'f')
            digest = digest << 4 | (uint64_t)(*at - 'a' + 10);
        else
            return 0;
    }
    return digest;
}

abench_status abench__parse_histogram(abench__parser *p)
{
    char path[PATH_BYTES];
    const char *start = p->at + 1;
    uint64_t digest;
    size_t length;
    abench_status status;

    if (*p->at != '@')
        return abench__parser_fail(p, "'@' and a file are wanted here, for instance @sizes.txt");
    length = strlen(start);
    digest = digest_at_end(start, length);
    length -= digest == 0 ? 0 : DIGITS + 1;
    p->at = start;
    if (length == 0)
        return abench__parser_fail(p, "the name of a file is wanted here");
    if (length >= sizeof path)
        return abench__parser_fail(p, "the name of the file is too long");
    abench__copy(path, (uint32_t)length + 1, start);
    status = read_path(p, path);
    if (status != ABENCH_OK)
        return status;
    if (digest != 0 && digest != p->digest)
        return abench__parser_fail_at(p, start + length,
                                      "the file has changed: its digest is another one");
    p->at = start + strlen(start);
    return ABENCH_OK;
}
