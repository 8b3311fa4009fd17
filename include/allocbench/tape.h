/*
 * tape.h - the exact sequence of operations that a program asks of malloc: built, checked,
 * digested, summarised.
 *
 * A tape has lanes (threads). Each lane is a list of 64-bit words, little-endian wherever they are
 * written down. Version 1:
 *
 *   bits 63-59  kind        ABENCH_OP_...
 *   bit  58     extended    a second word follows
 *   bit  57     shared      the slot is shared between lanes
 *   bit  56     empty       the block (of a realloc: the one before) has 0 bytes: nothing of it
 *                           may be read or written
 *   bits 55-32  slot        its low 24 bits
 *   bits 31-0   size        bytes, low 32 bits, of what is allocated, freed by free_sized or
 *                           touched; of a free or an end: 0; of a phase: its index; of a pause:
 *                           microseconds (a shared pause is a pace: until so many microseconds
 *                           after the lane's pace before, or its begin); of a barrier: how many
 *                           were before it; of a free, free_sized or touch of a shared slot: its
 *                           generation
 *
 *   second word: bits 31-0  with a shared slot: generation of a malloc, calloc, aligned_alloc or
 *                           realloc (the one that it makes), size of a free_sized or touch
 *                bits 47-32 size, bits 47-32
 *                bits 55-48 slot, bits 31-24
 *                bits 61-56 log2 of the alignment (aligned_alloc)
 *                bits 63-62 0
 *
 * Slots keep a pointer between its allocation and its free. A local slot belongs to one lane. A
 * shared slot is one atomic word, a 16-bit generation over a 48-bit pointer: the generation is odd
 * while the block lives and even while the slot is empty. A malloc into a shared slot waits until
 * the generation before it was freed; a free or touch waits until its own generation lives; a
 * realloc, which ends one block and begins another, makes generation g of g - 2. (Waiting "until it
 * is not null" would hand over the wrong tenant.)
 *
 * Order: the order of the builder calls is the tape's merged order. It is cut every
 * ABENCH_TAPE_CUT operations; slices of a run, and the skew bound, are made of whole cuts, so no
 * operation depends on a later cut.
 *
 * Digests (any language can compute them): mix(x) is SplitMix64's finaliser,
 *   x ^= x >> 30; x *= 0xbf58476d1ce4e5b9; x ^= x >> 27; x *= 0x94d049bb133111eb; x ^= x >> 31;
 *   fold(h, w) = mix((h ^ w) + 0x9e3779b97f4a7c15).
 *   A lane's digest starts with its index, folds each of its words, then the count of its words.
 *   A tape's work digest starts with the version (1), folds the lane count, then the lanes'
 *   digests in order.
 */
#ifndef ALLOCBENCH_TAPE_H
#define ALLOCBENCH_TAPE_H

#include <allocbench/allocator.h>
#include <allocbench/base.h>
#include <allocbench/histogram.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ABENCH_TAPE_VERSION 1
#define ABENCH_TAPE_CUT     1024 /* operations of the merged order between two cuts */

/* Kinds of operation; the values are part of the format. */
#define ABENCH_OP_MALLOC        1
#define ABENCH_OP_CALLOC        2
#define ABENCH_OP_ALIGNED_ALLOC 3
#define ABENCH_OP_REALLOC       4
#define ABENCH_OP_FREE          5
#define ABENCH_OP_FREE_SIZED    6
#define ABENCH_OP_TOUCH         7
#define ABENCH_OP_PHASE         8
#define ABENCH_OP_BARRIER       9
#define ABENCH_OP_PAUSE         10
#define ABENCH_OP_END           11
#define ABENCH_OP_KINDS         12 /* length of an array indexed by kind */

/* "malloc", "aligned_alloc" ...; NULL for no kind. Any thread. */
ABENCH_API const char *abench_op_name(uint32_t kind);

/* How much of a block is written after it was allocated: a property of the tape. */
#define ABENCH_TOUCH_NOTHING 0
#define ABENCH_TOUCH_FIRST   1 /* the first byte */
#define ABENCH_TOUCH_PAGES   2 /* the first byte, then a byte every 4096 */
#define ABENCH_TOUCH_ALL     3

