// Which server a command speaks to, and as whom: --server, RUNAI_CP_URL or a saved login mean TCP with that login; else
// the socket of this machine, where there is one, by which who runs the command is who he is.
#pragma once

struct cli;
struct error;

// Opens cli->client. ERROR_UNAUTHORIZED where nobody is signed in and there is no socket.
int way_open(struct cli *cli, struct error *err);
// The server's address for what needs a login: of --server, else the profile's. NULL: none is configured.
const char *way_url(const struct cli *cli);
