-- Prorata's tables. Conventions: times are milliseconds since the epoch, UTC (0 or NULL: none); GPUs are thousandths of a
-- device, CPU millicores, memory bytes; NULL in a quota or limit means unlimited. `revision` is the number of the change
-- that last touched the row (db/db.h): whoever remembers the highest number seen reads only what is newer.
-- Columns named *_json hold JSON in the API's own form, unless a comment says otherwise.

-- One row a key: tenant name, revision, ids handed out, signing-key bookkeeping.
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;

CREATE TABLE tenant_settings (key TEXT PRIMARY KEY, value TEXT NOT NULL, updated_ms INTEGER NOT NULL) STRICT;

CREATE TABLE clusters (
    id INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL, -- WaitingToConnect, Connected, Disconnected, ...
    version TEXT NOT NULL DEFAULT '',
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    last_seen_ms INTEGER NOT NULL DEFAULT 0,
    revision INTEGER NOT NULL
) STRICT;

CREATE TABLE node_pools (
    id INTEGER PRIMARY KEY, -- the API's id, as decimal text
    cluster_id INTEGER NOT NULL REFERENCES clusters(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    is_default INTEGER NOT NULL DEFAULT 0,
    label_key TEXT, -- NULL for the default pool
    label_value TEXT,
    phase TEXT NOT NULL DEFAULT 'Empty', -- Creating, Updating, Deleting, Empty, Ready, Unschedulable
    phase_message TEXT NOT NULL DEFAULT '',
    gpu_placement TEXT NOT NULL DEFAULT 'binpack', -- binpack, spread, fragmentation
    cpu_placement TEXT NOT NULL DEFAULT 'binpack',
    min_guaranteed_runtime_ms INTEGER NOT NULL DEFAULT 0, -- preempt and reclaim
    time_based_fairshare_json TEXT, -- NULL: off
    over_provisioning_ratio REAL NOT NULL DEFAULT 1,
    network_topology_id TEXT,
    settings_json TEXT NOT NULL DEFAULT '{}', -- the rest of what create/update sent, kept as sent
    created_by TEXT NOT NULL DEFAULT '',
    updated_by TEXT NOT NULL DEFAULT '',
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    deleted_ms INTEGER NOT NULL DEFAULT 0,
    revision INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX node_pools_name ON node_pools(cluster_id, name) WHERE deleted_ms = 0;
CREATE UNIQUE INDEX node_pools_label ON node_pools(cluster_id, label_key, label_value) WHERE deleted_ms = 0 AND label_key IS NOT NULL;
CREATE INDEX node_pools_revision ON node_pools(revision);

CREATE TABLE nodes (
    id INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE,
    cluster_id INTEGER NOT NULL REFERENCES clusters(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    node_pool_id INTEGER NOT NULL REFERENCES node_pools(id), -- follows from the labels; kept by db/nodes.c
    status TEXT NOT NULL, -- Ready, NotReady, Unknown
    status_reason TEXT NOT NULL DEFAULT '',
    cordoned INTEGER NOT NULL DEFAULT 0,
    labels_json TEXT NOT NULL DEFAULT '{}', -- {"key": "value"}
    taints_json TEXT NOT NULL DEFAULT '[]', -- [{"key","value","effect"}]
    gpu_count INTEGER NOT NULL DEFAULT 0,
    gpu_memory_mib INTEGER NOT NULL DEFAULT 0, -- of one device
    gpu_type TEXT NOT NULL DEFAULT '',
    mig_strategy TEXT NOT NULL DEFAULT 'none',
    mig_instances_json TEXT NOT NULL DEFAULT '{}',
    cpu_milli INTEGER NOT NULL DEFAULT 0,
    memory_bytes INTEGER NOT NULL DEFAULT 0,
    max_pods INTEGER NOT NULL DEFAULT 110,
    unhealthy_gpus_json TEXT NOT NULL DEFAULT '[]', -- indices of devices that must not be used
    ip TEXT NOT NULL DEFAULT '',
    version TEXT NOT NULL DEFAULT '',
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    deleted_ms INTEGER NOT NULL DEFAULT 0,
    revision INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX nodes_name ON nodes(cluster_id, name) WHERE deleted_ms = 0;
CREATE INDEX nodes_pool ON nodes(node_pool_id) WHERE deleted_ms = 0;
CREATE INDEX nodes_revision ON nodes(revision);

CREATE TABLE topologies (
    id INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE,
    cluster_id INTEGER NOT NULL REFERENCES clusters(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    levels_json TEXT NOT NULL, -- ["topology/zone", ...], farthest first
    created_by TEXT NOT NULL DEFAULT '',
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    UNIQUE (cluster_id, name)
) STRICT;

CREATE TABLE departments (
    id INTEGER PRIMARY KEY, -- shares one row of numbers with projects (db/org_units): never equal to a project's id
    cluster_id INTEGER NOT NULL REFERENCES clusters(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    is_default INTEGER NOT NULL DEFAULT 0,
    description TEXT NOT NULL DEFAULT '',
    scheduling_rules_json TEXT,
    default_node_pools_json TEXT, -- ["pool", ...]
    node_types_json TEXT,
    phase TEXT NOT NULL DEFAULT 'Ready',
    created_by TEXT NOT NULL DEFAULT '',
    updated_by TEXT NOT NULL DEFAULT '',
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    revision INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX departments_name ON departments(cluster_id, name);
CREATE INDEX departments_revision ON departments(revision);

CREATE TABLE projects (
    id INTEGER PRIMARY KEY,
    cluster_id INTEGER NOT NULL REFERENCES clusters(id) ON DELETE CASCADE,
    department_id INTEGER NOT NULL REFERENCES departments(id),
    name TEXT NOT NULL,
    is_default INTEGER NOT NULL DEFAULT 0,
    description TEXT NOT NULL DEFAULT '',
    namespace TEXT NOT NULL,
    requested_namespace TEXT,
    enforce_scheduler INTEGER NOT NULL DEFAULT 1,
    scheduling_rules_json TEXT,
    default_node_pools_json TEXT,
    node_types_json TEXT,
    phase TEXT NOT NULL DEFAULT 'Ready', -- Deleting while its workloads go
    created_by TEXT NOT NULL DEFAULT '',
    updated_by TEXT NOT NULL DEFAULT '',
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    revision INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX projects_name ON projects(cluster_id, name);
CREATE INDEX projects_department ON projects(department_id, id);
CREATE INDEX projects_revision ON projects(revision);

-- A queue: what a project or department is given in one node pool. A row exists for each unit in each pool.
CREATE TABLE queues (
    id INTEGER PRIMARY KEY,
    owner_kind TEXT NOT NULL CHECK (owner_kind IN ('department', 'project')),
    owner_id INTEGER NOT NULL,
    node_pool_id INTEGER NOT NULL REFERENCES node_pools(id) ON DELETE CASCADE,
    rank_name TEXT NOT NULL DEFAULT 'MediumLow',
    rank INTEGER NOT NULL DEFAULT 100, -- the number the scheduler compares; higher first
    gpu_deserved_milli INTEGER DEFAULT 0, -- NULL: unlimited, as everywhere below
    gpu_limit_milli INTEGER,
    gpu_over_quota_weight REAL NOT NULL DEFAULT 2,
    cpu_deserved_milli INTEGER,
    cpu_limit_milli INTEGER,
    cpu_over_quota_weight REAL NOT NULL DEFAULT 1,
    memory_deserved_bytes INTEGER,
    memory_limit_bytes INTEGER,
    memory_over_quota_weight REAL NOT NULL DEFAULT 1,
    memory_units TEXT NOT NULL DEFAULT 'MB',
    -- The figures of the latest cycle, written by the reconciler when they change.
    gpu_fair_share_milli INTEGER NOT NULL DEFAULT 0,
    gpu_allocated_milli INTEGER NOT NULL DEFAULT 0,
    gpu_allocated_non_preemptible_milli INTEGER NOT NULL DEFAULT 0,
    gpu_requested_milli INTEGER NOT NULL DEFAULT 0,
    cpu_fair_share_milli INTEGER NOT NULL DEFAULT 0,
    cpu_allocated_milli INTEGER NOT NULL DEFAULT 0,
    cpu_allocated_non_preemptible_milli INTEGER NOT NULL DEFAULT 0,
    cpu_requested_milli INTEGER NOT NULL DEFAULT 0,
    memory_fair_share_bytes INTEGER NOT NULL DEFAULT 0,
    memory_allocated_bytes INTEGER NOT NULL DEFAULT 0,
    memory_allocated_non_preemptible_bytes INTEGER NOT NULL DEFAULT 0,
    memory_requested_bytes INTEGER NOT NULL DEFAULT 0,
    revision INTEGER NOT NULL, -- of the settings above, not of the figures
    UNIQUE (owner_kind, owner_id, node_pool_id)
) STRICT;
CREATE INDEX queues_pool ON queues(node_pool_id);
CREATE INDEX queues_revision ON queues(revision);

CREATE TABLE workloads (
    id INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    requested_name TEXT NOT NULL,
    type TEXT NOT NULL, -- Training, Workspace, Distributed, Inference
    category TEXT NOT NULL, -- Build, Train, Deploy
    cluster_id INTEGER NOT NULL REFERENCES clusters(id),
    department_id INTEGER NOT NULL,
    project_id INTEGER NOT NULL,
    department_name TEXT NOT NULL, -- as it was at submission: a deleted workload outlives its project
    project_name TEXT NOT NULL,
    namespace TEXT NOT NULL,
    created_by TEXT NOT NULL,
    updated_by TEXT NOT NULL DEFAULT '',
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    deleted_ms INTEGER NOT NULL DEFAULT 0, -- deletion finished: shown only with deleted=true
    -- What is wanted.
    desired_phase TEXT NOT NULL DEFAULT 'Running', -- Running, Stopped, Deleted
    spec_json TEXT NOT NULL, -- as validated, defaults filled in; answered by GET trainings/{id} and so on
    master_spec_json TEXT, -- distributed
    framework TEXT NOT NULL DEFAULT '', -- distributed: PyTorch, MPI, TF, XGBoost, JAX
    priority INTEGER NOT NULL,
    priority_class TEXT NOT NULL,
    preemptible INTEGER NOT NULL,
    node_pools_json TEXT, -- ["pool", ...] as asked; NULL: the project's default
    pods_wanted INTEGER NOT NULL, -- all pods at once: workers and master, or parallelism
    min_pods INTEGER NOT NULL, -- the gang
    completions INTEGER NOT NULL DEFAULT 1,
    backoff_limit INTEGER NOT NULL DEFAULT 6,
    grace_period_ms INTEGER NOT NULL DEFAULT 30000,
    auto_delete_ms INTEGER, -- after completion; NULL: 30 days
    time_limit_ms INTEGER, -- scheduling rules of the project at submission
    idle_limit_ms INTEGER,
    terminate_after_preemption INTEGER NOT NULL DEFAULT 0,
    gpu_request_type TEXT, -- portion, memory, NULL: whole devices
    gpu_requested_milli INTEGER NOT NULL, -- sum over pods
    cpu_requested_milli INTEGER NOT NULL,
    memory_requested_bytes INTEGER NOT NULL,
    -- What is.
    phase TEXT NOT NULL, -- api-notes 8.4: Creating, Pending, Initializing, Running, ...
    phase_message TEXT NOT NULL DEFAULT '',
    phase_reason TEXT NOT NULL DEFAULT '', -- NonPreemptibleOverQuota, OverLimit, or ''
    phase_updated_ms INTEGER NOT NULL,
    k8s_phase TEXT NOT NULL DEFAULT 'Pending',
    k8s_phase_updated_ms INTEGER NOT NULL DEFAULT 0,
    started_ms INTEGER NOT NULL DEFAULT 0, -- first Running of the present life
    completed_ms INTEGER NOT NULL DEFAULT 0,
    pending_total_ms INTEGER NOT NULL DEFAULT 0, -- finished stretches; the present one is added by who reads
    running_total_ms INTEGER NOT NULL DEFAULT 0,
    gpu_allocated_milli INTEGER NOT NULL DEFAULT 0,
    cpu_allocated_milli INTEGER NOT NULL DEFAULT 0,
    memory_allocated_bytes INTEGER NOT NULL DEFAULT 0,
    pods_running INTEGER NOT NULL DEFAULT 0,
    pods_pending INTEGER NOT NULL DEFAULT 0,
    succeeded_count INTEGER NOT NULL DEFAULT 0, -- pods that ended well, for completions
    failed_count INTEGER NOT NULL DEFAULT 0, -- against backoff_limit
    current_node_pools_json TEXT NOT NULL DEFAULT '[]',
    -- The scheduler's memory from cycle to cycle (scheduler/snapshot.h).
    promise INTEGER, -- place among the promises of the cycle before
    last_eviction_ms INTEGER NOT NULL DEFAULT 0,
    stale_since_ms INTEGER NOT NULL DEFAULT 0,
    displaced_count INTEGER NOT NULL DEFAULT 0, -- how often in a row it lost a place or a promise by a decision
    displaced_ms INTEGER NOT NULL DEFAULT 0, -- when last
    messages_json TEXT, -- pendingSchedulingMessages
    explanation_json TEXT, -- {"sentence","why",...}: answered by GET /workloads/{id}/explanation
    listing_json TEXT NOT NULL, -- what never changes of its row in GET /workloads, ready to copy: members without braces
    revision INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX workloads_name ON workloads(project_id, name) WHERE deleted_ms = 0;
CREATE INDEX workloads_revision ON workloads(revision);
CREATE INDEX workloads_active ON workloads(phase, id) WHERE deleted_ms = 0;
-- One index per sort the list offers, each ending in id, over what is not deleted.
CREATE INDEX workloads_by_created ON workloads(deleted_ms, created_ms, id);
CREATE INDEX workloads_by_name ON workloads(deleted_ms, name, id);
CREATE INDEX workloads_by_project ON workloads(project_id, deleted_ms, created_ms, id);
CREATE INDEX workloads_by_phase ON workloads(deleted_ms, phase, id);
CREATE INDEX workloads_by_type ON workloads(deleted_ms, type, id);
CREATE INDEX workloads_by_gpu ON workloads(deleted_ms, gpu_allocated_milli, id);
CREATE INDEX workloads_by_expiry ON workloads(completed_ms + coalesce(auto_delete_ms, 2592000000))
    WHERE deleted_ms = 0 AND completed_ms > 0; -- 30 days where nothing is said

CREATE TABLE pods (
    id INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE,
    workload_id INTEGER NOT NULL REFERENCES workloads(id) ON DELETE CASCADE,
    name TEXT NOT NULL, -- <workload>-<index>-<attempt>, <workload>-worker-<n>, <workload>-master-0; unique in its workload
    role TEXT NOT NULL DEFAULT 'worker', -- worker, master
    pod_index INTEGER NOT NULL,
    attempt INTEGER NOT NULL DEFAULT 0,
    status TEXT NOT NULL, -- the scheduler's words: Pending, Pipelined, Binding, Bound, Running, Releasing, Succeeded, Failed; and Deleted
    k8s_phase TEXT NOT NULL DEFAULT 'Pending', -- Pending, ContainerCreating, Running, Succeeded, Failed, Terminating, ...
    k8s_phase_updated_ms INTEGER NOT NULL,
    reason TEXT NOT NULL DEFAULT '', -- of the end: Completed, Error, Preempted, Suspended, NodeLost, OOMKilled, ...
    message TEXT NOT NULL DEFAULT '',
    exit_code INTEGER,
    -- What it asks for: one row's worth of a snapshot pod.
    gpu_devices INTEGER NOT NULL DEFAULT 0,
    gpu_portion_milli INTEGER NOT NULL DEFAULT 0, -- 0: whole devices
    gpu_memory_mib INTEGER NOT NULL DEFAULT 0,
    cpu_milli INTEGER NOT NULL DEFAULT 0,
    memory_bytes INTEGER NOT NULL DEFAULT 0,
    constraints_json TEXT, -- NULL, or {"nodeSelector","tolerations","extended","migInstances"} in the snapshot's form
    -- What it holds.
    node_id INTEGER REFERENCES nodes(id),
    node_name TEXT,
    node_pool_id INTEGER,
    gpu_indices_json TEXT NOT NULL DEFAULT '[]', -- devices, e.g. [0,1]
    gpu_groups_json TEXT NOT NULL DEFAULT '[]', -- shared devices, e.g. ["0"]
    gpu_allocated_milli INTEGER NOT NULL DEFAULT 0,
    decision_id INTEGER NOT NULL DEFAULT 0, -- of the latest decision about it; backend calls carry it and are idempotent
    start_decision INTEGER NOT NULL DEFAULT 0, -- the decision under which the backend was told to start it
    promise_node TEXT,
    created_ms INTEGER NOT NULL,
    scheduled_ms INTEGER NOT NULL DEFAULT 0,
    started_ms INTEGER NOT NULL DEFAULT 0,
    stopping_ms INTEGER NOT NULL DEFAULT 0,
    completed_ms INTEGER NOT NULL DEFAULT 0,
    deleted_ms INTEGER NOT NULL DEFAULT 0, -- gone: holds nothing any more
    ip TEXT NOT NULL DEFAULT '',
    revision INTEGER NOT NULL
) STRICT;
CREATE INDEX pods_workload ON pods(workload_id, deleted_ms, pod_index);
CREATE INDEX pods_revision ON pods(revision);
CREATE INDEX pods_node ON pods(node_id) WHERE deleted_ms = 0;
CREATE INDEX pods_by_created ON pods(created_ms, id);

CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL,
    workload_id INTEGER REFERENCES workloads(id) ON DELETE CASCADE, -- NULL: of a node or the cluster
    time_ms INTEGER NOT NULL,
    type TEXT NOT NULL, -- Normal, Warning
    reason TEXT NOT NULL, -- Submitted, Scheduled, Started, Preempted, Unschedulable, ...
    message TEXT NOT NULL,
    source TEXT NOT NULL, -- scheduler, backend, control-plane
    object_kind TEXT NOT NULL, -- Workload, Pod, Node
    object_name TEXT NOT NULL,
    object_uuid TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX events_workload ON events(workload_id, time_ms, id);
CREATE INDEX events_time ON events(time_ms, id);

CREATE TABLE phase_history (
    id INTEGER PRIMARY KEY,
    workload_id INTEGER NOT NULL REFERENCES workloads(id) ON DELETE CASCADE,
    time_ms INTEGER NOT NULL,
    phase TEXT NOT NULL,
    message TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX phase_history_workload ON phase_history(workload_id, id);

-- Who held which devices when: the timeline's and the reports' source. ended_ms 0: still holds.
CREATE TABLE allocations (
    id INTEGER PRIMARY KEY,
    pod_id INTEGER NOT NULL REFERENCES pods(id) ON DELETE CASCADE,
    workload_id INTEGER NOT NULL,
    project_id INTEGER NOT NULL,
    node_name TEXT NOT NULL,
    node_pool_id INTEGER NOT NULL,
    gpu_indices_json TEXT NOT NULL,
    gpu_milli INTEGER NOT NULL,
    started_ms INTEGER NOT NULL,
    ended_ms INTEGER NOT NULL DEFAULT 0,
    end_reason TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX allocations_time ON allocations(started_ms);
CREATE INDEX allocations_pod ON allocations(pod_id);

-- What each eviction cost, and for whom: written with the plan, gone with the workload.
CREATE TABLE receipts (
    id INTEGER PRIMARY KEY,
    workload_id INTEGER NOT NULL REFERENCES workloads(id) ON DELETE CASCADE,
    project_id INTEGER NOT NULL,
    department_id INTEGER NOT NULL,
    pod_name TEXT NOT NULL,
    time_ms INTEGER NOT NULL,
    action TEXT NOT NULL, -- reclaim, preempt, consolidation, stalegangeviction, allocate
    rule TEXT NOT NULL, -- what allowed it
    node_pool_name TEXT NOT NULL,
    node_name TEXT NOT NULL,
    gpu_milli INTEGER NOT NULL,
    gpu_indices_json TEXT NOT NULL DEFAULT '[]',
    beneficiary_id INTEGER, -- workloads.id, as long as it lives; NULL: nobody
    beneficiary_uuid TEXT,
    beneficiary_name TEXT,
    beneficiary_project_id INTEGER,
    beneficiary_project_name TEXT,
    is_moved INTEGER NOT NULL, -- it got another place at once
    lost_ms INTEGER NOT NULL, -- run time since start
    sentence TEXT NOT NULL,
    victim_queue_json TEXT, -- {"deserved","fairShare","allocatedBefore","allocatedAfter"} of the project that gave
    beneficiary_queue_json TEXT -- and of the one that got
) STRICT;
CREATE INDEX receipts_workload ON receipts(workload_id, id);
CREATE INDEX receipts_project ON receipts(project_id, id);
CREATE INDEX receipts_time ON receipts(time_ms, id);

-- Step functions: a row where a value changed. scope: cluster, nodepool, node, project, department, workload, pod.
CREATE TABLE samples (
    scope TEXT NOT NULL,
    scope_id INTEGER NOT NULL,
    node_pool_id INTEGER NOT NULL DEFAULT 0, -- 0: all pools
    metric TEXT NOT NULL, -- the API's metric type, e.g. ALLOCATED_GPU; _PER_GPU ones carry :index
    time_ms INTEGER NOT NULL,
    value REAL NOT NULL,
    PRIMARY KEY (scope, scope_id, node_pool_id, metric, time_ms)
) STRICT, WITHOUT ROWID;
CREATE INDEX samples_time ON samples(time_ms);

-- Averages over samples that lists of projects and departments show and sort by; renewed every few minutes.
CREATE TABLE overtime (
    owner_kind TEXT NOT NULL CHECK (owner_kind IN ('department', 'project')),
    owner_id INTEGER NOT NULL,
    gpu_allocation_24h REAL NOT NULL, -- GPUs
    gpu_allocation_7d REAL NOT NULL,
    gpu_allocation_30d REAL NOT NULL,
    gpu_utilization_24h REAL NOT NULL, -- %
    gpu_utilization_7d REAL NOT NULL,
    gpu_utilization_30d REAL NOT NULL,
    gpu_memory_utilization_24h REAL NOT NULL,
    gpu_memory_utilization_7d REAL NOT NULL,
    gpu_memory_utilization_30d REAL NOT NULL,
    updated_ms INTEGER NOT NULL,
    PRIMARY KEY (owner_kind, owner_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE assets (
    id INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL, -- compute, environment
    name TEXT NOT NULL,
    description TEXT NOT NULL DEFAULT '',
    scope TEXT NOT NULL, -- system, tenant, cluster, department, project
    scope_id TEXT NOT NULL DEFAULT '', -- cluster uuid, department or project id
    workload_types_json TEXT, -- meta.workloadSupportedTypes
    spec_json TEXT NOT NULL,
    created_by TEXT NOT NULL,
    updated_by TEXT NOT NULL DEFAULT '',
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    UNIQUE (kind, scope, scope_id, name)
) STRICT;

CREATE TABLE users (
    id INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE,
    email TEXT NOT NULL UNIQUE COLLATE NOCASE,
    password_hash TEXT NOT NULL, -- crypto_pwhash_str
    reset_password INTEGER NOT NULL DEFAULT 0,
    is_local INTEGER NOT NULL DEFAULT 1,
    created_by TEXT NOT NULL DEFAULT '',
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    last_login_ms INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE service_accounts (
    id INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    client_id TEXT NOT NULL UNIQUE,
    secret_hash BLOB NOT NULL, -- BLAKE2b-256
    enabled INTEGER NOT NULL DEFAULT 1,
    description TEXT NOT NULL DEFAULT '',
    created_by TEXT NOT NULL DEFAULT '',
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    last_login_ms INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE access_rules (
    id INTEGER PRIMARY KEY,
    subject_type TEXT NOT NULL, -- user, service-account (also app), group
    subject_id TEXT NOT NULL, -- user e-mail, service account client id, group name
    role_id INTEGER NOT NULL, -- roles are fixed, in api/roles.c
    scope_type TEXT NOT NULL, -- system, tenant, cluster, department, project
    scope_id TEXT NOT NULL,
    cluster_uuid TEXT,
    created_by TEXT NOT NULL DEFAULT '',
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    deleted_ms INTEGER NOT NULL DEFAULT 0,
    UNIQUE (subject_type, subject_id, role_id, scope_type, scope_id, deleted_ms)
) STRICT;
CREATE INDEX access_rules_subject ON access_rules(subject_type, subject_id) WHERE deleted_ms = 0;

-- A sign-in: of a browser (cookie), a user or a service account. Tokens carry its uuid; deleting the row revokes them.
CREATE TABLE sessions (
    id INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL, -- browser, token
    subject_type TEXT NOT NULL, -- user, service-account
    subject_id INTEGER NOT NULL, -- users.id or service_accounts.id
    remote_address TEXT NOT NULL DEFAULT '',
    cookie_hash BLOB, -- browser
    refresh_family_hash BLOB, -- of the part that all refresh tokens of a session share: who shows another one with it ends the session
    refresh_hash BLOB, -- the one refresh token that is good now
    created_ms INTEGER NOT NULL,
    last_used_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX sessions_cookie ON sessions(cookie_hash) WHERE cookie_hash IS NOT NULL;
CREATE INDEX sessions_refresh ON sessions(refresh_family_hash) WHERE refresh_family_hash IS NOT NULL;
CREATE INDEX sessions_expires ON sessions(expires_ms);
CREATE INDEX sessions_subject ON sessions(subject_type, subject_id);
