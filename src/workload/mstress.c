/*
 * mstress.c - threads that come and go and swap their blocks through a common array.
 *
 * Pattern: Daan Leijen's stress test of mimalloc. In each phase a thread has A = 5000 (1 to 8 times
 * that, by its number) local blocks to allocate, of 1 to 16 words, and A / 2 retained ones of 1 to
 * 64 words; 2 % of them are 100, some 1000, a few 10000 times as large. With 51 % the next block is
 * a local one, which goes to the end of a vector, else a retained one. After each, with 67 % a
 * random place of the vector is freed, if it holds a block; with 26 % a random place is exchanged
 * with a random one of 1000 that all threads share. At its end a thread frees what it holds; then
 * half of the shared places are freed and the next phase begins with new threads.
 *
 * What differs from the original: which thread frees what is a race there; here it is the merged
 * order's. Its threads have the same numbers in every phase; here each draws anew. It ends its
 * threads; here lanes are fixed, and each takes another thread's part in the next phase, so that
 * what the shared places hold is inherited. Its vector takes 800 KB, of which as much is written as
 * is used; here it is as large as that. It checks each word of a block that it frees; here the
 * first byte is read. There are more phases than its 25, which take a tenth of a second.
 *
 * Only a block that another lane will free needs a shared slot, 4 % of them. Which ones is known
 * ahead: each phase is gone through twice, first without operations.
 */
#include <string.h>

#include "base/root.h"
#include "workload/workload.h"

static const abench__parameter parameters[] = {
    {"lanes", "2", "threads", PARAMETER_INTEGER, 1, ABENCH_LANES_MAX, NULL, 0},
    {"blocks", "5000", "local blocks of the first thread; others have up to 8 times that",
     PARAMETER_INTEGER, 2, 100000, NULL, 0},
    {"phases", "400", "times that threads begin and end; the original: 25", PARAMETER_INTEGER, 1,
     1000000, "8", 1},
    {"transfers", "1000", "shared places", PARAMETER_INTEGER, 1, 1u << 20, NULL, 0},
    {"touch", "all", "what is written of a block: nothing, first, pages, all", PARAMETER_TOUCH, 0,
     0, NULL, 0},
    {0},
};

#define WORD             8u
#define LOCAL_SIZES      5u /* 1, 2, 4, 8, 16 words */
#define RETAINED_SIZES   7u /* to 64 */
#define PERCENT_LOCAL    51u
#define PERCENT_FREE     67u
#define PERCENT_EXCHANGE 26u
#define PERCENT_CLEAR    51u
#define LARGEST          (64u * WORD * 10000u)
#define COUNTED_MOST     1000000u /* operations of a tape that is gone through to be measured */

/* What a thread does next. */
enum { RETAINED_ARRAY, VECTOR, LOOP, FREE_RETAINED, FREE_LOCAL, FREE_ARRAYS, ENDED };

/* A block that is not retained is a token: 0 none; with ABENCH_SLOT_SHARED its slot; else, while a
 * phase is gone through the first time, 1 + its number (by lane and order of allocation), and the
 * second time 1 + its local slot. */
typedef struct thread {
    abench_random random;
    abench_random before; /* the same when the phase began */
    abench_random sizes;
    uint32_t *vector; /* tokens */
    uint32_t *slots;  /* local ones that are free: a stack */
    uint32_t top;     /* of the vector: local blocks allocated */
    uint32_t retained;
    uint32_t slots_top;
    uint32_t local_all; /* A */
    uint32_t stage;
    uint32_t done; /* of the stage */
} thread;

typedef struct mstress {
    abench_random clear; /* which shared places the main thread frees */
    uint32_t *transfer;  /* tokens */
    uint32_t *before;    /* the same when the phase began */
    uint32_t *queue;     /* shared slots that are free, the one that was freed last at the end */
    uint32_t *migrates;  /* a bit for each local block of the phase */
    uint64_t phase;
    uint32_t queue_first;
    uint32_t queue_size;
    uint32_t queue_count;
    uint32_t lanes;
    uint32_t local_most; /* A of the thread that has most */
    uint32_t transfers;
    uint32_t stage;
    uint32_t done; /* of the shared places */
    thread thread[];
} mstress;

enum { BEGIN_PHASE, PHASE, CLEAR };

