/* Streamed tapes against the same work in memory: words, cuts, digest, summary and receipt are
 * equal, whatever the chunks; and what a generator may not do is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "script.h"
#include "tape/source.h"
#include "tape/tape.h"

/* ---- a generator: a drained script, over and over
 * --------------------------------------------- */

typedef struct recipe {
    script s;
    uint32_t repeats;
    uint64_t seed; /* of how much a call appends */
} recipe;

typedef struct progress {
    prng random;
    uint32_t at;
    uint32_t repeat;
} progress;

static abench_status begin(const void *context, void *state, abench_error *error)
{
    (void)error;
    ((progress *)state)->random.state = ((const recipe *)context)->seed;
    return ABENCH_OK;
}

static int32_t fill(const void *context, void *state, abench_tape_builder *builder,
                    abench_error *error)
{
    const recipe *r = context;
    progress *p = state;
    const uint64_t most = prng_below(&p->random, 3) == 0 ? ABENCH_FILL_MAX / 8 : 40;
    uint64_t count = 1 + prng_below(&p->random, most);

    (void)error;
    for (; count > 0; count--) {
        script_op op = r->s.ops[p->at];
        if (op.kind == ABENCH_OP_PHASE && p->repeat > 0)
            op.kind = ABENCH_OP_BARRIER; /* there are 64 phases */
        script_call(builder, &op);
        if (++p->at == r->s.count) {
            p->at = 0;
            if (++p->repeat == r->repeats)
                return 1;
        }
    }
    return 0;
}

static recipe random_recipe;

static void make_recipe(prng *random, uint32_t round, uint32_t repeats)
{
    recipe *r = &random_recipe;

    r->s.stride = 1;
    r->s.lanes = 1 + round % SCRIPT_LANES_MAX;
    r->s.touch = round / SCRIPT_LANES_MAX % 4;
    r->s.size_limit = 20000;
    script_random(&r->s, random, 100 + (uint32_t)prng_below(random, 7000), 1);
    r->repeats = repeats;
    r->seed = prng_next(random);
}

static abench_tape_options options_of(const recipe *r)
{
    abench_tape_options options = ABENCH_TAPE_OPTIONS_INIT;

    options.lanes = r->s.lanes;
    options.local_slots = options.shared_slots = SCRIPT_SLOTS;
    options.touch = r->s.touch;
    return options;
}

static abench_tape *make(int streamed)
{
    const abench__generator generator = {
        .context = &random_recipe, .state_bytes = sizeof(progress), .begin = begin, .fill = fill};
    const abench_tape_options options = options_of(&random_recipe);
    abench_error error = ABENCH_ERROR_INIT;
    abench_tape *tape = NULL;

    if ((streamed ? abench__tape_stream : abench__tape_build)(&options, &generator, &tape,
                                                              &error) != ABENCH_OK)
        fail_msg("%s", error.message);
    return tape;
}

/* ---- equal ----------------------------------------------------------------------------------- */

/* Reads the stream and compares each chunk with the words and cuts of the tape in memory. */
static uint32_t assert_same_words(const abench_tape *stream, const abench_tape *whole)
{
    const uint32_t lanes = whole->summary.lanes;
    uint64_t at[SCRIPT_LANES_MAX] = {0}, cuts = 0;
    abench__reader *reader = NULL;
    abench__chunk chunk;
    uint32_t chunks = 0;

    assert_int_equal(abench__reader_create(stream, NULL, 0, &reader, NULL), ABENCH_OK);
    do {
        assert_int_equal(abench__reader_next(reader, &chunk, NULL), ABENCH_OK);
        assert_int_equal(chunk.first_cut, cuts);
        for (uint64_t cut = 0; cut < chunk.cuts; cut++)
            for (uint32_t lane = 0; lane < lanes; lane++)
                assert_int_equal(at[lane] + chunk.cut_ends[cut * lanes + lane],
                                 abench__cut_end(whole, cuts + cut, lane));
        cuts += chunk.cuts;
        for (uint32_t lane = 0; lane < lanes && chunk.cuts > 0; lane++) {
            const uint32_t count = chunk.cut_ends[(chunk.cuts - 1) * lanes + lane];
            assert_memory_equal(chunk.starts[lane], abench__lane_data(whole, lane) + at[lane],
                                count * sizeof(uint64_t));
            at[lane] += count;
        }
        if (chunk.ends_phase)
            assert_memory_equal(chunk.info, &whole->phases[chunk.phase].info, sizeof *chunk.info);
        chunks++;
    } while (!chunk.ends_tape);
    assert_int_equal(abench__reader_next(reader, &chunk, NULL), ABENCH_ERROR_NOT_FOUND);
    assert_int_equal(cuts, whole->cut_count);
    assert_int_equal(abench__reader_digest(reader), whole->digest);
    assert_int_equal(abench__reader_checksum(reader), whole->checksum);
    abench__reader_destroy(reader);
    return chunks;
}

