/* server_events.c - what happens in the server workload, one event after the other. */
#include "shape/wheel.h"
#include "tape/builder.h"
#include "workload/phase_name.h"
#include "workload/server.h"

#define TICK_NS   10000u /* of the wheel */
#define BATCH     512    /* operations a fill, about */
#define AHEAD     64u    /* frees, and */
#define RING_NEXT 16u    /* shared slots, whose state the builder is told of ahead */
#define SIZE_LAST (((uint64_t)1 << 47) - 1)

__extension__ typedef unsigned __int128 wide;

/* ---- the state ------------------------------------------------------------------------------- */

typedef struct lane_state {
    abench_random sizes;
    abench_random lifetimes;
    abench_random schedule;
    uint32_t *stack; /* free local slots, the latest on top */
    uint32_t *ring;  /* free shared slots, the oldest at head */
    uint32_t stack_count;
    uint32_t fresh; /* local slots that were in use once */
    uint32_t ring_head;
    uint32_t ring_count;
    uint32_t handed; /* over since the last meeting */
    uint32_t reserved;
} lane_state;

enum { AT_NOTHING, AT_EDGE, AT_PACE, AT_BARRIER, AT_REQUEST };

typedef struct server {
    const abench_distribution *objects;
    const abench_distribution *sizes;
    const abench_distribution *body;
    const abench__value *lifetime;
    const abench__peak *peak;
    abench__wheel *wheel;
    uint64_t rate;
    uint64_t handover_ns;
    uint64_t peak_lifetime; /* percent */
    uint64_t peak_body;     /* percent */
    uint64_t cross;         /* of 2^32 objects */
    uint64_t inverse;       /* 2^64 / local, for dividing */
    uint64_t now_ns;
    uint64_t now_tick;
    uint64_t request_at; /* the next one, in 1/256 ns */
    uint64_t interval;   /* likewise */
    uint64_t peak_interval;
    uint64_t pace_at_ns;   /* UINT64_MAX: never */
    uint64_t objects_left; /* of the request that is going on, its body among them */
    uint32_t is_body;
    uint32_t in_peak;
    uint32_t lanes;
    uint32_t local;
    uint32_t ring;
    uint32_t lane;   /* of that request */
    uint32_t event;  /* AT_...: what comes at now_ns, when everything due was freed; nothing:
                        the next one is to be found */
    uint32_t edge;   /* the next one */
    uint32_t meet;   /* a barrier is due */
    uint32_t drains; /* there are no more events */
    int32_t room;    /* operations until this fill has done enough */
    uint32_t due_count;
    uint32_t due_next;
    uint32_t due[AHEAD]; /* items to be freed now */
    abench__timetable table;
    lane_state lane_states[];
} server;

uint64_t abench__server_state_bytes(const abench_workload *w)
{
    const uint64_t lanes = abench__workload_number(w, "lanes");
    abench__timetable table;
    abench__slots room;

    abench__server_timetable(w, &table);
    room = abench__server_slots(w, &table);
    return sizeof(server) +
           lanes * (sizeof(lane_state) + (room.local + room.ring + 1) * sizeof(uint32_t)) + 8 +
           abench__wheel_bytes((uint32_t)(lanes * (room.local + room.ring)));
}

static void begin_rate(const abench_workload *w, server *s)
{
    s->rate = abench__workload_number(w, "rate");
    s->peak = &abench__workload_value(w, "peak")->peak;
    s->interval = ((uint64_t)1000000000 << 8) / s->rate;
    s->peak_interval = s->interval;
    if (s->peak->factor_ppm != 0)
        s->peak_interval = s->interval * 1000000 / s->peak->factor_ppm;
    if (s->peak_interval == 0)
        s->peak_interval = 1;
    s->request_at = s->interval;
    s->pace_at_ns = abench__workload_number(w, "paced") ? ABENCH__SERVER_PACE_NS : UINT64_MAX;
}

static void begin_lanes(const abench_workload *w, server *s)
{
    uint32_t *numbers = (uint32_t *)(s->lane_states + s->lanes);

    for (uint32_t lane = 0; lane < s->lanes; lane++) {
        lane_state *l = &s->lane_states[lane];
        abench_random_seed(&l->sizes, w->seed, lane, ABENCH_PURPOSE_SIZE);
        abench_random_seed(&l->lifetimes, w->seed, lane, ABENCH_PURPOSE_LIFETIME);
        abench_random_seed(&l->schedule, w->seed, lane, ABENCH_PURPOSE_SCHEDULE);
        l->stack = numbers;
        l->ring = numbers + s->local;
        numbers += s->local + s->ring;
        l->ring_count = s->ring;
        for (uint32_t at = 0; at < s->ring; at++)
            l->ring[at] = at;
    }
}

