#include "allocator/families.h"

#include "base/text.h"

void abench__mimalloc_number(int number, char *version, uint32_t size)
{
    abench__text text;
    const int base = number < 1000 ? 10 : 100; /* of its minor number and of its patch */

    abench__text_init(&text, version, size);
    if (number < 100 || number > 999999 || (number > 999 && number < 10000))
        return;
    abench__text_printf(&text, "%d.%d.%d", number / (base * base), number / base % base,
                        number % base);
}

void abench__mimalloc_version(const abench__object *provider, char *version, uint32_t size)
{
    const abench__function symbol = abench__object_function(provider, "mi_version");

    if (symbol != NULL)
        abench__mimalloc_number(((int (*)(void))symbol)(), version, size);
}
