// Codes by time: the vectors of RFC 6238 and RFC 4226, the window, and codes that were used.
#include "api/access/password_rules.h"
#include "api/access/totp.h"

#include "base/error.h"
#include "tests/support/check.h"

#include <stdio.h>
#include <string.h>

static const unsigned char SECRET[] = "12345678901234567890";
enum {
    SIZE = sizeof(SECRET) - 1
};

// RFC 6238, appendix B, the rows of SHA-1: 8 digits.
static const struct {
    int64_t time_s;
    uint32_t number;
} RFC_6238[] = {
    {59, 94287082},         {1111111109, 7081804},  {1111111111, 14050471},
    {1234567890, 89005924}, {2000000000, 69279037}, {20000000000, 65353130},
};

// RFC 4226, appendix D: counters 0 to 9.
static const uint32_t RFC_4226[] = {755224, 287082, 359152, 969429, 338314, 254676, 287922, 162583, 399871, 520489};

static void test_vectors(void)
{
    for (size_t i = 0; i < sizeof(RFC_6238) / sizeof(RFC_6238[0]); i++)
        check_int(totp_number(SECRET, SIZE, RFC_6238[i].time_s / TOTP_STEP_S, 8), RFC_6238[i].number,
                  "RFC 6238, row %zu", i);
    for (size_t i = 0; i < sizeof(RFC_4226) / sizeof(RFC_4226[0]); i++)
        check_int(totp_number(SECRET, SIZE, (int64_t)i, 6), RFC_4226[i], "RFC 4226, counter %zu", i);
}

static void test_window(void)
{
    static const struct {
        const char *name, *text;
        int64_t now_s, last_step;
        bool matches;
    } CASES[] = {
        {"of now", "287082", 59, 0, true},
        {"a step early", "287082", 29, 0, true},
        {"a step late", "287082", 89, 0, true},
        {"two steps late", "287082", 90, 0, false},
        {"used before", "287082", 59, 1, false},
        {"one before the last that was used", "287082", 89, 2, false},
        {"the next after it", "359152", 89, 1, true},
        {"another", "287083", 59, 0, false},
        {"too short", "28708", 59, 0, false},
        {"too long", "2870820", 59, 0, false},
        {"empty", "", 59, 0, false},
        {"no digits", "28708a", 59, 0, false},
        {"a sign", "+87082", 59, 0, false},
        {"a blank", " 87082", 59, 0, false},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        int64_t step = 0;
        bool matches = totp_matches(SECRET, SIZE, CASES[i].text, CASES[i].now_s, CASES[i].last_step, &step);
        check_int(matches, CASES[i].matches, "%s", CASES[i].name);
        check_true(matches == (step > CASES[i].last_step), "%s: its step", CASES[i].name);
    }
}

// RFC 4648, section 10, without padding.
static void test_base32(void)
{
    static const char *const CASES[][2] = {{"", ""},
                                           {"f", "MY"},
                                           {"fo", "MZXQ"},
                                           {"foo", "MZXW6"},
                                           {"foob", "MZXW6YQ"},
                                           {"fooba", "MZXW6YTB"},
                                           {"foobar", "MZXW6YTBOI"}};
    char text[TOTP_SECRET_TEXT_SIZE];
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        totp_secret_text((const unsigned char *)CASES[i][0], strlen(CASES[i][0]), text);
        check_text(text, CASES[i][1], "base32 of \"%s\"", CASES[i][0]);
    }
    totp_secret_text(SECRET, SIZE, text);
    check_text(text, "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", "a whole secret");
}

static void test_password_rules(void)
{
    struct password_rules rules;
    struct error err = {0};
    check_int(password_rules_parse(NULL, &rules, &err), 0, "none given");
    check_int(rules.length * 100 + rules.last, 803, "the default");
    check_int(password_rules_parse(PASSWORD_RULES_DEFAULT, &rules, &err), 0, "the same in words");
    check_int(rules.length * 100 + rules.last, 803, "is the same");
    check_int(password_rules_parse("last=0,length=64", &rules, &err), 0, "in any order");
    check_int(rules.length * 100 + rules.last, 6400, "the bounds");
    check_true(password_is_common("Dragon-99") && password_is_common("12345678") && password_is_common("p455w0rd"),
               "common ones");
    check_true(!password_is_common("dragonfly wings") && !password_is_common("correct horse"), "others");
}

int main(void)
{
    test_vectors();
    test_window();
    test_base32();
    test_password_rules();
    return check_finish();
}