/* ---- what is known before -------------------------------------------------------------------- */

static uint64_t local_of(const abench_workload *w, uint64_t number)
{
    return abench__workload_number(w, "blocks") * (number % 8 + 1);
}

static uint64_t local_most(const abench_workload *w)
{
    const uint64_t lanes = abench__workload_number(w, "lanes");

    return local_of(w, lanes < 8 ? lanes - 1 : 7);
}

static uint64_t local_sum(const abench_workload *w)
{
    uint64_t sum = 0;

    for (uint64_t number = 0; number < abench__workload_number(w, "lanes"); number++)
        sum += local_of(w, number);
    return sum;
}

/* Local and retained blocks and two arrays a thread, allocated and freed; two meetings a phase. */
static uint64_t operations(const abench_workload *w)
{
    const uint64_t lanes = abench__workload_number(w, "lanes");

    return abench__workload_number(w, "phases") *
           (2 * lanes + 2 * (local_sum(w) + local_sum(w) / 2 + 2 * lanes));
}

/* Goes through the tape; 0 when that fails. */
static uint64_t counted(const abench_workload *w)
{
    abench_tape_summary summary = ABENCH_TAPE_SUMMARY_INIT;
    abench_tape *tape = NULL;

    if (abench_workload_stream(w, NULL, &tape, NULL) != ABENCH_OK)
        return 0;
    if (abench_tape_get_summary(tape, &summary) != ABENCH_OK)
        summary.live_bytes_peak = 0;
    abench_tape_destroy(tape);
    return summary.live_bytes_peak;
}

/* A few phases differ by a factor of three from seed to seed, as blocks of 5 MB are drawn or not:
 * they are counted. Of many: a thread holds half of the local blocks that it made, of 440 bytes on
 * average, and one retained block, of 1289, for each two; its arrays take 8 bytes a place. Most is
 * alive when a group of threads ends (a third more where there are others, which go on while it
 * frees), and how much more than the average is a matter of a few very large blocks: a standard
 * deviation of 48 KiB a pair, and the more phases the more of those. */
static uint64_t live_bytes(const abench_workload *w)
{
    const uint64_t lanes = abench__workload_number(w, "lanes");
    const uint64_t places = abench__workload_number(w, "transfers");
    uint64_t pairs = 0, deviations = 22; /* in eighths */
    uint64_t shared = local_sum(w) * abench__workload_number(w, "phases");

    if (operations(w) <= COUNTED_MOST) {
        const uint64_t bytes = counted(w);
        if (bytes > 0)
            return bytes;
    }
    shared = shared < places ? shared : places;
    for (uint64_t group = 0; group < 8; group++) {
        uint64_t threads = 0;
        for (uint64_t number = 0; number < lanes; number++)
            threads += number % 8 >= group;
        if (threads * local_of(w, group) / 2 > pairs)
            pairs = threads * local_of(w, group) / 2;
    }
    for (uint64_t phases = abench__workload_number(w, "phases"); phases > 1; phases /= 2)
        deviations += 3;
    return pairs * 2334 + abench__square_root(pairs) * 49152 * deviations / 8 + shared * 440 +
           abench__square_root(shared) * 13632 * deviations / 8 + LARGEST + local_sum(w) * 12;
}

static void shape(const abench_workload *w, abench_tape_options *options)
{
    const uint64_t most = local_most(w);

    options->lanes = (uint32_t)abench__workload_number(w, "lanes");
    options->local_slots = (uint32_t)(2 + most / 2 + most);
    options->shared_slots = (uint32_t)(abench__workload_number(w, "transfers") + local_sum(w));
    options->touch = (uint32_t)abench__workload_number(w, "touch");
}

static uint64_t bits_bytes(uint64_t bits)
{
    return (bits + 31) / 32 * sizeof(uint32_t);
}

static uint64_t state_bytes(const abench_workload *w)
{
    const uint64_t lanes = abench__workload_number(w, "lanes");
    const uint64_t transfers = abench__workload_number(w, "transfers");
    const uint64_t places = lanes * local_most(w);

    return sizeof(mstress) + lanes * sizeof(thread) + bits_bytes(places) +
           sizeof(uint32_t) * (2 * places + 3 * transfers + local_sum(w));
}

