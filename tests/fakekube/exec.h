// Shells, attaching and ports: WebSockets with the protocols v4 and v5 of remote commands, and v4 of ports. Nothing is
// run; the first word says what the pretended command does:
//   echo WORD...      prints the words, ends well
//   cat               repeats its input until that ends (which only v5 can tell)
//   fail N TEXT       prints TEXT as an error, ends with status N
//   protocol          prints the protocol that was chosen
//   big N             prints N bytes, in one message of two fragments
//   size              prints each size of the terminal; ends with the input "q"
//   ping              sends a ping, prints what came back
//   drop              the connection ends without a word
// What else is asked for is not there. A port repeats what it is told, and closes after a message with "bye"; port 1
// refuses. Attaching prints the annotation test.prorata.io/log, and ends.
#pragma once
#include "tests/fakekube/call.h"

bool exec_is(const struct call *call);
// Answers, or serves the session; takes and gives back the store's lock.
int exec_serve(struct call *call);