/* "nothing", "first byte", "a byte per page", "all"; NULL for none of them. Any thread. */
ABENCH_API const char *abench_touch_name(uint32_t touch);

#define ABENCH_LANES_MAX   1024
#define ABENCH_FILL_MAX    32768 /* operations that one call of a generator may append */
#define ABENCH_PHASES_MAX  64
#define ABENCH_PHASE_TIMED 1u          /* its slices make the time of the run */
#define ABENCH_SLOT_SHARED 0x80000000u /* or-ed into a slot number: a shared slot */

typedef struct abench_tape abench_tape;
typedef struct abench_tape_builder abench_tape_builder;

typedef struct abench_tape_options {
    uint32_t struct_size;
    uint32_t lanes;                   /* 1 ... ABENCH_LANES_MAX; 0: 1 */
    uint32_t local_slots;             /* a lane */
    uint32_t shared_slots;            /* of the whole tape */
    uint32_t touch;                   /* ABENCH_TOUCH_... */
    uint32_t flags;                   /* must be 0 */
    const abench_memory_hooks *hooks; /* NULL: mmap; must outlive the tape */
} abench_tape_options;

#define ABENCH_TAPE_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(abench_tape_options), 0, 0, 0, 0, 0, 0                                              \
    }

/* Sets struct_size, the rest to 0. Any thread. */
ABENCH_API void abench_tape_options_init(abench_tape_options *options);

/* A builder with no operations yet. ABENCH_ERROR_ARGUMENT, _MEMORY. Any thread. */
ABENCH_API abench_status abench_tape_builder_create(const abench_tape_options *options,
                                                    abench_tape_builder **out);

/* The functions below append one operation to a lane. The builder refuses what no program could
 * have done - freeing what is not allocated, allocating over a live slot - with ABENCH_ERROR_TAPE,
 * and keeps its first error: every later call returns it, so that a generator may check once, at
 * finish. ABENCH_ERROR_ARGUMENT, _LIMIT, _MEMORY. One thread per object; none blocks. */

/* slot: empty before. size in bytes, below 2^47; may be 0. */
ABENCH_API abench_status abench_tape_builder_malloc(abench_tape_builder *builder, uint32_t lane,
                                                    uint32_t slot, uint64_t size);

/* As malloc; the player checks that the first byte is 0 where the tape touches. */
ABENCH_API abench_status abench_tape_builder_calloc(abench_tape_builder *builder, uint32_t lane,
                                                    uint32_t slot, uint64_t size);

/* slot: holds a block. size in bytes, 1 or more. */
ABENCH_API abench_status abench_tape_builder_realloc(abench_tape_builder *builder, uint32_t lane,
                                                     uint32_t slot, uint64_t size);

/* As malloc. alignment: a power of two. */
ABENCH_API abench_status abench_tape_builder_aligned(abench_tape_builder *builder, uint32_t lane,
                                                     uint32_t slot, uint64_t alignment,
                                                     uint64_t size);

/* slot: holds a block; empty afterwards. */
ABENCH_API abench_status abench_tape_builder_free(abench_tape_builder *builder, uint32_t lane,
                                                  uint32_t slot);

/* As free, told the size to the allocator (C23 free_sized) where it takes one. */
ABENCH_API abench_status abench_tape_builder_free_sized(abench_tape_builder *builder, uint32_t lane,
                                                        uint32_t slot);

/* Writes the block again, as the tape's touch says. A touch leaves no trace in its slot, so that a
 * touch of a shared slot, and another lane's next free, realloc or touch of it, must have a barrier
 * or a phase's edge between them; the builder refuses them otherwise. */
ABENCH_API abench_status abench_tape_builder_touch(abench_tape_builder *builder, uint32_t lane,
                                                   uint32_t slot);

/* The lane sleeps: real time, not timed. */
ABENCH_API abench_status abench_tape_builder_pause(abench_tape_builder *builder, uint32_t lane,
                                                   uint32_t microseconds);

/* The lane sleeps until so many microseconds after its pace before (or its begin), however long its
 * work took: real time at the tape's own rate. A lane that is late does not sleep, and catches
 * up. */