static void begin(const abench_workload *w, void *memory)
{
    mstress *s = memory;
    uint32_t *numbers;

    s->lanes = (uint32_t)abench__workload_number(w, "lanes");
    s->transfers = (uint32_t)abench__workload_number(w, "transfers");
    s->local_most = (uint32_t)local_most(w);
    s->queue_size = s->queue_count = (uint32_t)(s->transfers + local_sum(w));
    abench_random_seed(&s->clear, w->seed, 0, ABENCH_PURPOSE_SCHEDULE);
    s->transfer = (uint32_t *)(s->thread + s->lanes);
    s->before = s->transfer + s->transfers;
    s->queue = s->before + s->transfers;
    numbers = s->queue + s->queue_size;
    for (uint32_t at = 0; at < s->queue_size; at++)
        s->queue[at] = at;
    for (uint32_t lane = 0; lane < s->lanes; lane++) {
        thread *t = &s->thread[lane];
        t->vector = numbers;
        t->slots = numbers + s->local_most;
        numbers += 2 * (uint64_t)s->local_most;
        abench_random_seed(&t->random, w->seed, lane, ABENCH_PURPOSE_SLOT);
        abench_random_seed(&t->sizes, w->seed, lane, ABENCH_PURPOSE_SIZE);
    }
    s->migrates = numbers;
}

/* ---- slots ----------------------------------------------------------------------------------- */

/* Local slots: two arrays, the retained blocks, the others. */
#define ARRAYS         2u
#define FIRST_RETAINED ARRAYS

static uint32_t first_local(const mstress *s)
{
    return ARRAYS + s->local_most / 2;
}

/* The shared slot that was freed longest ago: nobody has to wait for it. */
static uint32_t take_shared(mstress *s)
{
    const uint32_t slot = s->queue[s->queue_first];

    s->queue_first = (s->queue_first + 1) % s->queue_size;
    s->queue_count--;
    return ABENCH_SLOT_SHARED | slot;
}

static void give_shared(mstress *s, uint32_t token)
{
    const uint32_t last = (uint32_t)(((uint64_t)s->queue_first + s->queue_count) % s->queue_size);

    s->queue[last] = token & ~ABENCH_SLOT_SHARED;
    s->queue_count++;
}

static void mark(mstress *s, uint32_t token)
{
    if (token != 0 && !(token & ABENCH_SLOT_SHARED))
        s->migrates[(token - 1) / 32] |= (uint32_t)1 << (token - 1) % 32;
}

/* ---- blocks; without a builder the phase is only gone through -------------------------------- */

static int chance(thread *t, uint32_t percent)
{
    return abench_random_below(&t->random, 100) < percent;
}

/* 2 % of the blocks are inflated; of these 2 % by 10000, 11 % of the rest by 1000. */
static uint64_t draw_size(thread *t, uint32_t sizes)
{
    uint64_t words = (uint64_t)1 << abench_random_below(&t->sizes, sizes);

    if (abench_random_below(&t->sizes, 100) < 2) {
        if (abench_random_below(&t->sizes, 100) < 2)
            words *= 10000;
        else
            words *= abench_random_below(&t->sizes, 100) < 11 ? 1000 : 100;
    }
    return words * WORD;
}

static uint32_t allocate_local(mstress *s, abench_tape_builder *builder, uint32_t lane)
{
    thread *t = &s->thread[lane];
    const uint32_t number = lane * s->local_most + t->top;
    uint32_t token, slot;

    if (builder == NULL)
        return number + 1;
    if (s->migrates[number / 32] >> number % 32 & 1) {
        slot = token = take_shared(s);
    } else {
        slot = t->slots[--t->slots_top];
        token = slot + 1;
    }
    abench_tape_builder_malloc(builder, lane, slot, draw_size(t, LOCAL_SIZES));
    return token;
}

/* Returns 1 if there was a block. */
static uint32_t free_token(mstress *s, abench_tape_builder *builder, uint32_t lane, uint32_t token)
{
    thread *t = &s->thread[lane];

    if (token == 0)
        return 0;
    if (builder == NULL) {
        if ((token - 1) / s->local_most != lane)
            mark(s, token);
    } else if (token & ABENCH_SLOT_SHARED) {
        abench_tape_builder_free(builder, lane, token);
        give_shared(s, token);
    } else {
        abench_tape_builder_free(builder, lane, token - 1);
        t->slots[t->slots_top++] = token - 1;
    }
    return 1;
}

