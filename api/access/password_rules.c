#include "api/access/password_rules.h"

#include "api/access/passwords.h"
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    LENGTH_MAX = 64,
    NAME_PART_MIN = 4
};

// Lower-case stems: what people begin with, and most guesses too. Digits and signs around a stem make no other password
// of it.
static const char *const COMMON[] = {
    "abcabc",
    "abcdef",
    "abcdefg",
    "abcdefgh",
    "access",
    "admin",
    "administrator",
    "adminadmin",
    "amanda",
    "andrea",
    "andrew",
    "angel",
    "anthony",
    "arsenal",
    "asdasd",
    "asdf",
    "asdfasdf",
    "asdfgh",
    "asdfghj",
    "asdfghjk",
    "asdfghjkl",
    "ashley",
    "austin",
    "azerty",
    "babygirl",
    "bailey",
    "banana",
    "barcelona",
    "baseball",
    "basketball",
    "batman",
    "butterfly",
    "changeit",
    "changeme",
    "charlie",
    "cheese",
    "chelsea",
    "chocolate",
    "chris",
    "cluster",
    "computer",
    "cookie",
    "daniel",
    "default",
    "dragon",
    "family",
    "flower",
    "football",
    "forever",
    "freedom",
    "friends",
    "fuckyou",
    "george",
    "ginger",
    "google",
    "guest",
    "guestguest",
    "hallo",
    "hannah",
    "harley",
    "hello",
    "helloworld",
    "hockey",
    "hunter",
    "iloveyou",
    "iloveu",
    "internet",
    "jennifer",
    "jessica",
    "jordan",
    "joshua",
    "justin",
    "killer",
    "kubernetes",
    "letmein",
    "letmeinplease",
    "liverpool",
    "login",
    "london",
    "love",
    "loveme",
    "lovely",
    "maggie",
    "master",
    "matrix",
    "matthew",
    "michael",
    "michelle",
    "monkey",
    "mustang",
    "mypassword",
    "naruto",
    "newpassword",
    "nicole",
    "ninja",
    "nothing",
    "nvidia",
    "oracle",
    "pass",
    "passpass",
    "password",
    "passwort",
    "passwordpassword",
    "pepper",
    "pokemon",
    "princess",
    "prorata",
    "purple",
    "qazwsx",
    "qazwsxedc",
    "qwert",
    "qwerty",
    "qwertyu",
    "qwertyui",
    "qwertyuiop",
    "qwertz",
    "qwertzuiop",
    "qweasd",
    "qweasdzxc",
    "qweqwe",
    "ranger",
    "robert",
    "root",
    "rootroot",
    "runai",
    "secret",
    "secretsecret",
    "server",
    "shadow",
    "snoopy",
    "soccer",
    "spiderman",
    "starwars",
    "summer",
    "sunshine",
    "superman",
    "system",
    "temp",
    "temporary",
    "test",
    "tester",
    "testing",
    "testtest",
    "thomas",
    "tigger",
    "toor",
    "trustno",
    "unknown",
    "user",
    "username",
    "welcome",
    "whatever",
    "william",
    "winter",
    "winner",
    "yankees",
    "zaqwsx",
    "zxcasd",
    "zxcvbn",
    "zxcvbnm",
    "qaz",
    "qwe",
    "abc",
    "abcd",
    "asd",
    "zxc",
};

static int read_part(const char *text, struct password_rules *rules, struct error *err)
{
    static const char LENGTH[] = "length=", LAST[] = "last=";
    bool is_length = strncmp(text, LENGTH, sizeof(LENGTH) - 1) == 0;
    bool is_last = strncmp(text, LAST, sizeof(LAST) - 1) == 0;
    const char *digits = strchr(text, '=');
    char *end = NULL;
    long value = digits ? strtol(digits + 1, &end, 10) : 0;
    int least = is_length ? PASSWORD_MIN : 0, most = is_length ? LENGTH_MAX : PASSWORD_LAST_MAX;
    if ((!is_length && !is_last) || end == digits + 1 || (*end && *end != ',') || value < least || value > most)
        return error_set(err, ERROR_INVALID, "password-rules: expected length=%d..%d,last=0..%d, got \"%.60s\"",
                         PASSWORD_MIN, LENGTH_MAX, PASSWORD_LAST_MAX, text);
    *(is_length ? &rules->length : &rules->last) = (int)value;
    return 0;
}

