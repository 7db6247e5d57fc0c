// `prorata replay --data DIR`: recorded cycles, listed or planned again. Exit status: 0 equal, 1 different or the
// output could not be written, 2 bad arguments or no such cycle.
#pragma once

// argv[0] is "replay".
int journal_replay_main(int argc, char **argv);