ABENCH_API abench_status abench_tape_builder_pace(abench_tape_builder *builder, uint32_t lane,
                                                  uint32_t microseconds);

/* All lanes meet. */
ABENCH_API abench_status abench_tape_builder_barrier(abench_tape_builder *builder);

/* All lanes meet, the phase before ends, and the named one begins: the player's mark callback runs
 * while they stand. Operations before the first phase open a timed one called "work". name: 1 ...
 * 31 of a-z, 0-9, '-'. flags: ABENCH_PHASE_TIMED or 0. */
ABENCH_API abench_status abench_tape_builder_phase(abench_tape_builder *builder, const char *name,
                                                   uint32_t flags);

/* Ends every lane and hands over the tape; the builder is empty then and can only be destroyed.
 * Returns the builder's first error if there was one. One thread per object. */
ABENCH_API abench_status abench_tape_builder_finish(abench_tape_builder *builder,
                                                    abench_tape **out);

/* The builder's first error in detail; its message is "" when there was none. Lives as long as
 * the builder. One thread per object. */
ABENCH_API const abench_error *abench_tape_builder_error(const abench_tape_builder *builder);

/* accepts NULL. One thread per object. */
ABENCH_API void abench_tape_builder_destroy(abench_tape_builder *builder);

/* accepts NULL. One thread per object, after its last player. */
ABENCH_API void abench_tape_destroy(abench_tape *tape);

/* The work digest, as specified above. A streamed tape is gone through once for it; 0 when that
 * fails. Any thread. */
ABENCH_API uint64_t abench_tape_digest(const abench_tape *tape);

/* What is on a tape, in the merged order. */
typedef struct abench_tape_summary {
    uint32_t struct_size;
    uint32_t version;
    uint32_t lanes;
    uint32_t touch;
    uint32_t local_slots; /* a lane */
    uint32_t shared_slots;
    uint32_t phases;
    uint32_t reserved;
    uint64_t operations; /* the sum of by_kind: phases, barriers and ends are among them */
    uint64_t by_kind[ABENCH_OP_KINDS];
    uint64_t words;
    uint64_t bytes_requested; /* sum over malloc, calloc, aligned_alloc and realloc */
    uint64_t size_minimum;
    uint64_t size_maximum;
    uint64_t live_bytes_peak;
    uint64_t live_blocks_peak;
    uint64_t live_bytes_end; /* 0 for a tape that cleans up */
    uint64_t live_blocks_end;
    uint64_t cross_lane_frees; /* frees by another lane than the one that allocated */
    uint64_t memory_bytes;     /* that the tape itself takes; a streamed one: while it is played */
    uint64_t size_median;      /* of what is requested; both within 1.6 % */
    uint64_t lifetime_median;  /* operations of the merged order from a block's allocation (or
                                  realloc) to its free; of blocks that are freed */
} abench_tape_summary;

#define ABENCH_TAPE_SUMMARY_INIT                                                                   \
    {                                                                                              \
        sizeof(abench_tape_summary), 0, 0, 0, 0, 0, 0, 0, 0, {0}, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
            0                                                                                      \
    }

/* Sets struct_size, the rest to 0. Any thread. */
ABENCH_API void abench_tape_summary_init(abench_tape_summary *summary);

/* Fills *summary up to its struct_size. A streamed tape is gone through once for it, which takes
 * some ns an operation. ABENCH_ERROR_MEMORY, or what its generator failed with. Any thread. */
ABENCH_API abench_status abench_tape_get_summary(const abench_tape *tape,
                                                 abench_tape_summary *summary);

/* A phase of a tape. */
typedef struct abench_phase {
    uint32_t struct_size;
    uint32_t flags;
    uint64_t operations;      /* in it, over all lanes */
    uint64_t live_bytes_end;  /* planned, when it ends */
    uint64_t live_blocks_end; /* planned, when it ends */
    char name[32];
} abench_phase;

#define ABENCH_PHASE_INIT                                                                          \
    {                                                                                              \
        sizeof(abench_phase), 0, 0, 0, 0, ""                                                       \
    }

