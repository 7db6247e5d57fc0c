-- What a person chose on a page, under a name: filters, order and columns as the page's query string.
CREATE TABLE saved_views (
    id INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE,
    user_id INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    page TEXT NOT NULL, -- workloads
    name TEXT NOT NULL COLLATE NOCASE,
    query TEXT NOT NULL, -- without the question mark
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    UNIQUE (user_id, page, name)
) STRICT;
