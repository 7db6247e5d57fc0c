// Takes out of an object's text what nobody here reads and what is most of it: managedFields, images of a node.
#pragma once
#include <stddef.h>

// Empties every array that is the value of this key ("managedFields"), in place; returns the new length. Only the
// compact form that servers write is found; all else stays as it is. The text need not be valid, and ends in '\0'.
size_t kube_trim_array(char *text, size_t length, const char *key);