/* Fills *out with phase index, 0-based; ABENCH_ERROR_NOT_FOUND beyond the last. A streamed tape is
 * gone through once for it. Any thread. */
ABENCH_API abench_status abench_tape_phase_at(const abench_tape *tape, uint32_t index,
                                              abench_phase *out);

/* Calls phase for each phase of tape, in order; *info lives during the call. Non-zero ends it with
 * ABENCH_ERROR_STOPPED. A streamed tape is gone through once. Any thread. */
ABENCH_API abench_status abench_tape_each_phase(
    const abench_tape *tape, int32_t (*phase)(const abench_phase *info, void *user), void *user);

/* ---- streams ---------------------------------------------------------------------------------
 *
 * A streamed tape holds no operations. It knows how to make them, chunk by chunk, again and again
 * the same: a player makes the next chunk while no lane runs and nothing is timed. A tape of any
 * length so takes a fixed memory. abench_workload_stream makes one of a workload, abench_tape_open
 * of a file. */

/* 1 for a streamed tape, else 0. Any thread. */
ABENCH_API int32_t abench_tape_is_streamed(const abench_tape *tape);

/* ---- operations, one by one ------------------------------------------------------------------ */

/* An operation of a tape. */
typedef struct abench_operation {
    uint32_t struct_size;
    uint32_t kind; /* ABENCH_OP_... */
    uint32_t lane;
    uint32_t slot;         /* with ABENCH_SLOT_SHARED when it is shared */
    uint64_t size;         /* bytes of what is allocated, freed by free_sized or touched; else 0 */
    uint64_t alignment;    /* of an aligned_alloc; else 0 */
    uint64_t microseconds; /* of a pause */
    uint64_t ordinal;      /* 0-based, in the order of this iteration */
    uint32_t generation;   /* of a shared slot's block; else 0 */
    uint32_t pace;         /* 1: a pause that is a pace */
    uint32_t phase;        /* index of the phase that it lies in, or begins */
    uint32_t flags;        /* of a phase that begins: ABENCH_PHASE_... */
    char phase_name[32];   /* of a phase that begins, else "" */
} abench_operation;

#define ABENCH_OPERATION_INIT                                                                      \
    {                                                                                              \
        sizeof(abench_operation), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ""                              \
    }

/* Sets struct_size, the rest to 0. Any thread. */
ABENCH_API void abench_operation_init(abench_operation *operation);

typedef struct abench_tape_cursor abench_tape_cursor;

/* A cursor before the first operation of tape, which must outlive it. ABENCH_ERROR_MEMORY. Any
 * thread. */
ABENCH_API abench_status abench_tape_cursor_create(const abench_tape *tape,
                                                   abench_tape_cursor **out);

/* The next operation, in an order that a play could have taken: cuts one after the other, and
 * within a cut each lane as far as it comes without another. ABENCH_ERROR_NOT_FOUND behind the
 * last. One thread per object. */
ABENCH_API abench_status abench_tape_next(abench_tape_cursor *cursor, abench_operation *out);

/* accepts NULL. One thread per object. */
ABENCH_API void abench_tape_cursor_destroy(abench_tape_cursor *cursor);

/* ---- files -----------------------------------------------------------------------------------
 *
 * Format 1, all numbers little-endian: a header, a block a cut, a trailer; each ends with a
 * checksum (fold over its words, see above), so that a damaged or short file is told from a whole
 * one. src/tape/file.h has the layout. */

/* Writes a tape to fd, from where its offset is. Not atomic: write to a file of another name and
 * rename it. ABENCH_ERROR_SYSTEM, _MEMORY, _LIMIT (more slots than a file may have). Blocks. Any
 * thread. */
ABENCH_API abench_status abench_tape_save(const abench_tape *tape, int32_t fd, abench_error *error);

/* Reads a tape into memory. Nothing in the file is believed: every operation goes through the
 * checks of the builder, and digest and summary are worked out anew and compared. hooks may be
 * NULL, and else must outlive the tape. ABENCH_ERROR_SYNTAX says where (byte offset) and what;
 * _SYSTEM, _MEMORY, _TAPE, _LIMIT (it asks for more than a file may), _ARGUMENT. Blocks. Any
 * thread. */
