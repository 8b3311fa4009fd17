/* Trees of real processes: their sums against the kernel's own figures. */
#include "tree_child.h"

#include <stdio.h>

/* ---- sums against the kernel's own figures --------------------------------------------------- */

static unsigned char *shared;

static void dirty_fifty(void)
{
    touch(shared, 50 * MB);
    be_ready_and_stay();
}

static void share_with_four_workers(void)
{
    shared = map_touched(250 * MB);
    for (int i = 0; i < 4; i++)
        start(dirty_fifty);
    be_ready_and_stay();
}

static void start_four_workers(void)
{
    for (int i = 0; i < 4; i++)
        start(be_ready_and_stay);
    be_ready_and_stay();
}

/* What five processes cost that do nothing. */
static abench_memory read_idle_tree(void)
{
    const pid_t root = start(start_four_workers);
    abench_tree *tree = create(root, 0);
    abench_memory sum;

    wait_ready(5);
    sum = read_tree(tree, ALL);
    abench_tree_destroy(tree);
    end_tree(root);
    return sum;
}

typedef struct figures {
    uint64_t rss;
    uint64_t pss;
    uint64_t uss;
} figures;

/* Adds what smaps_rollup of one process says, read by other means. */
static void add_rollup(pid_t pid, figures *sum)
{
    char line[256];
    FILE *rollup;

    snprintf(line, sizeof line, "/proc/%d/smaps_rollup", (int)pid);
    rollup = fopen(line, "r");
    assert_non_null(rollup);
    while (fgets(line, sizeof line, rollup) != NULL) {
        unsigned long long number;
        if (sscanf(line, "Rss: %llu kB", &number) == 1)
            sum->rss += number * 1024;
        if (sscanf(line, "Pss: %llu kB", &number) == 1)
            sum->pss += number * 1024;
        if (sscanf(line, "Private_Clean: %llu kB", &number) == 1 ||
            sscanf(line, "Private_Dirty: %llu kB", &number) == 1)
            sum->uss += number * 1024;
    }
    fclose(rollup);
}

static void sums_of_a_forked_tree_are_the_kernels(void **state)
{
    const abench_memory idle = read_idle_tree();
    const pid_t root = start(share_with_four_workers);
    abench_tree *tree = create(root, 0);
    abench_memory sum, one = ABENCH_MEMORY_INIT;
    figures truth = {0, 0, 0};
    int32_t pid, parent;

    (void)state;
    wait_ready(5);
    sum = read_tree(tree, ALL);
    assert_int_equal(abench_tree_count(tree), 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(abench_tree_at(tree, i, &pid, &parent, &one), ABENCH_OK);
        assert_int_equal(i == 0 ? pid : parent, root);
        add_rollup(pid, &truth);
    }
    /* Pages that they share with this process change hands meanwhile: a few. */
    assert_true(is_near(sum.rollup_rss_bytes, truth.rss, MB / 4));
    assert_true(is_near(sum.rss_bytes, truth.rss, MB / 2));
    assert_true(is_near(sum.pss_bytes, truth.pss, MB / 4));
    assert_true(is_near(sum.uss_bytes, truth.uss, MB / 4));
    assert_true(sum.threads >= 5); /* a sanitizer adds one to each */
    /* The true total is 250 MB and four copies of 50. RSS counts the 200 that all still share five
     * times; private are the copies, and those 50 of the root's of which all others made one. */
    assert_true(is_near(sum.pss_bytes - idle.pss_bytes, 450 * MB, 5 * MB));
    assert_true(is_near(sum.rss_bytes - idle.rss_bytes, 1250 * MB, 5 * MB));
    assert_true(is_near(sum.uss_bytes - idle.uss_bytes, 250 * MB, 5 * MB));
    abench_tree_destroy(tree);
    end_tree(root);
}

static void a_sum_is_that_of_its_processes(void **state)
{
    const pid_t root = start(share_with_four_workers);
    abench_tree *tree = create(root, 0);
    abench_memory_field field = ABENCH_MEMORY_FIELD_INIT;
    abench_memory sum;

    (void)state;
    wait_ready(5);
    sum = read_tree(tree, ALL);
    assert_true(sum.cost_ns > 0 && sum.time_ns > 0);
    for (uint32_t i = 0; abench_memory_field_at(i, &field) == ABENCH_OK; i++) {
        uint64_t total = 0, value;
        int everywhere = 1;
        for (uint32_t at = 0; at < abench_tree_count(tree); at++) {
            abench_memory one = ABENCH_MEMORY_INIT;
            assert_int_equal(abench_tree_at(tree, at, NULL, NULL, &one), ABENCH_OK);
            memcpy(&value, (const char *)&one + field.offset, sizeof value);
            everywhere = everywhere && (one.valid & field.bit) != 0;
            total += value;
        }
        memcpy(&value, (const char *)&sum + field.offset, sizeof value);
        assert_int_equal((sum.valid & field.bit) != 0, everywhere);
        assert_int_equal(value, everywhere ? total : 0);
    }
    assert_true((sum.valid & ABENCH_MEMORY_PSS) != 0);
    sum = read_tree(tree, ABENCH_TIER_STATM);
    assert_int_equal(sum.valid, ABENCH_MEMORY_SIZE | ABENCH_MEMORY_RSS | ABENCH_MEMORY_SHARED);
    abench_tree_destroy(tree);
    end_tree(root);
}

/* The field of a sum that one of its processes does not have. */
static void a_field_that_one_process_lacks_is_absent(void **state)
{
    int status;
    pid_t child;
    const pid_t root = fork();

    (void)state;
    assert_true(root >= 0);
    if (root == 0) { /* not to give up this process's own user */
        abench_memory sum = ABENCH_MEMORY_INIT;
        abench_tree *tree;
        const pid_t other = start(be_ready_and_stay);
        char byte;
        if (other < 0 || read(ready[0], &byte, 1) != 1 ||
            write(ready[1], &other, sizeof other) != sizeof other)
            _exit(2);
        if (geteuid() == 0 && setuid(65534) != 0)
            _exit(3);
        if (abench_tree_create(0, NULL, &tree) != ABENCH_OK)
            _exit(4);
        if (abench_tree_read(tree, ABENCH_TIER_STATM | ABENCH_TIER_ROLLUP, &sum) != ABENCH_OK)
            _exit(5);
        if (abench_tree_count(tree) != 2 || (sum.valid & ABENCH_MEMORY_RSS) == 0)
            _exit(6);
        _exit((sum.valid & ABENCH_MEMORY_PSS) != 0 || sum.pss_bytes != 0 ? 77 : 0);
    }
    assert_int_equal(waitpid(root, &status, 0), root);
    assert_int_equal(read(ready[0], &child, sizeof child), sizeof child);
    kill(child, SIGKILL); /* its parent is not allowed to, nor to by its own death */
    assert_true(WIFEXITED(status));
    if (geteuid() == 0)
        assert_int_equal(WEXITSTATUS(status), 0);
    else /* nobody has another user here */
        assert_int_equal(WEXITSTATUS(status), 77);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_a_forked_tree_are_the_kernels),
        cmocka_unit_test(a_sum_is_that_of_its_processes),
        cmocka_unit_test(a_field_that_one_process_lacks_is_absent),
    };

    if (pipe(ready) != 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
