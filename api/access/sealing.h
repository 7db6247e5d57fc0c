// Sealing: what the server must keep and use itself (an issuer's client secret, the seed of a second factor) is in the
// database as a sealed text only: XChaCha20-Poly1305 with a key outside the database, DATA/keys/sealing-<created,
// ms>-<random>.key, 32 random bytes, mode 0600. The purpose and the id of the row are authenticated with it, so that a
// sealed text that is moved to another row or column does not open. The newest key seals; the older ones open what they
// sealed until `prorata keys rotate` has sealed it again. What a person shows us (a password, a token) is hashed
// instead: passwords.h, secrets.h. A column that holds sealed texts is named *_sealed and has a row in
// db/sealed_columns.c: rotation needs to know it. Never log what sealing_open gives, nor answer it. Thread-safe:
// nothing changes after the ring was opened.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct error;
struct sealing;

enum {
    SEALING_BYTES_MAX = 16384
};

// Reads the folder's keys; where there is none it makes the first. A key that others may read is refused; a file that
// is no key is left out, with a line in the log. The caller owns *out_ring.
int sealing_open_ring(const char *data_folder, int64_t now_ms, struct sealing **out_ring, struct error *err);
void sealing_close_ring(struct sealing *ring); // NULL is fine; wipes the keys

// The sealed text, in the arena: plain ASCII without blanks. size is at most SEALING_BYTES_MAX. id names the row (its
// uuid, or its number as text) and never changes.
const char *sealing_seal(const struct sealing *ring, const char *purpose, const char *id, const void *bytes,
                         size_t size, struct arena *arena);
// Opens a text that was sealed for this purpose and id. The bytes are the arena's, with a NUL after them that out_size
// does not count; who is done with them may wipe them. ERROR_UNAVAILABLE where the key is not in the folder, or where
// the text was changed or moved.
int sealing_open(const struct sealing *ring, const char *purpose, const char *id, const char *text, struct arena *arena,
                 unsigned char **out_bytes, size_t *out_size, struct error *err);

// For `prorata keys rotate`: makes another key, which is on disk and the newest when this returns.
int sealing_add_key(struct sealing *ring, int64_t now_ms, struct error *err);
// Whether one that was cut short has left keys.
bool sealing_has_old_keys(const struct sealing *ring);
// Takes all keys away but the newest: nothing must be left that they sealed.
int sealing_drop_old_keys(struct sealing *ring, struct error *err);
