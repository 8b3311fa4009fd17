#include "base/hash.h"

uint64_t abench__fold_text(uint64_t hash, const char *text)
{
    uint64_t word = 0;
    uint64_t length = 0;

    for (; text[length] != '\0'; length++) {
        word |= (uint64_t)(unsigned char)text[length] << (length % 8 * 8);
        if (length % 8 == 7) {
            hash = abench__fold(hash, word);
            word = 0;
        }
    }
    if (length % 8 != 0)
        hash = abench__fold(hash, word);
    return abench__fold(hash, length);
}
