-- Notifications: where they go, who wants which, and what waits to be sent. Columns named *_sealed hold sealed texts
-- (api/access/sealing.h).
CREATE TABLE notification_channels (
    name TEXT PRIMARY KEY, -- email, slack, or a webhook's own
    type TEXT NOT NULL CHECK (type IN ('email', 'slack', 'webhook')),
    is_enabled INTEGER NOT NULL DEFAULT 1,
    config_json TEXT NOT NULL, -- without secrets
    secrets_sealed TEXT, -- JSON; NULL: it has none
    updated_by TEXT NOT NULL,
    updated_ms INTEGER NOT NULL,
    -- What became of what was sent by it.
    paused_until_ms INTEGER NOT NULL DEFAULT 0, -- after a failure nothing is tried before
    failures INTEGER NOT NULL DEFAULT 0, -- in a row
    last_error TEXT NOT NULL DEFAULT '',
    last_error_ms INTEGER NOT NULL DEFAULT 0,
    last_sent_ms INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE subscriptions (
    id INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE,
    user_id INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    scope TEXT NOT NULL CHECK (scope IN ('own', 'all')),
    events_json TEXT NOT NULL, -- [{"category", "types"}]
    channels_json TEXT NOT NULL, -- ["email", ...]
    since_ms INTEGER NOT NULL -- nothing older is told
) STRICT;
CREATE INDEX subscriptions_user ON subscriptions(user_id, id);

-- How far events and phases have been turned into deliveries. It moves in the transaction that adds them, so that a
-- crash neither loses nor doubles one.
CREATE TABLE notification_cursor (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    event_id INTEGER NOT NULL,
    phase_id INTEGER NOT NULL,
    digest_ms INTEGER NOT NULL -- when the next digest of use over quota is due; 0: never yet
) STRICT;
INSERT INTO notification_cursor (id, event_id, phase_id, digest_ms)
SELECT 1, coalesce((SELECT max(id) FROM events), 0), coalesce((SELECT max(id) FROM phase_history), 0), 0;

-- One message to one recipient: a person, or those whom a channel names itself.
CREATE TABLE notification_deliveries (
    id INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE, -- the same in each try: Message-ID, and the id of a webhook's delivery
    channel TEXT NOT NULL REFERENCES notification_channels(name) ON DELETE CASCADE,
    user_id INTEGER REFERENCES users(id) ON DELETE CASCADE, -- NULL: those whom the channel names
    is_digest INTEGER NOT NULL, -- takes further lines until it is first tried
    omitted_count INTEGER NOT NULL DEFAULT 0, -- lines that a digest had no room for
    state TEXT NOT NULL CHECK (state IN ('Waiting', 'Sent', 'Failed', 'Dropped')),
    attempts INTEGER NOT NULL DEFAULT 0,
    created_ms INTEGER NOT NULL,
    next_ms INTEGER NOT NULL, -- not tried before
    ended_ms INTEGER NOT NULL DEFAULT 0,
    error TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX notification_deliveries_due ON notification_deliveries(channel, next_ms, id) WHERE state = 'Waiting';
CREATE INDEX notification_deliveries_recipient ON notification_deliveries(channel, user_id, created_ms);
CREATE INDEX notification_deliveries_user ON notification_deliveries(user_id);
CREATE INDEX notification_deliveries_ended ON notification_deliveries(ended_ms) WHERE state <> 'Waiting';

CREATE TABLE notification_lines (
    id INTEGER PRIMARY KEY,
    delivery_id INTEGER NOT NULL REFERENCES notification_deliveries(id) ON DELETE CASCADE,
    user_id INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE, -- whose rights it is told by
    source TEXT NOT NULL, -- event:12, phase:7, digest:...: the same for all who are told
    category TEXT NOT NULL,
    type TEXT NOT NULL,
    time_ms INTEGER NOT NULL,
    sentence TEXT NOT NULL,
    workload_uuid TEXT, -- NULL: of a project
    workload_name TEXT NOT NULL,
    project_name TEXT NOT NULL,
    cluster_id INTEGER NOT NULL,
    department_id INTEGER NOT NULL,
    project_id INTEGER NOT NULL
) STRICT;
CREATE INDEX notification_lines_delivery ON notification_lines(delivery_id, id);
CREATE INDEX notification_lines_user ON notification_lines(user_id);