static void allocate_retained(mstress *s, abench_tape_builder *builder, uint32_t lane)
{
    thread *t = &s->thread[lane];

    if (builder != NULL)
        abench_tape_builder_malloc(builder, lane, FIRST_RETAINED + t->retained,
                                   draw_size(t, RETAINED_SIZES));
    t->retained++;
}

/* ---- a thread -------------------------------------------------------------------------------- */

static uint32_t free_random(mstress *s, abench_tape_builder *builder, uint32_t lane)
{
    thread *t = &s->thread[lane];
    uint32_t *place = &t->vector[abench_random_below(&t->random, t->top)];
    const uint32_t token = *place;

    *place = 0;
    return free_token(s, builder, lane, token);
}

static void exchange(mstress *s, uint32_t lane)
{
    thread *t = &s->thread[lane];
    uint32_t *place = &t->vector[abench_random_below(&t->random, t->top)];
    uint32_t *shared = &s->transfer[abench_random_below(&t->random, s->transfers)];
    const uint32_t token = *place;

    *place = *shared;
    *shared = token;
}

static void turn(mstress *s, abench_tape_builder *builder, uint32_t lane)
{
    thread *t = &s->thread[lane];
    const int local = chance(t, PERCENT_LOCAL) && t->top < t->local_all;

    if (local || t->retained == t->local_all / 2) {
        t->vector[t->top] = allocate_local(s, builder, lane);
        t->top++;
    } else {
        allocate_retained(s, builder, lane);
    }
    if (chance(t, PERCENT_FREE) && t->top > 0)
        free_random(s, builder, lane);
    if (chance(t, PERCENT_EXCHANGE) && t->top > 0)
        exchange(s, lane);
}

static void allocate_array(const thread *t, abench_tape_builder *builder, uint32_t lane)
{
    if (builder == NULL)
        return;
    if (t->stage == RETAINED_ARRAY)
        abench_tape_builder_calloc(builder, lane, 0, t->local_all / 2 * WORD);
    else
        abench_tape_builder_malloc(builder, lane, 1, t->local_all * WORD);
}

static void free_slot(abench_tape_builder *builder, uint32_t lane, uint32_t slot)
{
    if (builder != NULL)
        abench_tape_builder_free(builder, lane, slot);
}

static void next_stage(thread *t)
{
    t->stage++;
    t->done = 0;
}

/* The next operation or two of a thread; 0 when it has ended. */
static uint32_t work(mstress *s, abench_tape_builder *builder, uint32_t lane)
{
    thread *t = &s->thread[lane];

    if (t->stage == RETAINED_ARRAY || t->stage == VECTOR) {
        allocate_array(t, builder, lane);
        next_stage(t);
        return 1;
    }
    if (t->stage == LOOP && t->top + t->retained < t->local_all + t->local_all / 2) {
        turn(s, builder, lane);
        return 1;
    }
    if (t->stage == LOOP)
        next_stage(t);
    if (t->stage == FREE_RETAINED && t->done < t->retained) {
        free_slot(builder, lane, FIRST_RETAINED + t->done++);
        return 1;
    }
    if (t->stage == FREE_RETAINED)
        next_stage(t);
    while (t->stage == FREE_LOCAL && t->done < t->top)
        if (free_token(s, builder, lane, t->vector[t->done++]) != 0)
            return 1;
    if (t->stage == FREE_LOCAL)
        next_stage(t);
    if (t->stage == ENDED)
        return 0;
    free_slot(builder, lane, t->done++);
    if (t->done == ARRAYS)
        next_stage(t);
    return 1;
}

/* One turn of every thread; 0 when all have ended. */
static uint32_t work_all(mstress *s, abench_tape_builder *builder)
{
    uint32_t made = 0;

    for (uint32_t lane = 0; lane < s->lanes; lane++)
        made += work(s, builder, lane);
    return made;
}

/* ---- phases ---------------------------------------------------------------------------------- */

/* The lane that plays thread 0, which is the main one. */
static uint32_t main_lane(const mstress *s)
{
    return (uint32_t)(s->phase % s->lanes);
}

