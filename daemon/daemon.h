// `prorata serve`, `prorata demo` and `prorata doctor`: configuration, start order, signals, drain. The only room that
// knows all others.
#pragma once

// Command entries: argv[0] is the command's name. They return the process's exit status: 0 after a clean stop, 2 where
// a setting, the folder, a port or a file is bad (one line on standard error says what and where), 1 for anything else.
int daemon_main_serve(int argc, char **argv);
int daemon_main_demo(int argc, char **argv);
int daemon_main_stop(int argc, char **argv);
int daemon_main_backup(int argc, char **argv);
int daemon_main_restore(int argc, char **argv);
int daemon_main_verify(int argc, char **argv); // 1: something is damaged
int daemon_main_keys(int argc, char **argv);
int daemon_main_hours(int argc, char **argv);
// 0: a server with these settings would work here; 1: something is in its way; 2: a bad setting.
int daemon_main_doctor(int argc, char **argv);
