// Which command: hands over to daemon/, simulation/ or cli/.
#include <stdio.h>

int main(int argc, char **argv)
{
    (void)argv;
    printf("prorata %s\n", PRORATA_VERSION);
    return argc > 0 ? 0 : 1;
}
