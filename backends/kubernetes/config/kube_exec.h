// Credential plugins: a program that prints an ExecCredential. Runs in a process group of its own, with no input, for
// 30 s at most, and may print 1 MiB.
#pragma once
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct kube_config;

// Heap texts, NULL where there is none.
struct kube_exec_credential {
    char *token;
    char *certificate_pem, *key_pem;
    int64_t expires_ms; // wall clock; 0: never
};

// Runs config's plugin. Ends early when *stopping becomes true (NULL: never).
int kube_exec_run(const struct kube_config *config, const atomic_bool *stopping, struct kube_exec_credential *out,
                  struct error *err);
// What a plugin printed. version is the apiVersion that it was asked for.
int kube_exec_read(const char *text, size_t length, const char *version, struct kube_exec_credential *out,
                   struct error *err);
