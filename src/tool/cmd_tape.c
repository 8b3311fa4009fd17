/* cmd_tape.c - allocbench tape: what is on a tape, of a file or of a workload; tapes into files. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <allocbench/allocbench.h>

#include "tool/commands.h"
#include "tool/tape_print.h"
#include "tool/util.h"

static const char usage[] =
    "usage: allocbench tape show FILE|WORKLOAD [options]      its operations, one a line\n"
    "       allocbench tape digest FILE|WORKLOAD [options]    its digests\n"
    "       allocbench tape summary FILE|WORKLOAD [options]   sizes, lifetimes, live memory, "
    "kinds\n"
    "       allocbench tape save WORKLOAD -o FILE [options]   writes it to a file\n"
    "\n"
    "  -s, --seed S          of a workload (default 1)\n"
    "  -l, --lanes T         threads, where a workload's spec names none\n"
    "      --limit N         show: only the first N operations\n"
    "      --json            summary: one JSON object\n"
    "  -o, --output FILE     save: where to; a file that is there is replaced\n"
    "\n"
    "FILE has a '/' or ends in .tape, or is said with tape: in front. A file is played with\n"
    "allocbench run tape:FILE.\n"
    "\n"
    "Exit status: 0 done, 2 usage, or a file that is no tape, 3 the machine refused.\n";

enum { OPT_LIMIT = 256, OPT_JSON };

static const struct option options[] = {
    {"seed", required_argument, NULL, 's'},
    {"lanes", required_argument, NULL, 'l'},
    {"limit", required_argument, NULL, OPT_LIMIT},
    {"json", no_argument, NULL, OPT_JSON},
    {"output", required_argument, NULL, 'o'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

/* What was asked for. */
typedef struct asked {
    const char *verb;
    const char *text; /* FILE or WORKLOAD */
    const char *output;
    uint64_t seed;
    uint64_t lanes;
    uint64_t limit;
    bool has_seed;
    bool json;
} asked;

/* A tape and what it is made of. */
typedef struct opened {
    abench_workload *workload; /* NULL: of a file */
    abench_tape *tape;
    tape_origin origin;
} opened;

/* ---- the command line ------------------------------------------------------------------------ */

static bool take_option(asked *a, int option, const char *value)
{
    switch (option) {
    case 's':
        a->has_seed = true;
        return command_number("--seed", value, 0, UINT64_MAX, &a->seed);
    case 'l':
        return command_number("--lanes", value, 1, ABENCH_LANES_MAX, &a->lanes);
    case OPT_LIMIT:
        return command_number("--limit", value, 1, UINT64_MAX, &a->limit);
    case OPT_JSON:
        return a->json = true;
    default:
        a->output = value;
        return true;
    }
}

static const char *const verbs[] = {"show", "digest", "summary", "save"};

static int unknown_verb(const char *verb)
{
    const char *nearest = verbs[0];

    for (size_t at = 1; at < sizeof verbs / sizeof verbs[0]; at++)
        if (abench_text_distance(verb, verbs[at]) < abench_text_distance(verb, nearest))
            nearest = verbs[at];
    return command_fail(EXIT_USAGE,
                        "there is no 'allocbench tape %s'; did you mean '%s'? (allocbench tape "
                        "--help)",
                        verb, nearest);
}

/* Options of one verb are no options of another. */
static int check_options(const asked *a)
{
    bool known = false;

    for (size_t at = 0; at < sizeof verbs / sizeof verbs[0]; at++)
        known |= strcmp(a->verb, verbs[at]) == 0;
    if (!known)
        return unknown_verb(a->verb);
    if (a->json && strcmp(a->verb, "summary") != 0)
        return command_fail(EXIT_USAGE, "--json is an option of allocbench tape summary");
    if (a->limit != 0 && strcmp(a->verb, "show") != 0)
        return command_fail(EXIT_USAGE, "--limit is an option of allocbench tape show");
    if (a->output != NULL && strcmp(a->verb, "save") != 0)
        return command_fail(EXIT_USAGE, "-o is an option of allocbench tape save");
    if (strcmp(a->verb, "save") == 0 && (a->output == NULL || a->output[0] == '\0'))
        return command_fail(EXIT_USAGE, "where to? allocbench tape save wants -o FILE");
    return EXIT_OK;
}

