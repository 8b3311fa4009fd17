/* Trees of real processes: who is in them, while they come and go. */
#include "tree_child.h"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>

/* ---- who is in it ---------------------------------------------------------------------------- */

static int depth_left;

static void go_deeper(void)
{
    if (depth_left-- > 0)
        start(go_deeper);
    be_ready_and_stay();
}

static void parents_come_before_their_children(void **state)
{
    (void)state;
    for (int plain = 0; plain < 2; plain++) {
        abench_tree *tree;
        pid_t root;
        depth_left = 9;
        root = start(go_deeper);
        tree = create(root, plain);
        wait_ready(10);
        read_tree(tree, ABENCH_TIER_STATM);
        assert_int_equal(abench_tree_count(tree), 10);
        for (uint32_t i = 0, above = 0; i < 10; i++) {
            abench_memory memory = ABENCH_MEMORY_INIT;
            int32_t pid, parent;
            assert_int_equal(abench_tree_at(tree, i, &pid, &parent, &memory), ABENCH_OK);
            assert_int_equal(parent, i == 0 ? (uint32_t)getpid() : above);
            above = (uint32_t)pid;
        }
        abench_tree_destroy(tree);
        end_tree(root);
    }
}

static void *start_from_a_thread(void *unused)
{
    (void)unused;
    start(be_ready_and_stay);
    stay();
    return NULL;
}

static void start_by_threads(void)
{
    pthread_t thread;

    for (int i = 0; i < 3; i++)
        if (pthread_create(&thread, NULL, start_from_a_thread, NULL) != 0)
            _exit(1);
    be_ready_and_stay();
}

static void children_of_every_thread_are_found(void **state)
{
    const pid_t root = start(start_by_threads);

    (void)state;
    wait_ready(4);
    for (int plain = 0; plain < 2; plain++) {
        abench_tree *tree = create(root, plain);
        read_tree(tree, ABENCH_TIER_STATM);
        assert_int_equal(abench_tree_count(tree), 4);
        abench_tree_destroy(tree);
    }
    end_tree(root);
}

#define MANY 150u

static void start_many(void)
{
    for (uint32_t i = 0; i < MANY; i++)
        start(be_ready_and_stay);
    be_ready_and_stay();
}

static uint32_t maps_left;

static void *map_some(uint64_t bytes, void *user)
{
    void *memory;

    (void)user;
    if (maps_left == 0)
        return NULL;
    maps_left--;
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void unmap_some(void *memory, uint64_t bytes, void *user)
{
    (void)user;
    munmap(memory, bytes);
}

static void many_processes_fit_or_the_lack_of_memory_is_told(void **state)
{
    const pid_t root = start(start_many);
    abench_memory_hooks hooks = ABENCH_MEMORY_HOOKS_INIT;
    abench_memory sum = ABENCH_MEMORY_INIT;
    abench_tree *tree;

    (void)state;
    wait_ready(MANY + 1);
    hooks.map = map_some;
    hooks.unmap = unmap_some;
    for (uint32_t first = 0; first < 5; first++) {
        maps_left = first;
        assert_int_equal(abench__tree_create(root, 0, &hooks, &tree), ABENCH_ERROR_MEMORY);
        assert_null(tree);
    }
    maps_left = 5;
    assert_int_equal(abench__tree_create(root, 0, &hooks, &tree), ABENCH_OK);
    for (uint32_t more = 0; more < 2; more++) { /* its list grows by two blocks at once */
        maps_left = more;
        assert_int_equal(abench_tree_read(tree, ABENCH_TIER_STATM, &sum), ABENCH_ERROR_MEMORY);
        assert_int_equal(abench_tree_count(tree), 0);
    }
    maps_left = 100;
    read_tree(tree, ABENCH_TIER_STATM);
    assert_int_equal(abench_tree_count(tree), MANY + 1);
    read_tree(tree, ABENCH_TIER_STATM);
    assert_int_equal(abench_tree_count(tree), MANY + 1);
    abench_tree_destroy(tree);
    end_tree(root);
}

static void leave_a_zombie(void)
{
    siginfo_t info;
    const pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) != 0)
        _exit(1);
    be_ready_and_stay();
}

