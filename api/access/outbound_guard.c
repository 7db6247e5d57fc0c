#include "api/access/outbound_guard.h"

#include "api/access/network_rules.h"

#include <sys/socket.h>

static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct outbound_guard *guard = context;
    (void)purpose;
    if (!network_rules_allow(guard->rules, &address->addr)) {
        guard->has_refused = true;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static int look(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    const struct outbound_guard *guard = context;
    (void)a, (void)b, (void)c, (void)d;
    return guard->is_stopping && atomic_load(guard->is_stopping);
}

void outbound_guard_set_sockets(CURL *curl, struct outbound_guard *guard)
{
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, guard);
}

void outbound_guard_set(CURL *curl, struct outbound_guard *guard, bool by_proxy)
{
    bool has_proxy = by_proxy && guard->proxy;
    curl_easy_setopt(curl, CURLOPT_PROXY, has_proxy ? guard->proxy : ""); // "": none of the environment's either
    if (!has_proxy)
        outbound_guard_set_sockets(curl, guard);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, look);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, guard);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, guard->connect_ms);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, guard->total_ms);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    if (guard->ca_file)
        curl_easy_setopt(curl, CURLOPT_CAINFO, guard->ca_file);
}

const char *outbound_guard_reason(const struct outbound_guard *guard, CURLcode code)
{
    if (guard->has_refused && guard->rules->are_of_site)
        return "its address is link-local, where no other machine is asked";
    if (guard->has_refused)
        return "its address is of this machine or a private network, which --notify-network does not name";
    return curl_easy_strerror(code);
}
