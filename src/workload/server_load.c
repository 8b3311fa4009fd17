/* server_load.c - the server's timetable, bounds of what lives, and the slots that it takes. */
#include "base/root.h"
#include "shape/distribution.h"
#include "workload/estimate.h"
#include "workload/server.h"

#define SECOND       1000000000u
#define PPM          1000000u
#define STRETCHES    12u /* that a load without peaks is cut into */
#define CYCLES_MAX   20u /* of steady, peak, recovery: 64 phases with warm-up, rest and drain */
#define SLOTS_MAX    ((uint64_t)1 << 31)
#define LIFETIME_MAX ((uint64_t)1 << 56) /* ns: what a lifetime's text is limited to as well */

__extension__ typedef unsigned __int128 wide;

static uint64_t narrow(wide value)
{
    return value > UINT64_MAX ? UINT64_MAX : (uint64_t)value;
}

static uint64_t at_most(uint64_t value, uint64_t most)
{
    return value < most ? value : most;
}

/* ---- the timetable --------------------------------------------------------------------------- */

/* A phase of no length makes place for the next. */
static void put(abench__timetable *t, uint64_t at_ns, uint32_t kind, uint64_t number)
{
    if (t->count > 0 && t->edges[t->count - 1].at_ns == at_ns)
        t->count--;
    t->edges[t->count++] = (abench__edge){at_ns, kind, (uint32_t)number};
}

/* Without a whole period there is no peak. */
static void make_even(abench__timetable *t, uint64_t time_ns)
{
    for (uint64_t at = 0; at < STRETCHES; at++)
        put(t, t->warmup_ns + time_ns / STRETCHES * at, EDGE_STEADY, at + 1);
    t->end_ns = t->warmup_ns + time_ns;
}

/* Of more periods than there can be phases for, several become one, whose last peak is shown. What
 * is left of the time behind the last period is steady, up to where the next peak would be; the
 * recovery of the last peak is always played. */
static void make_periods(abench__timetable *t, const abench__peak *peak, uint64_t time_ns,
                         uint64_t recovery_ns)
{
    const uint64_t quiet_ns = peak->every_ns - peak->for_ns;
    const uint64_t together = (t->peaks + CYCLES_MAX - 1) / CYCLES_MAX;
    const uint64_t last_ns = t->peaks * peak->every_ns;
    uint64_t from_ns = 0, number = 0;

    recovery_ns = at_most(recovery_ns, quiet_ns);
    for (uint64_t first = 0; first < t->peaks; first += together) {
        const uint64_t to_ns = at_most(first + together, t->peaks) * peak->every_ns;
        put(t, t->warmup_ns + from_ns, EDGE_STEADY, ++number);
        put(t, t->warmup_ns + to_ns - peak->for_ns, EDGE_PEAK, number);
        put(t, t->warmup_ns + to_ns, EDGE_RECOVERY, number);
        from_ns = to_ns + recovery_ns;
    }
    t->end_ns = last_ns + at_most(time_ns - last_ns, quiet_ns);
    if (t->end_ns > from_ns)
        put(t, t->warmup_ns + from_ns, EDGE_STEADY, number + 1);
    else
        t->end_ns = from_ns;
    t->end_ns += t->warmup_ns;
}

void abench__timetable_make(abench__timetable *t, const abench__peak *peak, uint64_t time_ns,
                            uint64_t longest_ns, uint64_t recovery_ns)
{
    t->count = 0;
    t->warmup_ns = at_most(longest_ns, time_ns);
    t->peaks = peak->factor_ppm == 0 ? 0 : time_ns / peak->every_ns;
    put(t, 0, EDGE_WARMUP, 0);
    if (t->peaks == 0)
        make_even(t, time_ns);
    else
        make_periods(t, peak, time_ns, recovery_ns);
    put(t, t->end_ns, EDGE_DRAIN, 0);
}

uint64_t abench__server_lifetime(const abench__value *lifetime, uint64_t drawn, uint64_t rate)
{
    return lifetime->unit == ABENCH_LIFETIME_NS
               ? drawn
               : narrow((wide)drawn * SECOND / rate > LIFETIME_MAX ? LIFETIME_MAX
                                                                   : (wide)drawn * SECOND / rate);
}

