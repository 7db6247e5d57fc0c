// The browser of the desktop that this terminal belongs to.
#pragma once
#include <stdbool.h>

struct profile;

// Whether there is a desktop, and a program that opens addresses on it.
bool browser_is_here(void);
// Opens the address in the background; where that fails, nothing happens.
void browser_open(const char *url);
// The same for an address that is a secret: it stands in a file of the profile's folder, which only the caller reads,
// and the browser is led there. Other users of the machine see what programs are called with. False: no such file, or
// no address of the web.
bool browser_open_secret(const struct profile *profile, const char *url);
