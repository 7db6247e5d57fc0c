// Where the API server is and who we are there: from the pod we run in, or from kubeconfig files.
#pragma once
#include "base/arena.h"

#include <stdbool.h>

struct error;

#define KUBE_SERVICE_ACCOUNT_FOLDER "/var/run/secrets/kubernetes.io/serviceaccount"

// A program that prints credentials.
struct kube_exec {
    const char *command;            // with a slash: a path, absolute
    const char *const *words;       // arguments; ends with NULL
    const char *const *environment; // NAME=VALUE, to be added; ends with NULL
    const char *api_version;        // client.authentication.k8s.io/v1 or v1beta1
    bool provides_cluster_info;
    const char *install_hint; // may be ""
};

// Texts are its arena's. "" where there is none. *_pem is the text itself, *_file where to read it; never both.
struct kube_config {
    struct arena arena;
    const char *origin;           // for people: the file, or "the pod's service account"
    const char *context;          // of a kubeconfig
    const char *server;           // https://HOST[:PORT][/PATH], no slash at the end; http only on this machine
    const char *namespace;        // "default" where nothing says otherwise
    const char *ca_pem, *ca_file; // neither: the system's
    const char *tls_server_name;  // the name its certificate must carry, where the URL's is another
    const char *proxy_url;
    bool is_in_cluster;
    const char *token, *token_file; // the file wins
    const char *certificate_pem, *certificate_file, *key_pem, *key_file;
    bool has_exec;
    struct kube_exec exec;
};

struct kube_config_source {
    const char *kubeconfig; // a file; NULL: $KUBECONFIG, else the pod's own account, else ~/.kube/config
    const char *context;    // NULL: the file's current one
};

// The caller destroys *out_config. ERROR_INVALID names the file and the key.
int kube_config_load(const struct kube_config_source *source, struct kube_config **out_config, struct error *err);
// From kubeconfig texts, the first value of each name wins. names are the files' paths: what they name lies beside
// them.
int kube_config_read_texts(const char *const *texts, const char *const *names, size_t count, const char *context,
                           struct kube_config **out_config, struct error *err);
// From the environment and a service account's folder. ERROR_NOT_FOUND: we are in no cluster.
int kube_config_read_in_cluster(const char *folder, struct kube_config **out_config, struct error *err);
// With all texts empty, for a reader to fill.
struct kube_config *kube_config_create(void);
void kube_config_destroy(struct kube_config *config); // NULL is fine