ABENCH_API abench_status abench_tape_load(const char *path, const abench_memory_hooks *hooks,
                                          abench_tape **out, abench_error *error);

/* The same as a streamed tape: the file is read as it is played, and must not change. Checks the
 * header and the trailer now, each block when its turn comes: whoever goes through the tape then
 * gets what load would have said, or ABENCH_ERROR_STATE when the file is another one. Blocks. Any
 * thread. */
ABENCH_API abench_status abench_tape_open(const char *path, const abench_memory_hooks *hooks,
                                          abench_tape **out, abench_error *error);

/* ---- playing ---------------------------------------------------------------------------------
 *
 * Lane 0 is played by the calling thread, each other lane by a thread of its own, which exists
 * before the first mark and ends after the last. */

/* What was really done, counted while it was done. */
typedef struct abench_receipt {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t planned[ABENCH_OP_KINDS];
    uint64_t executed[ABENCH_OP_KINDS];
    uint64_t failed;          /* allocations that returned NULL for a size above 0 */
    uint64_t bytes_requested; /* by the executed allocations */
    uint64_t live_blocks_end; /* slots that still hold a block */
    uint64_t live_bytes_end;  /* planned; equal to the truth when nothing is short */
    uint64_t checksum_planned;
    uint64_t checksum;         /* over the bytes written and read back */
    uint64_t work_digest;      /* over the words executed */
    uint64_t waits;            /* operations that had to wait for another lane */
    uint64_t wait_ns;          /* in them and at barriers, over all lanes; not in the timed sum */
    uint64_t pause_ns;         /* in pauses; not in the timed sum */
    uint64_t late_ns;          /* the latest that a lane came to a pace after its time */
    uint64_t checked;          /* blocks whose contents were verified by checked play */
    uint64_t faults;           /* that checked play found */
    uint64_t cross_lane_frees; /* planned: frees by another lane than the one that allocated */
    uint64_t live_bytes_peak;  /* planned: most that was requested and not freed, in merged order */
} abench_receipt;

#define ABENCH_RECEIPT_INIT                                                                        \
    {                                                                                              \
        sizeof(abench_receipt), 0, {0}, {0}, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0           \
    }

/* Sets struct_size, the rest to 0. Any thread. */
ABENCH_API void abench_receipt_init(abench_receipt *receipt);

/* One stretch of work between two stops of all lanes. */
typedef struct abench_slice {
    uint32_t struct_size;
    uint32_t phase;      /* index of the phase it lies in; slices never span two */
    uint32_t index;      /* 0-based, over the whole play */
    uint32_t last;       /* 1: nothing comes after it */
    uint64_t operations; /* over all lanes */
    uint64_t wall_ns;    /* first lane's start to last lane's end */
    uint64_t cpu_ns;     /* thread CPU time, sum over lanes; waits and pauses included */
    uint64_t busy_ns;    /* sum over lanes of wall time without waits and pauses */
    uint64_t wait_ns;    /* sum over lanes */
    uint64_t live_bytes; /* requested and not freed, as planned, behind its last operation */
} abench_slice;

/* A stop of all lanes at a phase's edge. */
typedef struct abench_mark {
    uint32_t struct_size;
    uint32_t phase;           /* index of the phase that ends; at the begin: 0 */
    uint32_t begin;           /* 1: nothing was played yet */
    uint32_t end;             /* 1: everything was played */
    uint64_t live_bytes;      /* planned, at this point */
    uint64_t live_blocks;     /* planned, at this point */
    const void *player;       /* for abench_mark_usable */
    const abench_phase *info; /* the phase that ends; at the begin: NULL */
} abench_mark;

/* The sum of malloc_usable_size over the live blocks, walked now.
 * ABENCH_ERROR_UNSUPPORTED when the allocator has no such call. From a mark callback only. */
ABENCH_API abench_status abench_mark_usable(const abench_mark *mark, uint64_t *bytes);

#define ABENCH_PLAY_CHECK 1u /* checked play: see abench_fault */

