// What the server and a supervisor agree on: one folder per pod, named by the pod's uuid.
//
//   state   records, one a line, only appended; locked (flock) as long as the supervisor lives. The server takes the
//           lock before it starts the supervisor, which inherits it: there is no moment in which nobody holds it.
//   spare   an empty state, of a folder that has no supervisor yet
//   stop    how many milliseconds the command may take to stop; written by the server before it sends SIGTERM
//   environment   variables for a container runtime; written by the server before the start
//   row     what its rows are made from again where the database has lost them; the server's, written before the start
//   log/    the output, where there was any: files named by the position of their first byte, as 20 digits
//   cut     which of the log's bytes the server removed, and for which bound (backends/local/pods/log_files.h)
//
// Records of `state`, fields separated by blanks, times in milliseconds since the epoch:
//
//   holds GPUS PROJECT NAME        GPUs that it holds, bits by index in hexadecimal; whose it is; written by the
//                                  server, before all others
//   ports FIRST COUNT WORKLOAD     of a distributed workload; written by the server, before all others
//   mig UUID[,UUID]...             MIG instances that it holds; written by the server, likewise
//   group GID                      (the server's) a group that all processes of the pod have, and no others
//   user UID                       (the server's, where it is root) the user that it runs as
//   launcher                       (the server's) of an MPI workload: uses the devices of all its pods
//   shm                            (the server's) its shared memory is not the host's
//   memory BYTES default|asked     its bound, and whether that is the site's or was asked for; written by the server
//   supervisor PID START BOOT      its process, its start time in clock ticks since boot, the boot's id
//   waits TIME WHAT                the command's start has taken long: what it waits for
//   running PID START TIME         the command's process, which is also its session and process group
//   container RUNTIME              (the server's) a program that runs containers; this one's is prorata-UUID
//   refused TIME ERRNO WHAT        the command could not be started; ERRNO 0: WHAT says it all
//   ended TIME CODE SIGNAL OOM     exit code, or -1 and the signal; OOM 1: the kernel killed for memory, its
//                                  bound reached; 2: or that of the machine
//
// A line of the log is `TIME F text` or `TIME P text`: TIME as 2022-01-01T03:49:52.531000000Z, F a full line, P a part
// whose line goes on in the next (the form of Kubernetes' logs without the stream's name).
#pragma once

#define POD_STATE_FILE "state"
#define POD_SPARE_FILE "spare"
#define POD_STOP_FILE "stop"
#define POD_LOG_FOLDER "log"
#define POD_CUT_FILE "cut"
#define POD_ENVIRONMENT_FILE "environment"
#define POD_ROW_FILE "row"
// A datagram socket beside the pods' folders: a supervisor sends its pod's uuid when its state has a new record.
#define POD_WAKE_SOCKET "wake"

// A socket there, its name ends in a pod's uuid, on which the server waits for the supervisor of that pod, to which it
// has sent SIGUSR1. The supervisor sends the uuid. Behind it stands POD_SESSION_FULL where it has POD_SESSIONS_MAX
// sessions already, or POD_SESSION_OVER where the pod's command does not run; then it closes at once. Else the server
// sends the words of a command, each ended by a zero byte, with one descriptor, a terminal's, or three: input, output,
// errors. The supervisor answers with `STATUS TEXT` when the command is over or could not be started.
#define POD_SESSION_SOCKET "session-"
#define POD_SESSION_FULL "!"
#define POD_SESSION_OVER "."

enum {
    POD_SESSIONS_MAX = 16, // side by side, of a pod
    POD_SESSION_WORDS_SIZE = 65536,
    POD_SESSION_WORDS_MAX = 256,
    POD_RECORD_MAX = 512,
    POD_LOG_NAME_DIGITS = 20,
    POD_LOG_TIME_LENGTH = 30,                        // of TIME
    POD_LOG_PREFIX_LENGTH = POD_LOG_TIME_LENGTH + 3, // TIME, blank, F or P, blank
    POD_LOG_PART_MAX = 16384,                        // bytes of text in one line of the log
    // Descriptors that a supervisor inherits.
    POD_STATE_FD = 3,    // the state, locked, for appending
    POD_FOLDER_FD = 4,   // the pod's folder
    POD_HOME_FD = 5,     // the folder above it, with the socket
    POD_HANDOVER_FD = 6, // what the submission says (handover.h)
};