/* A lifetime of what is allocated in a peak. */
static uint64_t in_peak(const abench_workload *w, uint64_t lifetime_ns)
{
    return at_most(narrow((wide)lifetime_ns * abench__workload_number(w, "peak_lifetime") / 100),
                   LIFETIME_MAX);
}

void abench__server_timetable(const abench_workload *w, abench__timetable *table)
{
    const abench__value *lifetime = abench__workload_value(w, "lifetime");
    const uint64_t longest = abench__server_lifetime(
        lifetime, abench_distribution_maximum(lifetime->sizes), abench__workload_number(w, "rate"));
    const uint64_t peaks = in_peak(w, longest);

    abench__timetable_make(table, &abench__workload_value(w, "peak")->peak,
                           abench__workload_number(w, "time"), longest,
                           peaks > longest ? peaks : longest);
}

/* ---- the load -------------------------------------------------------------------------------- */

/* Means of lifetimes that are cut off: at the tape's end; at a peak's end, plain and scaled. */
typedef struct means {
    uint64_t whole;
    uint64_t plain;
    uint64_t scaled;
} means;

/* Times 100: of the objects that are handed over, so many percent, and of the others. */
static uint64_t cut_off(uint64_t ns, uint64_t cross, uint64_t handover_ns, uint64_t end_ns)
{
    return cross * at_most(ns > handover_ns ? ns : handover_ns, end_ns) +
           (100 - cross) * at_most(ns, end_ns);
}

static uint64_t cross_of(const abench_workload *w)
{
    return abench__workload_number(w, "lanes") == 1 ? 0 : abench__workload_number(w, "cross");
}

static means means_of(const abench_workload *w, uint64_t whole_ns, uint64_t peak_ns)
{
    const abench__value *lifetime = abench__workload_value(w, "lifetime");
    const uint64_t rate = abench__workload_number(w, "rate");
    const uint64_t cross = cross_of(w);
    const uint64_t handover_ns = abench__workload_number(w, "handover");
    abench__strata strata = {lifetime->sizes, 0, 0, 0, 0};
    wide whole = 0, plain = 0, scaled = 0, all = 0;

    while (abench__strata_next(&strata)) {
        const uint64_t ns = abench__server_lifetime(lifetime, strata.value, rate);
        all += strata.weight;
        whole += (wide)strata.weight * cut_off(ns, cross, handover_ns, whole_ns);
        plain += (wide)strata.weight * cut_off(ns, cross, handover_ns, peak_ns);
        scaled += (wide)strata.weight * cut_off(in_peak(w, ns), cross, handover_ns, peak_ns);
    }
    all *= 100;
    return (means){narrow(whole / all), narrow(plain / all), narrow(scaled / all)};
}

/* Requests of so many ns at rate * ppm / 10^6 a second, and one for the rounding. */
static uint64_t requests(uint64_t rate, uint64_t ppm, uint64_t ns)
{
    return narrow((wide)rate * ppm / PPM * ns / SECOND) + 1;
}

/* What the small objects of so many requests come to. A request's objects die each for itself: what
 * is alive of them varies as the requests' numbers do, and by its own root. */
static uint64_t objects_bytes(const abench_workload *w, uint64_t live)
{
    const abench_distribution *objects = abench__workload_value(w, "objects")->sizes;
    const abench_distribution *sizes = abench__workload_value(w, "sizes")->sizes;
    const uint64_t mean = abench_distribution_mean(objects);
    const wide square = objects->square_mean, of_mean = (wide)mean * mean;
    const uint64_t variance = objects->square_mean == UINT64_MAX ? UINT64_MAX
                              : square > of_mean                 ? narrow(square - of_mean)
                                                                 : 0;
    const uint64_t count =
        abench__likely_sum(live, mean + 1, abench__saturating_add(variance, mean + 1),
                           abench_distribution_maximum(objects));

    return abench__likely_sum(count, abench_distribution_mean(sizes) + 1, sizes->square_mean,
                              abench_distribution_maximum(sizes));
}

