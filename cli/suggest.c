#include "cli/suggest.h"

#include <stdint.h>
#include <string.h>

static size_t least(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

size_t suggest_distance(const char *one, const char *other)
{
    size_t length = strlen(one), width = strlen(other);
    size_t rows[3][SUGGEST_LENGTH_MAX + 1];
    if (length > SUGGEST_LENGTH_MAX || width > SUGGEST_LENGTH_MAX)
        return SIZE_MAX;
    for (size_t j = 0; j <= width; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= length; i++) {
        size_t *row = rows[i % 3], *before = rows[(i - 1) % 3], *earlier = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            row[j] = least(before[j] + 1, row[j - 1] + 1, before[j - 1] + (one[i - 1] != other[j - 1]));
            if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1] &&
                earlier[j - 2] + 1 < row[j])
                row[j] = earlier[j - 2] + 1;
        }
    }
    return rows[length % 3][width];
}

int suggest_is_near(const char *word, size_t distance)
{
    size_t length = strlen(word);
    return distance <= (length < 4 ? 1 : length / 3);
}