static void a_zombie_is_left_out(void **state)
{
    const pid_t root = start(leave_a_zombie);

    (void)state;
    wait_ready(1);
    for (int plain = 0; plain < 2; plain++) {
        abench_tree *tree = create(root, plain);
        const abench_memory sum = read_tree(tree, ALL);
        assert_int_equal(abench_tree_count(tree), 1);
        assert_true((sum.valid & ABENCH_MEMORY_PSS) != 0);
        abench_tree_destroy(tree);
    }
    end_tree(root);
}

/* By system calls alone: it runs in its parent's memory. */
static int wait_in_shared_memory(void *unused)
{
    const pid_t pid = (pid_t)syscall(SYS_getpid);

    (void)unused;
    syscall(SYS_write, ready[1], &pid, sizeof pid);
    for (;;)
        syscall(SYS_pause);
    return 0;
}

/* As posix_spawn does, but the child takes its time before exec. */
static void spawn_slowly(void)
{
    static char stack[65536];

    map_touched(100 * MB);
    if (clone(wait_in_shared_memory, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL) <
        0)
        _exit(1);
}

static void a_child_in_its_parents_memory_counts_once(void **state)
{
    const pid_t root = start(spawn_slowly);
    abench_memory sum;
    abench_tree *tree;
    pid_t child;

    (void)state;
    assert_int_equal(read(ready[0], &child, sizeof child), sizeof child);
    tree = create(root, 0);
    sum = read_tree(tree, ABENCH_TIER_STATM | ABENCH_TIER_ROLLUP);
    assert_int_equal(abench_tree_count(tree), 1);
    assert_in_range(sum.rss_bytes, 100 * MB, 190 * MB);
    assert_in_range(sum.pss_bytes, 100 * MB, 190 * MB);
    abench_tree_destroy(tree);
    kill(child, SIGKILL); /* it would outlive its parent */
    end_tree(root);
}

/* ---- trees that change ----------------------------------------------------------------------- */

static pid_t steady[3];

/* Children that come and go, among some that stay. */
static void fork_in_a_loop(void)
{
    pid_t last[4] = {0, 0, 0, 0};

    for (uint32_t i = 0;; i++) {
        pid_t *slot = &last[i % 4];
        if (*slot > 0) {
            kill(*slot, SIGKILL);
            waitpid(*slot, NULL, 0);
        }
        *slot = fork_bound();
        if (*slot == 0) {
            if (i % 8 == 3)
                _exit(0);
            stay();
        }
        if (i == 16)
            say_ready();
    }
}

static void be_steady_and_fork(void)
{
    for (int i = 0; i < 3; i++) {
        steady[i] = start(stay);
        if (write(ready[1], &steady[i], sizeof steady[i]) != sizeof steady[i])
            _exit(1);
    }
    fork_in_a_loop();
}

static void expect_no_less_than_the_root(const abench_tree *tree, const abench_memory *sum)
{
    abench_memory_field field = ABENCH_MEMORY_FIELD_INIT;
    abench_memory root = ABENCH_MEMORY_INIT;

    assert_int_equal(abench_tree_at(tree, 0, NULL, NULL, &root), ABENCH_OK);
    for (uint32_t i = 0; abench_memory_field_at(i, &field) == ABENCH_OK; i++) {
        uint64_t own, all;
        memcpy(&own, (const char *)&root + field.offset, sizeof own);
        memcpy(&all, (const char *)sum + field.offset, sizeof all);
        if ((sum->valid & field.bit) != 0)
            assert_true(all >= own);
    }
}