void abench__server_begin(const abench_workload *w, void *memory)
{
    server *s = memory;
    const uint64_t bytes = abench__server_state_bytes(w);
    abench__slots room;
    uint64_t wheel_bytes;

    abench__server_timetable(w, &s->table);
    room = abench__server_slots(w, &s->table);
    s->objects = abench__workload_value(w, "objects")->sizes;
    s->sizes = abench__workload_value(w, "sizes")->sizes;
    s->body = abench__workload_value(w, "body")->sizes;
    s->lifetime = abench__workload_value(w, "lifetime");
    s->handover_ns = abench__workload_number(w, "handover");
    s->peak_lifetime = abench__workload_number(w, "peak_lifetime");
    s->peak_body = abench__workload_number(w, "peak_body");
    s->lanes = (uint32_t)abench__workload_number(w, "lanes");
    s->local = (uint32_t)room.local;
    s->ring = (uint32_t)room.ring;
    s->cross = s->lanes == 1 ? 0 : (abench__workload_number(w, "cross") << 32) / 100;
    s->inverse = UINT64_MAX / s->local + 1;
    wheel_bytes = abench__wheel_bytes(s->lanes * (s->local + s->ring));
    s->wheel = abench__wheel_init((char *)memory + (bytes - wheel_bytes) / 8 * 8,
                                  s->lanes * (s->local + s->ring));
    begin_rate(w, s);
    begin_lanes(w, s);
}

/* ---- objects --------------------------------------------------------------------------------- */

/* Most of what dies was made long ago, and the builder's note of its slot is in no cache any more:
 * without this the generator mainly waits for it. */
static inline __attribute__((always_inline)) void expect(const server *s,
                                                         const abench_tape_builder *builder,
                                                         uint32_t item)
{
    const uint32_t first_shared = s->lanes * s->local;
    const uint64_t number =
        item < first_shared ? item + (uint32_t)((wide)s->inverse * item >> 64) /* one slot more */
                            : (uint64_t)item + s->lanes;
    abench__builder_expect(builder, number);
}

/* A slot that is free, as an item of the wheel; WHEEL_NONE when there is none. */
static uint32_t take_slot(server *s, lane_state *l, const abench_tape_builder *builder, int cross)
{
    const uint32_t first_shared = s->lanes * s->local;

    if (cross && l->ring_count > 0) {
        const uint32_t slot = l->ring[l->ring_head];
        l->ring_head = l->ring_head + 1 == s->ring ? 0 : l->ring_head + 1;
        l->ring_count--;
        s->meet |= ++l->handed == ABENCH__SERVER_HANDED;
        expect(s, builder,
               first_shared + s->lane * s->ring + l->ring[(l->ring_head + RING_NEXT) % s->ring]);
        return first_shared + s->lane * s->ring + slot;
    }
    if (l->stack_count > 0)
        return s->lane * s->local + l->stack[--l->stack_count];
    return l->fresh < s->local ? s->lane * s->local + l->fresh++ : ABENCH__WHEEL_NONE;
}

static void free_item(server *s, abench_tape_builder *builder, uint32_t item)
{
    const uint32_t first_shared = s->lanes * s->local;

    s->room--;
    if (item < first_shared) {
        const uint32_t lane = (uint32_t)((wide)s->inverse * item >> 64);
        const uint32_t slot = item - lane * s->local;
        s->lane_states[lane].stack[s->lane_states[lane].stack_count++] = slot;
        abench_tape_builder_free(builder, lane, slot);
    } else {
        const uint32_t owner = (item - first_shared) / s->ring;
        lane_state *l = &s->lane_states[owner];
        uint32_t tail = l->ring_head + l->ring_count++;
        if (tail >= s->ring)
            tail -= s->ring;
        l->ring[tail] = item - first_shared - owner * s->ring;
        abench_tape_builder_free(builder, owner + 1 == s->lanes ? 0 : owner + 1,
                                 ABENCH_SLOT_SHARED | (item - first_shared));
    }
}

static uint64_t draw_size(server *s, lane_state *l)
{
    uint64_t size;

    if (!s->is_body)
        return abench_distribution_draw(s->sizes, &l->sizes);
    s->is_body = 0;
    size = abench_distribution_draw(s->body, &l->sizes);
    if (s->in_peak && s->peak_body != 100) /* 2^47 * 10^4 fits */
        size = size * s->peak_body / 100;
    return size < SIZE_LAST ? size : SIZE_LAST;
}

static uint64_t draw_lifetime(server *s, lane_state *l, int cross)
{
    uint64_t ns = abench_distribution_draw(s->lifetime->sizes, &l->lifetimes);

    if (s->lifetime->unit != ABENCH_LIFETIME_NS)
        ns = abench__server_lifetime(s->lifetime, ns, s->rate);
    if (s->in_peak && s->peak_lifetime != 100)
        ns = ns / 100 * s->peak_lifetime + ns % 100 * s->peak_lifetime / 100;
    return cross && ns < s->handover_ns ? s->handover_ns : ns;
}

