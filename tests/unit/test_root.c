/* The integer square root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/root.h"

static void a_root_is_rounded_down(void **state)
{
    (void)state;
    assert_int_equal(abench__square_root(0), 0);
    for (uint64_t root = 1; root < 70000; root++) {
        assert_int_equal(abench__square_root(root * root - 1), root - 1);
        assert_int_equal(abench__square_root(root * root), root);
        assert_int_equal(abench__square_root(root * root + root), root);
    }
}

static void the_largest_numbers_have_roots(void **state)
{
    const uint64_t largest = UINT32_MAX;

    (void)state;
    assert_int_equal(abench__square_root(UINT64_MAX), largest);
    assert_int_equal(abench__square_root(largest * largest), largest);
    assert_int_equal(abench__square_root(largest * largest - 1), largest - 1);
    assert_int_equal(abench__square_root((uint64_t)1 << 62), (uint64_t)1 << 31);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_root_is_rounded_down),
        cmocka_unit_test(the_largest_numbers_have_roots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