static void processes_that_come_and_go_are_no_error(void **state)
{
    (void)state;
    for (int plain = 0; plain < 2; plain++) {
        const pid_t root = start(be_steady_and_fork);
        abench_tree *tree = create(root, plain);
        uint32_t most = 0;
        for (int i = 0; i < 3; i++)
            assert_int_equal(read(ready[0], &steady[i], sizeof steady[i]), sizeof steady[i]);
        wait_ready(1);
        for (int reading = 0; reading < 200; reading++) {
            const abench_memory sum = read_tree(tree, reading % 10 == 0 ? ALL : ABENCH_TIER_STATM);
            expect_no_less_than_the_root(tree, &sum);
            assert_true((sum.valid & ABENCH_MEMORY_RSS) != 0);
            if (reading % 10 == 0)
                assert_true((sum.valid & ABENCH_MEMORY_PSS) != 0);
            assert_true(abench_tree_count(tree) >= 1);
            most = abench_tree_count(tree) > most ? abench_tree_count(tree) : most;
            /* Those that stay are never missed, once they were seen. */
            for (int i = 0; reading > 0 && i < 3; i++)
                assert_true(has(tree, steady[i]));
        }
        assert_true(most > 4);
        abench_tree_destroy(tree);
        end_tree(root);
    }
}

static void a_root_that_ends_is_not_found(void **state)
{
    const pid_t root = start(be_ready_and_stay);
    abench_memory sum = ABENCH_MEMORY_INIT;
    abench_tree *tree = create(root, 0), *none;
    siginfo_t info;

    (void)state;
    wait_ready(1);
    read_tree(tree, ALL);
    kill(root, SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)root, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(abench_tree_read(tree, ALL, &sum), ABENCH_ERROR_NOT_FOUND);
    assert_int_equal(abench_tree_count(tree), 0);
    assert_int_equal(abench_tree_create(root, NULL, &none), ABENCH_ERROR_NOT_FOUND);
    assert_null(none);
    waitpid(root, NULL, 0);
    assert_int_equal(abench_tree_read(tree, ALL, &sum), ABENCH_ERROR_NOT_FOUND);
    assert_int_equal(abench_tree_create(root, NULL, &none), ABENCH_ERROR_NOT_FOUND);
    abench_tree_destroy(tree);
}

/* A number that the kernel gave to another process, told by the start time. */
static void another_process_of_the_same_number_is_not_the_root(void **state)
{
    abench_tree *tree = create(0, 0);
    abench_memory sum = ABENCH_MEMORY_INIT;

    (void)state;
    assert_int_equal(abench_tree_read(tree, ABENCH_TIER_STATM, &sum), ABENCH_OK);
    tree->root_start_time++;
    assert_int_equal(abench_tree_read(tree, ABENCH_TIER_STATM, &sum), ABENCH_ERROR_NOT_FOUND);
    abench_tree_destroy(tree);
}