typedef struct phases {
    uint32_t count;
    abench_phase at[ABENCH_PHASES_MAX];
} phases;

static int32_t keep_phase(const abench_phase *info, void *user)
{
    phases *p = user;

    p->at[p->count++] = *info;
    return p->count == 3; /* enough */
}

static void assert_same_phases(const abench_tape *stream, const abench_tape *whole)
{
    static phases a, b;

    a.count = b.count = 0;
    assert_int_equal(abench_tape_each_phase(stream, keep_phase, &a),
                     abench_tape_each_phase(whole, keep_phase, &b));
    assert_int_equal(a.count, b.count);
    assert_true(a.count >= 1);
    assert_memory_equal(a.at, b.at, a.count * sizeof a.at[0]);
    assert_memory_equal(&a.at[0], &whole->phases[0].info, sizeof a.at[0]);
}

static void a_stream_is_the_tape(void **state)
{
    prng random = {test_seed(__func__)};
    uint32_t most = 0;

    (void)state;
    for (uint32_t round = 0; round < 24; round++) {
        abench_tape_summary a = ABENCH_TAPE_SUMMARY_INIT, b = ABENCH_TAPE_SUMMARY_INIT;
        abench_phase x = ABENCH_PHASE_INIT, y = ABENCH_PHASE_INIT;
        abench_tape *stream, *whole;
        uint32_t chunks, middle;
        make_recipe(&random, round, round % 3 == 0 ? 1 : 60);
        stream = make(1);
        whole = make(0);
        assert_true(abench_tape_is_streamed(stream) && !abench_tape_is_streamed(whole));
        chunks = assert_same_words(stream, whole);
        most = chunks > most ? chunks : most;
        assert_int_equal(abench_tape_digest(stream), abench_tape_digest(whole));
        assert_int_equal(abench_tape_get_summary(stream, &a), ABENCH_OK);
        assert_int_equal(abench_tape_get_summary(whole, &b), ABENCH_OK);
        a.memory_bytes = b.memory_bytes;
        assert_memory_equal(&a, &b, sizeof a);
        middle = b.phases / 2;
        assert_int_equal(abench_tape_phase_at(stream, middle, &x), ABENCH_OK);
        assert_int_equal(abench_tape_phase_at(whole, middle, &y), ABENCH_OK);
        assert_memory_equal(&x, &y, sizeof x);
        assert_int_equal(abench_tape_phase_at(stream, b.phases, &x), ABENCH_ERROR_NOT_FOUND);
        assert_same_phases(stream, whole);
        abench_tape_destroy(stream);
        abench_tape_destroy(whole);
    }
    assert_true(most > 3); /* or the test saw no chunks */
}

/* ---- played ---------------------------------------------------------------------------------- */

typedef struct seen {
    uint64_t operations;
    uint64_t live; /* a hash of what was alive behind each slice */
    uint32_t slices, marks, lasts, wrong_phase;
    uint32_t phase;
} seen;

static int32_t see_slice(const abench_slice *slice, void *user)
{
    seen *s = user;

    s->operations += slice->operations;
    s->live = s->live * 31 + slice->live_bytes;
    s->slices++;
    s->lasts += slice->last;
    s->wrong_phase += slice->phase < s->phase || slice->operations == 0;
    s->phase = slice->phase;
    return 0;
}

static int32_t see_mark(const abench_mark *mark, void *user)
{
    ((seen *)user)->marks++;
    return !mark->begin && mark->info->name[0] == '\0';
}

static seen play(const abench_tape *tape, uint64_t slice, uint64_t skew, abench_receipt *receipt)
{
    abench_player_options options = ABENCH_PLAYER_OPTIONS_INIT;
    abench_error error = ABENCH_ERROR_INIT;
    seen s = {0};

    options.slice_operations = slice;
    options.skew_operations = skew;
    options.slice = see_slice;
    options.mark = see_mark;
    options.user = &s;
    if (abench_play(tape, NULL, &options, receipt, &error) != ABENCH_OK)
        fail_msg("%s", error.message);
    return s;
}