int password_rules_parse(const char *text, struct password_rules *out_rules, struct error *err)
{
    *out_rules = (struct password_rules){.length = PASSWORD_MIN, .last = 3};
    for (const char *part = text; part && *part;) {
        if (read_part(part, out_rules, err) < 0)
            return -1;
        part = strchr(part, ',');
        part += part ? 1 : 0;
    }
    return 0;
}

static bool is_letter(char c)
{
    return c >= 'a' && c <= 'z';
}

// Lower case, signs as the letters that they stand for.
static char plain_letter(char c)
{
    static const char SIGNS[] = "@4$5013!7", LETTERS[] = "aassoleit";
    if (c >= 'A' && c <= 'Z')
        return (char)(c + 32);
    const char *found = c ? strchr(SIGNS, c) : NULL;
    return found ? LETTERS[found - SIGNS] : c;
}

static bool is_stem(const char *text, size_t length)
{
    for (size_t i = 0; i < sizeof(COMMON) / sizeof(COMMON[0]); i++)
        if (strlen(COMMON[i]) == length && strncasecmp(COMMON[i], text, length) == 0)
            return true;
    return false;
}

// What is between the digits and signs around it.
static bool has_common_stem(const char *password)
{
    char plain[PASSWORD_MAX + 1];
    size_t first = 0, length = strlen(password);
    while (password[first] && !is_letter((char)(password[first] | 32)))
        first++;
    while (length > first && !is_letter((char)(password[length - 1] | 32)))
        length--;
    for (size_t i = first; i < length; i++)
        plain[i - first] = plain_letter(password[i]);
    return length > first && is_stem(plain, length - first);
}

// The same with signs for letters at the ends too: "p455w0rd", "@dmin".
static bool is_disguised_stem(const char *password)
{
    char plain[PASSWORD_MAX + 1];
    size_t length = strlen(password);
    for (size_t i = 0; i < length; i++)
        plain[i] = plain_letter(password[i]);
    return is_stem(plain, length);
}

// "aaaaaaaa", "12345678", "87654321", "abababab".
static bool is_run(const char *password)
{
    size_t length = strlen(password);
    bool rises = true, falls = true, repeats = true;
    for (size_t i = 1; i < length; i++) {
        int step = password[i] - password[i - 1];
        rises = rises && (step == 1 || (password[i - 1] == '9' && password[i] == '0'));
        falls = falls && (step == -1 || (password[i - 1] == '0' && password[i] == '9'));
        repeats = repeats && (i < 2 || password[i] == password[i - 2]);
    }
    return rises || falls || repeats;
}

bool password_is_common(const char *password)
{
    return strlen(password) <= PASSWORD_MAX &&
           (is_run(password) || has_common_stem(password) || is_disguised_stem(password));
}

// The e-mail, or what stands before its @ and little more.
static bool is_name(const char *password, const char *name)
{
    size_t length = strcspn(name, "@"), size = strlen(password);
    if (!strcasecmp(password, name))
        return true;
    if (length < NAME_PART_MIN || size < length || size - length >= PASSWORD_MIN)
        return false;
    for (size_t i = 0; i + length <= size; i++)
        if (strncasecmp(password + i, name, length) == 0)
            return true;
    return false;
}

int password_rules_check(const struct password_rules *rules, const char *field, const char *password, const char *name,
                         struct error *err)
{
    if (password_check_length(field, password, rules->length, err) < 0)
        return -1;
    if (is_name(password, name))
        return error_set(err, ERROR_INVALID, "%s: it is the account's name and little more; choose another", field);
    if (password_is_common(password))
        return error_set(err, ERROR_INVALID, "%s: one of the passwords that are tried first; choose another", field);
    return 0;
}