/* A child that the kernel's list left out: it is found by its number, with those below it. */
static void a_process_that_was_missed_is_looked_for(void **state)
{
    abench__processes now, before;
    abench__process root, child;
    pid_t pid;

    (void)state;
    depth_left = 1;
    pid = start(go_deeper);
    wait_ready(2);
    assert_int_equal(abench__processes_create(&now, NULL), ABENCH_OK);
    assert_int_equal(abench__processes_create(&before, NULL), ABENCH_OK);
    assert_int_equal(abench__process_read_pid(getpid(), &root), ABENCH_OK);
    assert_int_equal(abench__process_read_pid(pid, &child), ABENCH_OK);
    before.items[0] = child;
    before.items[0].start_time++; /* another process of the same number */
    before.count = 1;
    assert_int_equal(abench__processes_add(&now, &root), ABENCH_OK);
    assert_int_equal(abench__processes_add_missed(&now, &before), ABENCH_OK);
    assert_int_equal(now.count, 1);
    before.items[0] = child;
    assert_int_equal(abench__processes_add_missed(&now, &before), ABENCH_OK);
    assert_int_equal(now.count, 3);
    assert_int_equal(now.items[1].pid, pid);
    assert_int_equal(now.items[2].parent, pid);
    abench__processes_destroy(&now);
    abench__processes_destroy(&before);
    end_tree(pid);
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void the_own_tree_holds_this_process_first(void **state)
{
    const pid_t child = start(be_ready_and_stay);
    abench_memory memory = ABENCH_MEMORY_INIT;
    abench_tree *tree;
    int32_t pid;

    (void)state;
    wait_ready(1);
    assert_int_equal(abench_tree_create(0, NULL, &tree), ABENCH_OK);
    read_tree(tree, ALL);
    assert_int_equal(abench_tree_count(tree), 2);
    assert_int_equal(abench_tree_at(tree, 0, &pid, NULL, &memory), ABENCH_OK);
    assert_int_equal(pid, getpid());
    assert_true(has(tree, child));
    abench_tree_destroy(tree);
    end_tree(child);
}

static void arguments_out_of_their_domain_are_refused(void **state)
{
    abench_memory memory = ABENCH_MEMORY_INIT;
    abench_memory_hooks hooks = ABENCH_MEMORY_HOOKS_INIT;
    abench_tree *tree;

    (void)state;
    hooks.flags = 1;
    assert_int_equal(abench_tree_create(-1, NULL, &tree), ABENCH_ERROR_ARGUMENT);
    assert_null(tree);
    assert_int_equal(abench_tree_create(0, &hooks, &tree), ABENCH_ERROR_ARGUMENT);
    assert_null(tree);
    assert_int_equal(abench_tree_create(0, NULL, &tree), ABENCH_OK);
    assert_int_equal(abench_tree_count(tree), 0);
    assert_int_equal(abench_tree_at(tree, 0, NULL, NULL, &memory), ABENCH_ERROR_NOT_FOUND);
    assert_int_equal(abench_tree_read(tree, 0, &memory), ABENCH_ERROR_ARGUMENT);
    assert_int_equal(abench_tree_read(tree, 32, &memory), ABENCH_ERROR_ARGUMENT);
    assert_int_equal(abench_tree_read(tree, ABENCH_TIER_STATM, NULL), ABENCH_ERROR_ARGUMENT);
    assert_int_equal(abench_tree_read(tree, ABENCH_TIER_STATM, &memory), ABENCH_OK);
    assert_int_equal(abench_tree_at(tree, 1, NULL, NULL, &memory), ABENCH_ERROR_NOT_FOUND);
    assert_int_equal(abench_tree_at(tree, 0, NULL, NULL, NULL), ABENCH_ERROR_ARGUMENT);
    memory.struct_size -= 8;
    assert_int_equal(abench_tree_at(tree, 0, NULL, NULL, &memory), ABENCH_ERROR_ARGUMENT);
    abench_tree_destroy(tree);
    abench_tree_destroy(NULL);
}

static void readings_leave_no_descriptor_open(void **state)
{
    const pid_t root = start(start_by_threads);
    const int before = dup(2);
    int after;

    (void)state;
    close(before);
    wait_ready(4);
    for (int plain = 0; plain < 2; plain++) {
        abench_tree *tree = create(root, plain);
        read_tree(tree, ALL);
        abench_tree_destroy(tree);
    }
    after = dup(2);
    close(after);
    assert_int_equal(after, before);
    end_tree(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parents_come_before_their_children),
        cmocka_unit_test(children_of_every_thread_are_found),
        cmocka_unit_test(many_processes_fit_or_the_lack_of_memory_is_told),
        cmocka_unit_test(a_zombie_is_left_out),
        cmocka_unit_test(a_child_in_its_parents_memory_counts_once),
        cmocka_unit_test(processes_that_come_and_go_are_no_error),
        cmocka_unit_test(a_root_that_ends_is_not_found),
        cmocka_unit_test(another_process_of_the_same_number_is_not_the_root),
        cmocka_unit_test(a_process_that_was_missed_is_looked_for),
        cmocka_unit_test(the_own_tree_holds_this_process_first),
        cmocka_unit_test(arguments_out_of_their_domain_are_refused),
        cmocka_unit_test(readings_leave_no_descriptor_open),
    };

    if (pipe(ready) != 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
