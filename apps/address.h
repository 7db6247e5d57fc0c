// Addresses of the ports of workloads. Two ways, by the option:
//   a host each   https://w-ID-PORT.gpu.example.org/   of `*.gpu.example.org`: what runs in one workload is a foreign
//                 origin to all others, and the browser keeps them apart
//   a path each   http://HOST:PORT/w/ID/PORT/          one origin for all: who submitted a workload alone opens it
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct head; // apps/head.h

enum {
    APP_ID_SIZE = 37, // of a UUID
    APP_DOMAIN_SIZE = 256,
    APP_PATH_SIZE = 64,
    APP_ADDRESS_SIZE = 512
};
#define APP_PATH_BEGIN "/w/" // of a path each: ID/PORT/ follows
#define APP_SIGN_IN_PATH "/_prorata/open"

struct app_place {
    char workload[APP_ID_SIZE];
    uint16_t port;
};

struct app_domain {
    bool is_host_each, is_https;
    char scheme_host[APP_DOMAIN_SIZE]; // after "w-ID-PORT" or of all: "https://" and ".gpu.example.org" or "host:port"
};

// option: --apps-domain: "*.gpu.example.org", "https://apps.example.org", "http://*.localhost:8081"; NULL: a path each
// at host, which is "ADDRESS:PORT" as clients reach it. `*.localhost` without a scheme is http at host's port, and all
// else without one https. ERROR_INVALID.
int app_domain_parse(const char *option, const char *host, struct app_domain *out, struct error *err);
// Which place a request asks for; false: none. Of the sign-in's path a host each gives the place, a path each none.
bool app_place_of(const struct app_domain *domain, const struct head *head, struct app_place *out);
// The address of a place, with a slash at its end; of its sign-in without.
void app_address(const struct app_domain *domain, const struct app_place *place, char out[APP_ADDRESS_SIZE]);
void app_sign_in_address(const struct app_domain *domain, const struct app_place *place, char out[APP_ADDRESS_SIZE]);
// The path that a place's cookie is for, and that its requests begin with: "/" or "/w/ID/PORT/".
void app_path(const struct app_domain *domain, const struct app_place *place, char out[APP_PATH_SIZE]);
