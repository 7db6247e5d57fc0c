// Paths: what is routed, and what is refused before it could mean two things.
#include "api/http/path.h"
#include "base/arena.h"
#include "base/error.h"
#include "tests/support/check.h"
#include <string.h>

// name, raw path, segments joined by '|' (or NULL), message
static const struct {
    const char *name, *raw, *want, *message;
} CASES[] = {
    {"the root has no segment", "/", "", ""},
    {"one segment", "/workloads", "workloads", ""},
    {"several", "/api/v1/nodes", "api|v1|nodes", ""},
    {"an escape is decoded once", "/a/%62%2525", "a|b%25", ""},
    {"an escaped blank", "/team%20a", "team a", ""},
    {"plus stays plus in a path", "/a+b", "a+b", ""},
    {"characters beyond ASCII", "/%C3%A9/\xc3\xa9", "\xc3\xa9|\xc3\xa9", ""},
    {"dots inside a name", "/a.b/..c", "a.b|..c", ""},
    {"no slash in front", "api", NULL, "path: begins with a slash"},
    {"nothing", "", NULL, "path: begins with a slash"},
    {"a star", "*", NULL, "path: begins with a slash"},
    {"an absolute form", "http://x/api", NULL, "path: begins with a slash"},
    {"a slash at the end", "/api/", NULL, "path: an empty segment"},
    {"two slashes", "//api", NULL, "path: an empty segment"},
    {"two slashes inside", "/api//v1", NULL, "path: an empty segment"},
    {"a dot", "/api/./v1", NULL, "path: a dot segment"},
    {"two dots", "/api/../v1", NULL, "path: a dot segment"},
    {"an encoded dot", "/api/%2e/v1", NULL, "path: a dot segment"},
    {"encoded dots", "/api/%2e%2E", NULL, "path: a dot segment"},
    {"half-encoded dots", "/api/.%2e", NULL, "path: a dot segment"},
    {"an encoded slash", "/api%2fv1", NULL, "path: an encoded slash"},
    {"an encoded slash, capital", "/a%2Fb", NULL, "path: an encoded slash"},
    {"a backslash", "/a\\b", NULL, "path: an encoded slash"},
    {"an encoded backslash", "/a%5cb", NULL, "path: an encoded slash"},
    {"a NUL", "/a%00b", NULL, "path: a NUL byte"},
    {"an encoded line feed", "/a%0ab", NULL, "path: a control character"},
    {"an encoded delete", "/a%7f", NULL, "path: a control character"},
    {"a lone percent", "/a%", NULL, "path: broken percent-encoding"},
    {"one digit", "/a%2", NULL, "path: broken percent-encoding"},
    {"no digits", "/a%zz", NULL, "path: broken percent-encoding"},
    {"a signed escape", "/a%-1", NULL, "path: broken percent-encoding"},
    {"an escape over a slash", "/a%2/f", NULL, "path: broken percent-encoding"},
    {"a continuation alone", "/%80", NULL, "path: not UTF-8"},
    {"an overlong slash", "/%c0%af", NULL, "path: not UTF-8"},
    {"an overlong dot", "/%c0%ae%c0%ae", NULL, "path: not UTF-8"},
    {"an overlong slash in three bytes", "/%e0%80%af", NULL, "path: not UTF-8"},
    {"a surrogate", "/%ed%a0%80", NULL, "path: not UTF-8"},
    {"beyond Unicode", "/%f4%90%80%80", NULL, "path: not UTF-8"},
    {"a cut character", "/%e2%82", NULL, "path: not UTF-8"},
    {"bytes that never occur", "/%ff", NULL, "path: not UTF-8"},
    {"sixteen segments", "/1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g", "1|2|3|4|5|6|7|8|9|a|b|c|d|e|f|g", ""},
    {"seventeen segments", "/1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g/h", NULL, "path: more than 16 segments"},
};

static void test_split(void)
{
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct arena arena;
        struct error err = {0};
        struct path path = {.count = 99};
        char joined[256] = "";
        arena_init(&arena);
        int rc = path_split(CASES[i].raw, &arena, &path, &err);
        for (size_t k = 0; rc == 0 && k < path.count; k++) {
            strcat(joined, k ? "|" : "");
            strcat(joined, path.segments[k]);
        }
        check_int(rc, CASES[i].want ? 0 : -1, "%s", CASES[i].name);
        check_text(joined, CASES[i].want ? CASES[i].want : "", "%s", CASES[i].name);
        check_text(err.message, CASES[i].message, "%s", CASES[i].name);
        if (rc < 0)
            check_int((int64_t)path.count, 99, "%s: untouched on failure", CASES[i].name);
        arena_done(&arena);
    }
}

static const struct {
    const char *name, *text, *want, *message;
} QUERIES[] = {
    {"plus is a blank", "a+b", "a b", ""},
    {"an escaped plus", "a%2Bb", "a+b", ""},
    {"an operator of a filter", "name%3D%3Dtest%2Cphase%21%3DRunning", "name==test,phase!=Running", ""},
    {"empty", "", "", ""},
    {"a slash may be escaped here", "a%2Fb", "a/b", ""},
    {"a NUL may not", "a%00", NULL, "q: a NUL byte"},
    {"nor bad UTF-8", "%c3(", NULL, "q: not UTF-8"},
    {"nor half an escape", "%a", NULL, "q: broken percent-encoding"},
};

static void test_query(void)
{
    for (size_t i = 0; i < COUNT(QUERIES); i++) {
        struct arena arena;
        struct error err = {0};
        char *text = NULL;
        arena_init(&arena);
        int rc = percent_decode(QUERIES[i].text, strlen(QUERIES[i].text), "q", &arena, &text, &err);
        check_int(rc, QUERIES[i].want ? 0 : -1, "%s", QUERIES[i].name);
        check_text(text ? text : "", QUERIES[i].want ? QUERIES[i].want : "", "%s", QUERIES[i].name);
        check_text(err.message, QUERIES[i].message, "%s", QUERIES[i].name);
        arena_done(&arena);
    }
}

int main(void)
{
    test_split();
    test_query();
    return check_finish();
}