static void allocate(server *s, abench_tape_builder *builder)
{
    lane_state *l = &s->lane_states[s->lane];
    const int cross = abench_random_next(&l->schedule) >> 32 < s->cross;
    const uint64_t size = draw_size(s, l);
    const uint64_t due = s->now_ns + draw_lifetime(s, l, cross);
    const uint32_t item = take_slot(s, l, builder, cross);
    uint32_t slot = s->local;

    s->room--;
    s->objects_left--;
    if (item == ABENCH__WHEEL_NONE) {
        abench_tape_builder_malloc(builder, s->lane, slot, size);
        abench_tape_builder_free(builder, s->lane, slot);
        return;
    }
    slot = item < s->lanes * s->local ? item - s->lane * s->local
                                      : ABENCH_SLOT_SHARED | (item - s->lanes * s->local);
    abench_tape_builder_malloc(builder, s->lane, slot, size);
    abench__wheel_add(s->wheel, item, due / TICK_NS);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* What comes next, and when: at the same time phases before paces before requests. */
static void next_event(server *s)
{
    const uint64_t request_ns = s->request_at >> 8;
    const uint64_t edge_ns = s->table.edges[s->edge].at_ns;

    if (edge_ns <= request_ns && edge_ns <= s->pace_at_ns) {
        s->event = AT_EDGE;
        s->now_ns = edge_ns;
    } else if (s->pace_at_ns <= request_ns) {
        s->event = AT_PACE;
        s->now_ns = s->pace_at_ns;
    } else {
        s->event = s->meet ? AT_BARRIER : AT_REQUEST;
        s->now_ns = request_ns;
    }
    s->now_tick = s->now_ns / TICK_NS;
}

static void meet(server *s)
{
    s->meet = 0;
    for (uint32_t lane = 0; lane < s->lanes; lane++)
        s->lane_states[lane].handed = 0;
}

static void begin_phase(server *s, abench_tape_builder *builder)
{
    static const char *const names[] = {[EDGE_WARMUP] = "warmup",
                                        [EDGE_STEADY] = "steady",
                                        [EDGE_PEAK] = "peak",
                                        [EDGE_RECOVERY] = "recovery",
                                        [EDGE_DRAIN] = "drain"};
    const abench__edge *edge = &s->table.edges[s->edge++];
    const int timed = edge->kind != EDGE_WARMUP && edge->kind != EDGE_DRAIN;
    char name[ABENCH__PHASE_NAME_MAX];

    abench_tape_builder_phase(builder,
                              timed ? abench__phase_of_number(name, names[edge->kind], edge->number)
                                    : names[edge->kind],
                              timed ? ABENCH_PHASE_TIMED : 0);
    s->drains = edge->kind == EDGE_DRAIN;
    meet(s);
}

static void begin_request(server *s)
{
    const uint64_t since_ns = s->now_ns - s->table.warmup_ns;

    s->lane = s->lane + 1 >= s->lanes ? 0 : s->lane + 1;
    s->in_peak =
        s->table.peaks > 0 && s->now_ns >= s->table.warmup_ns && abench__peak_at(s->peak, since_ns);
    s->request_at += s->in_peak ? s->peak_interval : s->interval;
    s->objects_left = 1 + abench_distribution_draw(s->objects, &s->lane_states[s->lane].schedule);
    s->is_body = 1;
}

static void run_event(server *s, abench_tape_builder *builder)
{
    switch (s->event) {
    case AT_EDGE:
        begin_phase(s, builder);
        break;
    case AT_PACE:
        for (uint32_t lane = 0; lane < s->lanes; lane++)
            abench_tape_builder_pace(builder, lane, ABENCH__SERVER_PACE_NS / 1000);
        s->pace_at_ns += ABENCH__SERVER_PACE_NS;
        break;
    case AT_BARRIER:
        abench_tape_builder_barrier(builder);
        meet(s);
        break;
    default:
        begin_request(s);
    }
    if (s->event != AT_REQUEST)
        s->room -= (int32_t)s->lanes;
    s->event = AT_NOTHING;
}

/* The next item that is to be freed now; WHEEL_NONE when there is none. */
static uint32_t next_due(server *s, const abench_tape_builder *builder)
{
    if (s->due_next < s->due_count)
        return s->due[s->due_next++];
    s->due_count = 0;
    s->due_next = 0;
    while (s->due_count < AHEAD) {
        const uint32_t item = s->drains ? abench__wheel_take_any(s->wheel)
                                        : abench__wheel_take(s->wheel, s->now_tick);
        if (item == ABENCH__WHEEL_NONE)
            break;
        expect(s, builder, item);
        s->due[s->due_count++] = item;
    }
    return s->due_count > 0 ? s->due[s->due_next++] : ABENCH__WHEEL_NONE;
}

/* One step: an object, a free that is due, or what comes then. 1: there is nothing more. */
static int32_t step(server *s, abench_tape_builder *builder)
{
    uint32_t item;

    if (s->objects_left > 0) {
        allocate(s, builder);
        return 0;
    }
    if (s->event == AT_NOTHING && !s->drains)
        next_event(s);
    item = next_due(s, builder);
    if (item != ABENCH__WHEEL_NONE)
        free_item(s, builder, item);
    else if (s->drains)
        return 1;
    else
        run_event(s, builder);
    return 0;
}

int32_t abench__server_fill(const abench_workload *w, void *memory, abench_tape_builder *builder)
{
    server *s = memory;

    (void)w;
    s->room = BATCH;
    while (s->room > 0)
        if (step(s, builder))
            return 1;
    return 0;
}