static void begin_threads(const abench_workload *w, mstress *s)
{
    for (uint32_t lane = 0; lane < s->lanes; lane++) {
        thread *t = &s->thread[lane];
        t->local_all = (uint32_t)local_of(w, (lane + s->lanes - main_lane(s)) % s->lanes);
        t->stage = RETAINED_ARRAY;
        t->top = t->retained = t->done = 0;
    }
}

/* Goes through the phase without operations, to know which blocks another lane will free. */
static void look_ahead(const abench_workload *w, mstress *s)
{
    const uint64_t transfer_bytes = s->transfers * sizeof(uint32_t);

    memset(s->migrates, 0, bits_bytes((uint64_t)s->lanes * s->local_most));
    memcpy(s->before, s->transfer, transfer_bytes);
    for (uint32_t lane = 0; lane < s->lanes; lane++)
        s->thread[lane].before = s->thread[lane].random;
    begin_threads(w, s);
    while (work_all(s, NULL) > 0)
        ;
    for (uint32_t at = 0; at < s->transfers; at++)
        mark(s, s->transfer[at]);
    memcpy(s->transfer, s->before, transfer_bytes);
    for (uint32_t lane = 0; lane < s->lanes; lane++)
        s->thread[lane].random = s->thread[lane].before;
}

static void begin_phase(const abench_workload *w, mstress *s, abench_tape_builder *builder)
{
    if (s->phase == 0)
        abench_tape_builder_phase(builder, "work", ABENCH_PHASE_TIMED);
    else
        abench_tape_builder_barrier(builder);
    look_ahead(w, s);
    begin_threads(w, s);
    for (uint32_t lane = 0; lane < s->lanes; lane++) {
        thread *t = &s->thread[lane];
        t->slots_top = s->local_most;
        for (uint32_t at = 0; at < s->local_most; at++)
            t->slots[at] = first_local(s) + s->local_most - 1 - at;
    }
    s->stage = PHASE;
}

static void end_phase(mstress *s, abench_tape_builder *builder, int is_last)
{
    if (is_last)
        abench_tape_builder_phase(builder, "drain", 0);
    else
        abench_tape_builder_barrier(builder);
    s->done = 0;
    s->stage = CLEAR;
}

/* The main thread's part between two phases; after the last it frees all. */
static void clear(mstress *s, abench_tape_builder *builder, int is_last)
{
    for (uint32_t made = 0; made < 256 && s->done < s->transfers; s->done++) {
        uint32_t *place = &s->transfer[s->done];
        if (abench_random_below(&s->clear, 100) >= PERCENT_CLEAR && !is_last)
            continue;
        made += free_token(s, builder, main_lane(s), *place);
        *place = 0;
    }
}

static int32_t fill(const abench_workload *w, void *memory, abench_tape_builder *builder)
{
    mstress *s = memory;
    const int is_last = s->phase + 1 == abench__workload_number(w, "phases");

    if (s->stage == BEGIN_PHASE) {
        begin_phase(w, s, builder);
    } else if (s->stage == PHASE) {
        for (uint32_t batch = 0; batch < 8 && s->stage == PHASE; batch++)
            if (work_all(s, builder) == 0)
                end_phase(s, builder, is_last);
    } else {
        clear(s, builder, is_last);
        if (s->done < s->transfers)
            return 0;
        if (is_last)
            return 1;
        s->phase++;
        begin_phase(w, s, builder);
    }
    return 0;
}

const abench__workload_kind abench__mstress = {
    .info = {sizeof(abench_workload_info), 1, "mstress",
             "threads allocate, free and swap blocks of 8 bytes to 5 MB, end, and leave some to "
             "their successors: a heap under changing threads, 4 % of the frees across them",
             "the stress test of mimalloc (Daan Leijen, 2019), program mstress of "
             "daanx/mimalloc-bench ce5784f, arguments N 50 25, with more phases",
             "all phases, waits for other lanes and at barriers taken off; not the drain",
             "all of each block; the original also verifies all of it before it is freed"},
    .parameters = parameters,
    .operations = operations,
    .live_bytes = live_bytes,
    .shape = shape,
    .state_bytes = state_bytes,
    .begin = begin,
    .fill = fill,
};