/* -1: go on; else the status to exit with. */
static int read_arguments(int argc, char **argv, asked *a)
{
    int option;

    memset(a, 0, sizeof *a);
    a->seed = 1;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":s:l:o:h", options, NULL)) != -1) {
        if (option == 'h') {
            fputs(usage, stdout);
            return EXIT_OK;
        }
        if (option == '?' || option == ':')
            return command_bad_option(argv, option, options);
        if (!take_option(a, option, optarg))
            return EXIT_USAGE;
    }
    if (argc - optind != 2) {
        if (argc - optind == 1 && strcmp(argv[optind], "help") != 0)
            return command_fail(EXIT_USAGE, "a FILE or a WORKLOAD is wanted (allocbench tape "
                                            "--help)");
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
    a->verb = argv[optind];
    a->text = argv[optind + 1];
    return check_options(a) == EXIT_OK ? -1 : EXIT_USAGE;
}

/* ---- tapes ----------------------------------------------------------------------------------- */

#define TAPE_PREFIX     "tape:"
#define IN_MEMORY_BYTES ((off_t)256 << 20) /* of a file; larger ones are streamed */
#define IN_MEMORY_MOST  30000000u          /* operations of a workload, likewise */

/* Is the part before the first ':' a workload's name? */
static bool is_workload(const char *text)
{
    abench_workload_info info = ABENCH_WORKLOAD_INFO_INIT;
    const size_t length = strcspn(text, ":");

    for (uint32_t at = 0; abench_workload_at(at, &info) == ABENCH_OK; at++)
        if (strlen(info.name) == length && strncmp(info.name, text, length) == 0)
            return true;
    return false;
}

static const char *path_of(const char *text)
{
    const size_t length = strlen(text);
    struct stat info;

    if (strncmp(text, TAPE_PREFIX, strlen(TAPE_PREFIX)) == 0)
        return text + strlen(TAPE_PREFIX);
    if (is_workload(text))
        return NULL;
    if (strchr(text, '/') != NULL || (length > 5 && strcmp(text + length - 5, ".tape") == 0) ||
        stat(text, &info) == 0)
        return text;
    return NULL;
}

static int told(const abench_error *error, abench_status status, const char *text)
{
    return command_fail(
        status == ABENCH_ERROR_SYSTEM || status == ABENCH_ERROR_MEMORY ? EXIT_ENVIRONMENT
                                                                       : EXIT_USAGE,
        "%s: %s", text, error->message[0] != '\0' ? error->message : abench_status_message(status));
}

static int open_file(const asked *a, const char *path, opened *o)
{
    abench_error error = ABENCH_ERROR_INIT;
    struct stat info = {0};
    abench_status status;

    if (a->has_seed || a->lanes != 0)
        return command_fail(EXIT_USAGE,
                            "%s: a tape in a file has its seed and its lanes already: leave --seed "
                            "and --lanes out",
                            path);
    o->origin = (tape_origin){path, 0, 0, 0};
    if (stat(path, &info) == 0 && info.st_size > IN_MEMORY_BYTES)
        status = abench_tape_open(path, NULL, &o->tape, &error);
    else
        status = abench_tape_load(path, NULL, &o->tape, &error);
    return status == ABENCH_OK ? EXIT_OK : told(&error, status, path);
}

