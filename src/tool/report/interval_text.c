#include "tool/report/interval_text.h"

#include <math.h>
#include <stdbool.h>

#include "tool/report/advice.h"
#include "tool/report/format.h"
#include "tool/util.h"

char *interval_ratio_text(const abench_interval *interval)
{
    if (interval->count == 0 || !isfinite(interval->estimate))
        return xstrdup("");
    return advice_ratio(interval->estimate, interval->low, interval->high);
}

/* Decimals that show values of that size, and bounds that lie so far apart. */
static int decimals_of(double value, double width)
{
    int decimals = format_decimals(value);

    while (width > 0 && decimals < 3 && width < 0.2 * pow(10, 1 - decimals))
        decimals++;
    return decimals;
}

char *interval_value_text(const abench_interval *interval, const char *unit)
{
    const format_unit scale = format_scale(unit, fabs(interval->estimate));
    const double value = interval->estimate / scale.divisor;
    const double low = interval->low / scale.divisor, high = interval->high / scale.divisor;
    const bool bounded = isfinite(low) && isfinite(high);
    const int decimals = decimals_of(value, bounded ? high - low : 0);
    const char *blank = scale.name[0] == '\0' ? "" : " ";

    if (interval->count == 0 || !isfinite(interval->estimate))
        return xstrdup("");
    if (!bounded)
        return xasprintf("%.*f%s%s", decimals, value, blank, scale.name);
    return xasprintf("%.*f%s%s [%.*f %.*f]", decimals, value, blank, scale.name, decimals, low,
                     decimals, high);
}

json_t *interval_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *interval_json(const abench_interval *interval)
{
    json_t *item;

    if (interval->count == 0 || !isfinite(interval->estimate))
        return json_null();
    item = json_object();
    json_object_set_new(item, "estimate", json_real(interval->estimate));
    json_object_set_new(item, "low", interval_number(interval->low));
    json_object_set_new(item, "high", interval_number(interval->high));
    json_object_set_new(item, "count", json_integer(interval->count));
    return item;
}
