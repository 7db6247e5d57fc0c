// Saved views: what a person chose on a page, under a name. They are the person's alone and go with him.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct arena;
struct db;
struct db_conn;
struct error;

enum {
    SAVED_VIEWS_MAX = 50 // of a user
};

struct saved_view {
    const char *uuid;
    int64_t user_id;
    const char *page;
    const char *name;  // unique among the user's of this page, whatever the case
    const char *query; // a query string without the question mark
    int64_t created_ms;
    int64_t updated_ms;
};

// The user's views by name, of this page or (NULL) of all; the arena's.
int db_list_saved_views(struct db_conn *conn, int64_t user_id, const char *page, struct arena *arena,
                        struct saved_view **out_views, size_t *out_count, struct error *err);
// ERROR_CONFLICT where the name is taken, or the user has SAVED_VIEWS_MAX.
int db_create_saved_view(struct db *db, const struct saved_view *view, struct error *err);
// Sets page, name, query and updated_ms of the user's view with this uuid, and tells when it was created.
// ERROR_NOT_FOUND where he has none, ERROR_CONFLICT where the name is taken.
int db_change_saved_view(struct db *db, struct saved_view *view, struct error *err);
// ERROR_NOT_FOUND where the user has no such view.
int db_delete_saved_view(struct db *db, int64_t user_id, const char *uuid, struct error *err);
