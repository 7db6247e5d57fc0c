// `prorata simulate FILE|- [--cycles N] [--pretty]`: the scheduler's core, driven by a file.
#pragma once

// argv[0] is "simulate". 0: done; 1: the output could not be written; 2: bad arguments or a bad snapshot, then nothing
// is printed on standard output and one line on standard error says what and where.
int simulate_main(int argc, char **argv);
