#include "daemon/daemon.h"

#include "api/auth_keys.h"
#include "api/server.h"
#include "backends/backend.h"
#include "backends/simulated/cluster_file.h"
#include "backends/simulated/simulated.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timestamp.h"
#include "daemon/data_folder.h"
#include "daemon/first_start.h"
#include "daemon/settings.h"
#include "db/db.h"
#include "reconciler/reconciler.h"

#include <errno.h>
#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DRAIN_MS = 4000, EXIT_BAD_SETTING = 2 };
