"""What a server hands to a supervisor, for tests that start one by themselves (supervisor/handover.h)."""

import fcntl
import os

HANDOVER_FD = 6
F_ADD_SEALS, SEALS = 1033, 1 | 2 | 4 | 8  # fcntl has the names since Python 3.12 only


def handover(words, variables=None, folder="/", **more):
    """A descriptor; `more` are texts by their letter."""
    texts = [f"e{name}={value}" for name, value in (variables or {}).items()]
    texts += [f"c{word}" for word in words] + [f"f{folder}"]
    texts += [letter + text for letter, of_it in more.items() for text in of_it]
    return sealed("".join(text + "\0" for text in ["prorata 1", *texts, "."]).encode())


def sealed(content, seals=SEALS):
    fd = os.memfd_create("handover", os.MFD_ALLOW_SEALING)
    os.write(fd, content)
    if seals:
        fcntl.fcntl(fd, F_ADD_SEALS, seals)
    return fd
