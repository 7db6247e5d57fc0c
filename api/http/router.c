#include "api/http/router.h"
#include "api/http/path.h"
#include <stdio.h>
#include <string.h>

static const char *const METHOD_NAMES[HTTP_METHOD_COUNT] = {"GET", "POST", "PUT", "PATCH", "DELETE"};

bool router_method(const char *text, enum http_method *out_method)
{
    for (int m = 0; m < HTTP_METHOD_COUNT; m++) {
        if (strcmp(text, METHOD_NAMES[m]) == 0) {
            *out_method = (enum http_method)m;
            return true;
        }
    }
    return false;
}

static const struct route *find_literal(const struct route *route, const char *segment)
{
    size_t low = 0, high = route->child_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct route *child = &ROUTES[route->first_child + middle];
        int order = strcmp(segment, child->literal);
        if (order == 0)
            return child;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

static bool has_operation(const struct route *route)
{
    for (int m = 0; m < HTTP_METHOD_COUNT; m++) {
        if (route->operations[m] >= 0)
            return true;
    }
    return false;
}

// The depth is that of the tree, below PATH_SEGMENT_MAX.
static const struct route *find_below(const struct route *route, const struct path *path, size_t at)
{
    if (at == path->count)
        return has_operation(route) ? route : NULL;
    const struct route *literal = find_literal(route, path->segments[at]);
    const struct route *found = literal ? find_below(literal, path, at + 1) : NULL;
    if (!found && route->parameter_child)
        found = find_below(&ROUTES[route->parameter_child], path, at + 1);
    return found;
}

const struct route *router_find(const struct path *path)
{
    return find_below(&ROUTES[0], path, 0);
}

const struct operation *router_operation(const struct route *route, enum http_method method)
{
    return route->operations[method] < 0 ? NULL : &OPERATIONS[route->operations[method]];
}

void router_allow(const struct route *route, char out[ROUTER_ALLOW_SIZE])
{
    size_t n = 0;
    for (int m = 0; m < HTTP_METHOD_COUNT; m++) {
        if (route->operations[m] >= 0)
            n += (size_t)snprintf(out + n, ROUTER_ALLOW_SIZE - n, "%s%s, ", METHOD_NAMES[m],
                                  m == HTTP_METHOD_GET ? ", HEAD" : "");
    }
    snprintf(out + n, ROUTER_ALLOW_SIZE - n, "OPTIONS");
}
