/* What the measured process asks of callgrind (see callgrind.py, which compiles this where it can). */
#include <valgrind/callgrind.h>

void start(void) { CALLGRIND_START_INSTRUMENTATION; }

/* Writes what has been counted since the last time into a dump of its own. */
void mark(void) { CALLGRIND_DUMP_STATS; }
