/* 03_hand_written_tape.c - a tape by hand: a producer and a consumer, and a buffer that grows. It
 * is summed up, saved, loaded and played against this process's malloc.
 *
 *   cc 03_hand_written_tape.c $(pkg-config --cflags --libs allocbench) && ./a.out my.tape
 *       (installed where the loader does not look: add -Wl,-rpath,PREFIX/lib)
 *   allocbench tape show my.tape --limit 20       what is on it, operation by operation
 *   allocbench run tape:my.tape -t glibc -t jemalloc
 */
#include <allocbench/allocbench.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define MESSAGES 20000u
#define IN_QUEUE 64u /* messages that wait for the consumer at most */

/* Lanes are threads. A local slot keeps a block of its lane, a shared one a block that another lane
 * frees. The calls are in the order in which the operations may happen; what is refused is kept by
 * the builder, so that it is enough to look at the end. */
static void write_tape(abench_tape_builder *b)
{
    const uint32_t producer = 0, consumer = 1;

    abench_tape_builder_phase(b, "start", 0); /* not timed */
    abench_tape_builder_calloc(b, producer, 0, 4096);

    abench_tape_builder_phase(b, "messages", ABENCH_PHASE_TIMED);
    for (uint32_t n = 0; n < MESSAGES; n++) {
        const uint32_t slot = ABENCH_SLOT_SHARED | n % IN_QUEUE;
        if (n >= IN_QUEUE) /* the consumer frees the message that lay here */
            abench_tape_builder_free(b, consumer, slot);
        abench_tape_builder_malloc(b, producer, slot, 64 + n % 7 * 32);
        if (n % 1000 == 999) /* the producer's buffer grows */
            abench_tape_builder_realloc(b, producer, 0, 4096 + n);
    }

    abench_tape_builder_phase(b, "end", 0);
    for (uint32_t n = 0; n < IN_QUEUE; n++)
        abench_tape_builder_free(b, consumer, ABENCH_SLOT_SHARED | n);
    abench_tape_builder_free(b, producer, 0);
}

static abench_tape *make_tape(void)
{
    abench_tape_options options = ABENCH_TAPE_OPTIONS_INIT;
    abench_tape_builder *builder = NULL;
    abench_tape *tape = NULL;

    options.lanes = 2;
    options.local_slots = 1;         /* of each lane */
    options.shared_slots = IN_QUEUE; /* of all */
    options.touch = ABENCH_TOUCH_ALL;
    if (abench_tape_builder_create(&options, &builder) != ABENCH_OK)
        return NULL;
    write_tape(builder);
    if (abench_tape_builder_finish(builder, &tape) != ABENCH_OK)
        fprintf(stderr, "%s\n", abench_tape_builder_error(builder)->message);
    abench_tape_builder_destroy(builder);
    return tape;
}

static void print_summary(const abench_tape *tape)
{
    abench_tape_summary s = ABENCH_TAPE_SUMMARY_INIT;

    if (abench_tape_get_summary(tape, &s) != ABENCH_OK)
        return;
    printf("operations      %" PRIu64 "\n", s.operations);
    printf("sizes           %" PRIu64 " ... %" PRIu64 " bytes, median %" PRIu64 "\n",
           s.size_minimum, s.size_maximum, s.size_median);
    printf("live peak       %" PRIu64 " bytes\n", s.live_bytes_peak);
    printf("cross-lane      %" PRIu64 " frees\n", s.cross_lane_frees);
    printf("work digest     %016" PRIx64 "\n", abench_tape_digest(tape));
}

static int save(const abench_tape *tape, const char *path)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    abench_error error = ABENCH_ERROR_INIT;
    int failed = fd < 0;

    if (fd >= 0) {
        failed = abench_tape_save(tape, fd, &error) != ABENCH_OK;
        failed |= close(fd) != 0;
    }
    if (failed)
        fprintf(stderr, "%s is not written: %s\n", path, error.message);
    return failed;
}

/* The receipt says what was really done. */
static int play(const abench_tape *tape)
{
    abench_receipt receipt = ABENCH_RECEIPT_INIT;
    abench_error error = ABENCH_ERROR_INIT;

    if (abench_play(tape, NULL, NULL, &receipt, &error) != ABENCH_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    printf("malloc calls    %" PRIu64 " of %" PRIu64 "\n", receipt.executed[ABENCH_OP_MALLOC],
           receipt.planned[ABENCH_OP_MALLOC]);
    printf("read back       %s\n",
           receipt.checksum == receipt.checksum_planned ? "what was written" : "something else");
    printf("digest played   %016" PRIx64 "\n", receipt.work_digest);
    return 0;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "hand_written.tape";
    abench_error error = ABENCH_ERROR_INIT;
    abench_tape *tape = make_tape(), *loaded = NULL;
    int failed = tape == NULL;

    if (!failed) {
        print_summary(tape);
        failed = save(tape, path);
    }
    if (!failed && abench_tape_load(path, NULL, &loaded, &error) != ABENCH_OK) {
        fprintf(stderr, "%s: %s\n", path, error.message);
        failed = 1;
    }
    if (!failed)
        failed = play(loaded);
    abench_tape_destroy(loaded);
    abench_tape_destroy(tape);
    return failed;
}