/* Checked play stamps every block over its whole length (above 16 MiB both ends, and a word every
 * 64 KiB between) and verifies the stamp before the block is
 * freed, and more: what it finds is a fault of the allocator, whatever the tape's touch. It is
 * slow, and its times mean nothing. */
#define ABENCH_FAULT_OVERLAP  1 /* the contents changed while the block lived */
#define ABENCH_FAULT_ALIGN    2 /* an address below the alignment asked for, or C's own */
#define ABENCH_FAULT_NOT_ZERO 3 /* calloc's memory is not zero */
#define ABENCH_FAULT_SHORT    4 /* usable_size says less than was asked for */
#define ABENCH_FAULT_REALLOC  5 /* realloc lost contents */
#define ABENCH_FAULT_FAILED   6 /* NULL for a size above 0 */

/* "overlap", "alignment" ...; NULL for none. Any thread. */
ABENCH_API const char *abench_fault_name(uint32_t fault);

/* What checked play found. */
typedef struct abench_fault {
    uint32_t struct_size;
    uint32_t fault; /* ABENCH_FAULT_... */
    uint32_t kind;  /* of the operation that showed it */
    uint32_t lane;
    uint32_t slot;
    uint32_t reserved;
    uint64_t size;    /* of the block */
    uint64_t address; /* of the block */
    uint64_t offset; /* OVERLAP, NOT_ZERO, REALLOC: of the first wrong byte in the block; ALIGN: the
                         alignment that was wanted; SHORT: the usable size; FAILED: 0 */
} abench_fault;

typedef struct abench_player_options {
    uint32_t struct_size;
    uint32_t flags;            /* ABENCH_PLAY_... */
    uint64_t slice_operations; /* merged operations a slice, rounded up to whole cuts; 0: one
                                  slice a phase */
    uint64_t skew_operations;  /* a lane runs at most so far ahead of the slowest, rounded up to
                                  whole cuts; 0: no bound */
    uint64_t watchdog_ms;      /* longest wait for another lane that does not pause; 0: 60000 */
    const abench_memory_hooks *hooks; /* NULL: mmap */
    /* Both are called by the thread of lane 0 while every lane stands; non-zero stops the play
     * with ABENCH_ERROR_STOPPED. Either may be NULL. They must not call the malloc under test.
     * A phase's mark comes before the callback of its last slice. */
    int32_t (*slice)(const abench_slice *slice, void *user); /* after each slice */
    int32_t (*mark)(const abench_mark *mark, void *user);    /* begin, after each phase */
    void *user;
    /* Latency (see histogram.h): NULL, or where it goes when the play ends. In phases that are
     * timed one operation in latency_interval is timed by itself, at gaps drawn at random from
     * seed; 1: every one; 0: 1024. The times of slices contain what that costs. Not with
     * ABENCH_PLAY_CHECK, which leaves it empty. */
    abench_latency *latency;
    uint64_t latency_interval;
    uint64_t seed;
    /* Checked play: each fault, by the thread of its lane while others run. Non-zero stops the
     * play. NULL: they are counted, and the first is told in the error of abench_play. */
    int32_t (*fault)(const abench_fault *fault, void *user);
} abench_player_options;

#define ABENCH_PLAYER_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(abench_player_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0                          \
    }

/* Sets struct_size, the rest to 0. Any thread. */
ABENCH_API void abench_player_options_init(abench_player_options *options);

/* Plays the whole tape against allocator (NULL: the process's malloc) and fills *receipt up to its
 * struct_size. Blocks that are alive at the end, or when the play stops, are freed behind the last
 * mark. options may be NULL; error may be NULL and else names stuck lanes and what they
 * wait for. A receipt that is short or whose checksum is off gives ABENCH_ERROR_RECEIPT. Blocks
 * until done. After ABENCH_ERROR_STUCK the lanes' threads were told to give up and are joined.
 * Any thread; one play at a time for an allocator that is not thread-safe. Do not fork in it. */
ABENCH_API abench_status abench_play(const abench_tape *tape, const abench_allocator *allocator,
                                     const abench_player_options *options, abench_receipt *receipt,
                                     abench_error *error);

#ifdef __cplusplus
}
#endif
#endif