static void a_stream_plays_as_the_tape_does(void **state)
{
    prng random = {test_seed(__func__)};

    (void)state;
    for (uint32_t round = 0; round < 12; round++) {
        const uint64_t slice = prng_below(&random, 3) * prng_below(&random, 200000);
        const uint64_t skew = prng_below(&random, 2) * prng_below(&random, 20000);
        abench_receipt a = ABENCH_RECEIPT_INIT, b = ABENCH_RECEIPT_INIT;
        abench_tape *stream, *whole;
        seen of_stream, of_whole;
        make_recipe(&random, round, 40);
        stream = make(1);
        whole = make(0);
        of_stream = play(stream, slice, skew, &a);
        of_whole = play(whole, slice, skew, &b);
        assert_memory_equal(&of_stream, &of_whole, sizeof of_stream); /* the same slices, too */
        a.waits = b.waits = a.wait_ns = b.wait_ns = a.pause_ns = b.pause_ns = 0;
        assert_memory_equal(&a, &b, sizeof a);
        assert_int_equal(of_stream.lasts, 1);
        assert_int_equal(of_stream.wrong_phase, 0);
        abench_tape_destroy(stream);
        abench_tape_destroy(whole);
    }
}

/* ---- refused --------------------------------------------------------------------------------- */

static int32_t append_nothing(const void *context, void *state, abench_tape_builder *builder,
                              abench_error *error)
{
    (void)context, (void)state, (void)builder, (void)error;
    return 0;
}

static int32_t append_too_much(const void *context, void *state, abench_tape_builder *builder,
                               abench_error *error)
{
    (void)context, (void)state, (void)error;
    for (uint32_t at = 0; at < ABENCH_FILL_MAX + 1; at++)
        abench_tape_builder_pause(builder, 0, 1);
    return 0;
}

static int32_t free_nothing(const void *context, void *state, abench_tape_builder *builder,
                            abench_error *error)
{
    (void)context, (void)state, (void)error;
    abench_tape_builder_free(builder, 0, 3);
    return 0;
}

static int32_t give_up(const void *context, void *state, abench_tape_builder *builder,
                       abench_error *error)
{
    (void)context, (void)state, (void)error;
    abench_tape_builder_pause(builder, 0, 1);
    return 7;
}

static int32_t finish_it(const void *context, void *state, abench_tape_builder *builder,
                         abench_error *error)
{
    abench_tape *tape = NULL;

    (void)context, (void)state, (void)error;
    abench_tape_builder_pause(builder, 0, 1);
    abench_tape_builder_finish(builder, &tape);
    return 1;
}

static void what_a_generator_may_not_do_is_refused(void **state)
{
    static const struct {
        int32_t (*fill)(const void *, void *, abench_tape_builder *, abench_error *);
        abench_status status;
        const char *message;
    } cases[] = {{append_nothing, ABENCH_ERROR_TAPE, "appends nothing"},
                 {append_too_much, ABENCH_ERROR_LIMIT, "more than 32768"},
                 {free_nothing, ABENCH_ERROR_TAPE, "no block lives there"},
                 {give_up, ABENCH_ERROR_TAPE, "gave up"},
                 {finish_it, ABENCH_ERROR_STATE, "does not finish it"}};
    abench_tape_options options = ABENCH_TAPE_OPTIONS_INIT;

    (void)state;
    options.local_slots = 4;
    for (size_t at = 0; at < sizeof cases / sizeof cases[0]; at++) {
        const abench__generator generator = {.begin = begin,
                                             .context = &random_recipe,
                                             .state_bytes = sizeof(progress),
                                             .fill = cases[at].fill};
        abench_tape_summary summary = ABENCH_TAPE_SUMMARY_INIT;
        abench_receipt receipt = ABENCH_RECEIPT_INIT;
        abench_error error = ABENCH_ERROR_INIT;
        abench_tape *tape = NULL;
        assert_int_equal(abench__tape_stream(&options, &generator, &tape, &error), ABENCH_OK);
        assert_int_equal(abench_play(tape, NULL, NULL, &receipt, &error), cases[at].status);
        assert_non_null(strstr(error.message, cases[at].message));
        assert_int_equal(abench_tape_get_summary(tape, &summary), cases[at].status);
        assert_int_equal(abench_tape_digest(tape), 0);
        abench_tape_destroy(tape);
        abench_error_init(&error);
        assert_int_equal(abench__tape_build(&options, &generator, &tape, &error), cases[at].status);
        assert_non_null(strstr(error.message, cases[at].message));
        assert_null(tape);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_is_the_tape),
        cmocka_unit_test(a_stream_plays_as_the_tape_does),
        cmocka_unit_test(what_a_generator_may_not_do_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
