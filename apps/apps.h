// The ports of workloads by URL: a listener of its own, at an origin of its own, that relays a browser's requests to
// what listens in a pod. It reads the head of one request a connection, checks it, writes it again, and from then on
// passes bytes: the body's as many as were announced, or all, once the pod has agreed to a WebSocket. No second request
// passes, so that nothing is smuggled behind a head that was checked.
//
// One thread moves all bytes. What may block (a right that is looked up, a port that is opened) is done by a few
// others.
#pragma once
#include "apps/passes.h"
#include "apps/rights.h"
#include <stdint.h>

struct apps;
struct error;
struct place_book; // base/places.h

struct apps_options {
    uint32_t address;   // network order
    uint16_t port;      // 0: a free one
    const char *listen; // for messages, and the host of addresses: "127.0.0.1:8081"
    const char *domain; // --apps-domain; NULL: a path each
    struct apps_rights rights;
    struct place_book *places;
};

int apps_start(const struct apps_options *options, struct apps **out_apps, struct error *err);
// Ends all connections. NULL is fine.
void apps_stop(struct apps *apps);
const struct app_domain *apps_domain(const struct apps *apps);
// An address that signs a browser in, once and within PASS_CODE_SECONDS.
void apps_invite(struct apps *apps, const struct app_pass *pass, char out_address[APP_ADDRESS_SIZE]);
