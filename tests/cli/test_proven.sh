#!/bin/bash
# Whatever a command starts is proven from inside, image by image.
. "$(dirname "$0")/common.sh"
needs_jemalloc

# proven IMAGES COMMAND...: every cell holds, and so many images reported jemalloc.
proven() {
    local images=$1
    shift
    rm -rf proven
    tool run -t jemalloc --rounds 1 -o proven -- "$@"
    expect 0
    py "$images" "$JEMALLOC" <<'PY'
from cells import *
check_whole("proven", 1, 3)
for _, cell, lines in cells("proven"):
    served = lines[0]["allocator"]
    wanted = "jemalloc" if cell["target"] == "jemalloc" else "glibc"
    check(served["family"] == wanted, "served by " + served["family"])
    if wanted == "jemalloc":
        check(os.path.samefile(served["file"], sys.argv[2]), "served by " + served["file"])
        check(served["version"].startswith("5"), "version " + served["version"])
        check(len(served["build_id"]) > 8, "a build id")
    count = metrics(lines)["images_reported"]
    check(count == int(sys.argv[1]), "%d images reported" % count)
PY
}

proven 1 true
proven 1 sh -c 'exit 0'
proven 2 sh -c 'sleep 0.05; exit 0'
proven 2 env A=1 true
proven 3 sh -c 'exec sh -c "exec true"'
# A program that runs itself anew.
cat >again <<'S'
#!/bin/sh
if [ -z "${AGAIN-}" ]; then
    AGAIN=1 exec "$0"
fi
S
chmod +x again
proven 2 ./again
# close_fds closes the probe's descriptor: it finds its file another way.
proven 3 /usr/bin/python3 -c 'import subprocess
subprocess.run(["true"], close_fds=True, check=True)
subprocess.run(["true"], close_fds=False, check=True)'
# A child that changes its folder, and one that is only forked: no image of its own.
proven 2 sh -c '(cd / && (exit 0); exec true)'

# A plugin that binds to the C library's malloc past the target's: the cell says so.
cat >plugin.c <<'C'
#include <stdlib.h>
#include <string.h>
__attribute__((constructor)) static void hold(void)
{
    for (int at = 0; at < 32; at++) {
        void *volatile block = malloc(65536);
        memset(block, 1, 65536);
    }
}
C
if cc -shared -fPIC -fno-builtin -o plugin.so plugin.c 2>cc.log; then
    tool run -t jemalloc --rounds 1 -o plugin -- /usr/bin/python3 -c 'import ctypes, os
ctypes.CDLL("./plugin.so", os.RTLD_NOW | os.RTLD_DEEPBIND)'
    expect 0
    py <<'PY'
from cells import *
for _, cell, lines in cells("plugin"):
    said = [line["message"] for line in lines if line["record"] == "warning"
            and "the C library's own malloc served 2 MiB in /" in line["message"]]
    check(len(said) == (cell["target"] == "jemalloc"), "%s: %s" % (cell["target"], said))
PY
else
    echo "no compiler: that part is left out"
fi
