#include "base/uuid.h"

#include <sodium.h>
#include <string.h>

void uuid_create(char out[UUID_SIZE])
{
    static const char HEX[] = "0123456789abcdef";
    unsigned char bytes[16];
    randombytes_buf(bytes, sizeof(bytes));
    bytes[6] = (unsigned char)((bytes[6] & 0x0F) | 0x40);
    bytes[8] = (unsigned char)((bytes[8] & 0x3F) | 0x80);
    size_t at = 0;
    for (size_t i = 0; i < sizeof(bytes); i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            out[at++] = '-';
        out[at++] = HEX[bytes[i] >> 4];
        out[at++] = HEX[bytes[i] & 15];
    }
    out[at] = '\0';
}

bool uuid_is_valid(const char *text)
{
    if (strlen(text) != UUID_SIZE - 1)
        return false;
    for (size_t i = 0; i < UUID_SIZE - 1; i++) {
        if (i == 8 || i == 13 || i == 18 || i == 23) {
            if (text[i] != '-')
                return false;
        } else if (!strchr("0123456789abcdefABCDEF", text[i])) {
            return false;
        }
    }
    return true;
}