/* What so many bodies come to that are so many percent of what is drawn. */
static uint64_t bodies_bytes(const abench_workload *w, uint64_t live, uint64_t percent)
{
    const abench_distribution *body = abench__workload_value(w, "body")->sizes;
    const uint64_t square =
        body->square_mean == UINT64_MAX
            ? UINT64_MAX
            : narrow((wide)narrow((wide)body->square_mean * percent / 100) * percent / 100);

    return abench__likely_sum(
        live, narrow((wide)(abench_distribution_mean(body) + 1) * percent / 100), square,
        narrow((wide)abench_distribution_maximum(body) * percent / 100));
}

static uint64_t all_requests(const abench_workload *w, const abench__timetable *table)
{
    const abench__peak *peak = &abench__workload_value(w, "peak")->peak;
    const uint64_t rate = abench__workload_number(w, "rate");
    const uint64_t peaks_ns = table->peaks * peak->for_ns;

    return abench__saturating_add(requests(rate, PPM, table->end_ns - peaks_ns),
                                  requests(rate, peak->factor_ppm, peaks_ns));
}

/* The most that lives is what lives at the end of a peak (Little's law): of what came before it,
 * that which lives longer than the peak, and what came in it. When a peak's objects live longer
 * than others they are still there when the steady state is back. */
void abench__server_load(const abench_workload *w, const abench__timetable *table,
                         abench__load *load)
{
    const abench__peak *peak = &abench__workload_value(w, "peak")->peak;
    const uint64_t rate = abench__workload_number(w, "rate");
    const means mean = means_of(w, table->end_ns, table->peaks == 0 ? 0 : peak->for_ns);
    const int longer = abench__workload_number(w, "peak_lifetime") > 100;
    const abench_distribution *objects = abench__workload_value(w, "objects")->sizes;
    const uint64_t count = abench_distribution_mean(objects) + 1;
    const uint64_t steady = requests(rate, PPM, mean.whole);
    const uint64_t before = longer ? steady : requests(rate, PPM, mean.whole - mean.plain);
    const uint64_t in = requests(rate, peak->factor_ppm, mean.scaled);
    const uint64_t both = abench__saturating_add(before, in);
    const uint64_t live = table->peaks > 0 && both > steady ? both : steady;
    const uint64_t steady_bytes = bodies_bytes(w, steady, 100);
    uint64_t bodies = 0;

    if (table->peaks > 0)
        bodies =
            abench__saturating_add(bodies_bytes(w, before, 100),
                                   bodies_bytes(w, in, abench__workload_number(w, "peak_body")));
    load->requests = all_requests(w, table);
    load->objects = count + 1;
    load->all_objects = abench__likely_sum(
        load->requests, count + 1, abench__saturating_add(objects->square_mean, 2 * count + 1),
        abench_distribution_maximum(objects) + 1);
    load->live_objects = abench__saturating_multiply(live, load->objects);
    load->live_bytes = abench__saturating_add(objects_bytes(w, live),
                                              bodies > steady_bytes ? bodies : steady_bytes);
}

/* ---- slots ----------------------------------------------------------------------------------- */

/* Room for so many live objects: an eighth more, eight standard deviations, some requests. */
static uint64_t room_for(uint64_t objects, uint64_t request)
{
    return objects + objects / 8 + 8 * abench__square_root(objects) + 4 * at_most(request, 1024) +
           16;
}

abench__slots abench__server_slots(const abench_workload *w, const abench__timetable *table)
{
    const uint64_t lanes = abench__workload_number(w, "lanes");
    const uint64_t cross = cross_of(w);
    abench__slots result = {0, 0};
    abench__load load;
    uint64_t live, handed;

    abench__server_load(w, table, &load);
    live = at_most(load.live_objects, SLOTS_MAX) / lanes + 1;
    handed = live + abench__workload_number(w, "handover") *
                        at_most(abench__saturating_multiply(abench__workload_number(w, "rate"),
                                                            load.objects),
                                SLOTS_MAX) /
                        SECOND / lanes;
    result.local = room_for(live, load.objects);
    if (cross > 0)
        result.ring = 2 * room_for(handed * cross / 100, load.objects);
    result.local = at_most(result.local, SLOTS_MAX / 2 / lanes - 1);
    result.ring = at_most(result.ring, SLOTS_MAX / 2 / lanes);
    return result;
}
