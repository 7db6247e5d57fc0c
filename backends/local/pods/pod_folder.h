// The folders of pods, as the server uses them (what is in them: supervisor/pod_folder.h).
#pragma once
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
struct arena;
struct error;
struct pod_state;

// Folders of pods that are forgotten wait for the next pod: a file system creates and removes them at a cost that
// grows with how many it has removed lately.
struct pod_spares {
    unsigned count; // there are folders spare-0 to spare-(count - 1)
};

// The folder above them all, created where it is missing, and the socket by which supervisors tell that something is
// new. -1: err.
int pod_folder_open_home(const char *path, int *out_socket_fd, struct error *err);
// Opens a pod's folder; creates it, and *out_is_new says so, where no supervisor has ever had it. -1: err.
int pod_folder_open(int home_fd, struct pod_spares *spares, const char *uuid, bool *out_is_new, struct error *err);
// A new pod's state, empty and locked. -1: err.
int pod_folder_create_state(int folder_fd, struct error *err);
int pod_folder_find(int home_fd, const char *uuid); // -1 where there is none
// Reads the state of a pod that was started once. A supervisor that has only just begun is waited for. Whether it
// lives.
bool pod_folder_wait(int folder_fd, struct pod_state *out_state);
int pod_folder_write_grace(int home_fd, const char *uuid, int64_t grace_ms, struct error *err);
bool pod_folder_was_stopped(int folder_fd); // somebody wrote a grace
// The pod is over and nobody will ask for its state. Its log stays, and true says so; without one the folder goes.
bool pod_folder_forget(int home_fd, struct pod_spares *spares, const char *uuid);
bool pod_folder_is_forgotten(int folder_fd);
// Removes the log of a forgotten pod, and its folder with it. Others stay.
void pod_folder_remove_log(int home_fd, const char *uuid);
// What its rows can be made from again, as it was handed over at its start. NULL: is not there.
const char *pod_folder_read_record(int folder_fd, struct arena *arena);
// Every pod that was not forgotten.
void pod_folder_list(int home_fd, void (*visit)(const char *uuid, void *context), void *context);
// The next in a folder of pods' folders that is a pod's, one of whom only the log is kept too; NULL: there is none.
const char *pod_folder_next(DIR *home);