static int open_workload(const asked *a, opened *o)
{
    abench_error error = ABENCH_ERROR_INIT;
    abench_status status =
        abench_workload_parse(a->text, a->seed, (uint32_t)a->lanes, &o->workload, &error);

    if (status != ABENCH_OK)
        return command_fail(EXIT_USAGE, "%s", error.message);
    o->origin = (tape_origin){abench_workload_spec(o->workload), 1,
                              abench_workload_plan_digest(o->workload), a->seed};
    if (abench_workload_operations(o->workload) > IN_MEMORY_MOST)
        status = abench_workload_stream(o->workload, NULL, &o->tape, &error);
    else
        status = abench_workload_tape(o->workload, NULL, &o->tape, &error);
    return status == ABENCH_OK ? EXIT_OK : told(&error, status, a->text);
}

/* ---- verbs ----------------------------------------------------------------------------------- */

/* Something that is written at a name of its own, then renamed. */
static int save_as(const abench_tape *tape, const char *path)
{
    abench_error error = ABENCH_ERROR_INIT;
    char *part = xasprintf("%s.%ld.part", path, (long)getpid());
    char message[1024];
    struct stat info;
    int fd, status = EXIT_OK;
    abench_status saved;

    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
        free(part);
        return command_fail(EXIT_USAGE, "-o %s: that is no file", path);
    }
    fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) {
        status = command_fail(EXIT_ENVIRONMENT, "%s cannot be created: %s", part, strerror(errno));
        free(part);
        return status;
    }
    saved = abench_tape_save(tape, fd, &error);
    if (saved != ABENCH_OK)
        status = told(&error, saved, path);
    if (close(fd) != 0 && status == EXIT_OK)
        status = command_fail(EXIT_ENVIRONMENT, "%s cannot be written: %s", part, strerror(errno));
    if (status == EXIT_OK && !util_publish(part, path, message, sizeof message))
        status = command_fail(EXIT_ENVIRONMENT, "%s", message);
    if (status != EXIT_OK)
        unlink(part);
    free(part);
    return status;
}

static abench_status print_digests(const opened *o)
{
    abench_tape_summary summary = ABENCH_TAPE_SUMMARY_INIT;
    const uint64_t digest = abench_tape_digest(o->tape);
    abench_status status = ABENCH_OK;

    if (digest == 0) /* a stream that failed; its summary says with what */
        status = abench_tape_get_summary(o->tape, &summary);
    if (status != ABENCH_OK)
        return status;
    if (o->origin.is_workload)
        printf("plan_digest %016" PRIx64 "\n", o->origin.plan_digest);
    printf("work_digest %016" PRIx64 "\n", digest);
    return ABENCH_OK;
}

/* Whoever read our output may have seen enough; that is no failure. */
static int end_output(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_OK;
    return errno == EPIPE ? EXIT_OK
                          : command_fail(EXIT_ENVIRONMENT, "standard output cannot be written");
}

static int do_verb(const asked *a, const opened *o)
{
    abench_error none = ABENCH_ERROR_INIT;
    abench_status status;

    if (strcmp(a->verb, "save") == 0)
        return save_as(o->tape, a->output);
    if (strcmp(a->verb, "show") == 0)
        status = tape_print_operations(o->tape, a->limit, stdout);
    else if (strcmp(a->verb, "digest") == 0)
        status = print_digests(o);
    else if (a->json)
        status = tape_print_json(o->tape, &o->origin, stdout);
    else
        status = tape_print_summary(o->tape, &o->origin, stdout);
    return status == ABENCH_OK ? end_output() : told(&none, status, a->text);
}

int cmd_tape(int argc, char **argv)
{
    opened o = {0};
    const char *path;
    asked a;
    int status = read_arguments(argc, argv, &a);

    if (status != -1)
        return status;
    path = path_of(a.text);
    status = path != NULL ? open_file(&a, path, &o) : open_workload(&a, &o);
    if (status == EXIT_OK)
        status = do_verb(&a, &o);
    abench_tape_destroy(o.tape);
    abench_workload_destroy(o.workload);
    return status;
}
