// The chain of audit records: each record's MAC covers the MAC of the record before, so that none can be changed, added
// or taken away in between by who does not hold the key. Keyed BLAKE2b of 256 bits (libsodium, crypto_generichash) over
// what the record says, each text behind its length. The key is in DIR/keys/audit.key, never in the database.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct error;

#define AUDIT_KEY_FILE "audit.key"

enum {
    AUDIT_SECRET_SIZE = 32,
    AUDIT_MAC_SIZE = 32,
    AUDIT_KEY_ID_SIZE = 17,
    AUDIT_MAC_STATE_SIZE = 384
};

struct audit_key {
    unsigned char secret[AUDIT_SECRET_SIZE];
    char id[AUDIT_KEY_ID_SIZE]; // tells keys apart, and nothing of the secret
};

// A place in the chain: a record's number and MAC. 0 and zeros: before the first.
struct audit_mark {
    int64_t seq;
    unsigned char mac[AUDIT_MAC_SIZE];
};

// Reads the key of a folder, made with mode 0600 where there is none. ERROR_INTERNAL where others may read it, or it is
// no key; ERROR_UNAVAILABLE where the disk refuses.
int audit_key_open(const char *folder, struct audit_key *out_key, struct error *err);
// 1: read; 0: there is none; -1: error.
int audit_key_read(const char *folder, struct audit_key *out_key, struct error *err);

struct audit_mac {
    _Alignas(64) unsigned char state[AUDIT_MAC_STATE_SIZE];
};

// purpose keeps the MACs of records, bases and heads apart.
void audit_mac_begin(struct audit_mac *mac, const struct audit_key *key, const char *purpose);
void audit_mac_number(struct audit_mac *mac, int64_t value);
void audit_mac_bytes(struct audit_mac *mac, const void *data, size_t length);
void audit_mac_text(struct audit_mac *mac, const char *text);
void audit_mac_end(struct audit_mac *mac, unsigned char out_mac[AUDIT_MAC_SIZE]);

// The signature of a place in the chain at a time: of the base in the database, or of a head outside it.
void audit_mark_sign(const struct audit_key *key, const char *purpose, const struct audit_mark *mark, int64_t time_ms,
                     unsigned char out_signature[AUDIT_MAC_SIZE]);
