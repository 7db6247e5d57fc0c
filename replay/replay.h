// `prorata replay TRACE`: a job trace through the scheduling core with a simulated clock.
#pragma once

// argv[0] is the command's name. 0 done; 1 the output could not be written; 2 bad arguments or a bad file: nothing is
// printed on standard output then, and a line on standard error names the place.
int replay_main(int argc, char **argv);
