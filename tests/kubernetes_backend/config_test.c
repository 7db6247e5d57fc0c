// Kubeconfigs: what is read, merged, and refused in which words; plugins that print credentials; token files that
// change.
#include "backends/kubernetes/config/kube_config.h"
#include "backends/kubernetes/config/kube_credentials.h"
#include "backends/kubernetes/config/kube_exec.h"
#include "base/error.h"
#include "base/timestamp.h"
#include "tests/support/check.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// "-----BEGIN X-----\n"
#define PEM "LS0tLS1CRUdJTiBYLS0tLS0K"
#define HEAD "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u, namespace: team}}]\n"
#define CLUSTER "clusters: [{name: k, cluster: {server: 'https://api:6443/x/'}}]\n"
#define USER(text) HEAD CLUSTER "users: [{name: u, user: {" text "}}]\n"
#define PLACE(text) HEAD "clusters: [{name: k, cluster: {" text "}}]\nusers: [{name: u, user: {}}]\n"

struct config_case {
    const char *text, *want; // a message, or token|token_file|ca|certificate|key|command|name|proxy
};

static const struct config_case CASES[] = {
    {USER("token: abc"), "abc||||||||"},
    {USER("token: 12345"), "12345||||||||"},
    {USER("token: abc, tokenFile: t"), "|/etc/k/t|||||||"},
    {USER("tokenFile: /a/b"), "|/a/b|||||||"},
    {USER("client-certificate: c.pem, client-key: /k.pem"), "|||/etc/k/c.pem|/k.pem||||"},
    {USER("client-certificate-data: " PEM ", client-certificate: no, client-key-data: " PEM),
     "|||-----BEGIN X-----\n|-----BEGIN X-----\n||||"},
    {USER("exec: {apiVersion: client.authentication.k8s.io/v1, command: bin/get, args: [a, 7]}"),
     "|||||/etc/k/bin/get|||"},
    {USER("exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: get}"), "|||||get|||"},
    {USER("token: a, exec: {command: get}"), "a||||||||"},
    {PLACE("server: 'https://h', certificate-authority: ca, tls-server-name: n, proxy-url: 'http://p:1'"),
     "||/etc/k/ca||||n|http://p:1|"},
    {PLACE("server: 'https://h', certificate-authority-data: " PEM), "||-----BEGIN X-----\n||||||"},
    {PLACE("server: 'http://127.0.0.1:80'"), "||||||||"},
    {PLACE("server: 'http://[::1]:80/'"), "||||||||"},
    {USER("auth-provider: {name: gcp}"), "/etc/k/config: user \"u\": auth-provider: gcp"},
    {USER("username: a, password: b"),
     "/etc/k/config: user \"u\": username: not taken: use a token, a client certificate or an exec plugin"},
    {USER("as: root"), "/etc/k/config: user \"u\": as: not taken: use a token, a client certificate or an exec plugin"},
    {USER("token: \"a b\""), "/etc/k/config: user \"u\": token: has a character that no token has"},
    {USER("token: \"a\\r\\nX: y\""), "/etc/k/config: user \"u\": token: has a character that no token has"},
    {USER("client-key: k"), "/etc/k/config: user \"u\": client-certificate: missing beside the other"},
    {USER("client-certificate-data: '%', client-key: k"),
     "/etc/k/config: user \"u\": client-certificate-data: not base64"},
    {USER("client-certificate-data: aGVsbG8=, client-key: k"),
     "/etc/k/config: user \"u\": client-certificate-data: not PEM in base64"},
    {USER("exec: {apiVersion: client.authentication.k8s.io/v1}"), "/etc/k/config: user \"u\": exec.command: missing"},
    {USER("exec: {apiVersion: v2, command: x}"),
     "/etc/k/config: user \"u\": exec.apiVersion: client.authentication.k8s.io/v1 or v1beta1"},
    {USER("exec: {apiVersion: client.authentication.k8s.io/v1, command: x, interactiveMode: Always}"),
     "/etc/k/config: user \"u\": exec.interactiveMode: Always: nobody is there who could answer"},
    {PLACE("server: 'https://h', insecure-skip-tls-verify: true"),
     "/etc/k/config: cluster \"k\": insecure-skip-tls-verify: not taken: the server's certificate is always checked"},
    {PLACE("server: 'http://example.org'"),
     "/etc/k/config: cluster \"k\": server: http is for this machine alone; use https"},
    {PLACE("server: 'http://localhost.example.org'"),
     "/etc/k/config: cluster \"k\": server: http is for this machine alone; use https"},
    {PLACE("server: 'https://a@b'"), "/etc/k/config: cluster \"k\": server: has a character that no address has"},
    {PLACE("server: 'https://h?x'"), "/etc/k/config: cluster \"k\": server: has a character that no address has"},
    {PLACE("server: 'ftp://h'"), "/etc/k/config: cluster \"k\": server: not an address like https://HOST:PORT"},
    {PLACE("server: 'https://'"), "/etc/k/config: cluster \"k\": server: not an address like https://HOST:PORT"},
    {PLACE("x: y"), "/etc/k/config: cluster \"k\": server: missing"},
    {PLACE("server: 'https://h', tls-server-name: 'a:b'"),
     "/etc/k/config: cluster \"k\": tls-server-name: not a host's name"},
    {HEAD, "/etc/k/config: no cluster is named \"k\""},
    {HEAD CLUSTER, "/etc/k/config: no user is named \"u\""},
    {"{}", "/etc/k/config: no current-context"},
    {"", "/etc/k/config: no current-context"},
    {"[]", "/etc/k/config: no current-context"},
    {"current-context: z", "/etc/k/config: no context is named \"z\""},
    {"a: [", "/etc/k/config:2: did not find expected node content"},
};

static void describe(const struct kube_config *config, char *out, size_t size)
{
    snprintf(out, size, "%s|%s|%s%s|%s%s|%s%s|%s|%s|%s|", config->token, config->token_file, config->ca_pem,
             config->ca_file, config->certificate_pem, config->certificate_file, config->key_pem, config->key_file,
             config->has_exec ? config->exec.command : "", config->tls_server_name, config->proxy_url);
}

static void check_texts(void)
{
    static const char *const NAME[] = {"/etc/k/config"};
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct kube_config *config = NULL;
        struct error err = {0};
        char got[512];
        if (kube_config_read_texts(&CASES[i].text, NAME, 1, NULL, &config, &err) == 0)
            describe(config, got, sizeof(got));
        else
            snprintf(got, sizeof(got), "%s", err.message);
        check_text(got, CASES[i].want, "%s", CASES[i].text);
        kube_config_destroy(config);
    }
}

static void check_merge(void)
{
    static const char *const TEXTS[] = {
        "contexts: [{name: c, context: {cluster: k, user: u}}]\nusers: [{name: u, user: {tokenFile: t}}]\n",
        "current-context: c\nusers: [{name: u, user: {token: second}}]\n"
        "clusters: [{name: k, cluster: {server: 'https://h:1/', certificate-authority: ca}}]\n"
        "contexts: [{name: d, context: {cluster: k, user: '', namespace: n}}]\n"};
    static const char *const NAMES[] = {"/one/config", "/two/config"};
    struct kube_config *config = NULL;
    check_int(kube_config_read_texts(TEXTS, NAMES, 2, NULL, &config, NULL), 0, "two files");
    check_text(config->token_file, "/one/t", "the first file's user");
    check_text(config->ca_file, "/two/ca", "the second file's cluster");
    check_text(config->server, "https://h:1", "no slash at the end");
    check_text(config->namespace, "default", "no namespace is named");
    kube_config_destroy(config);
    check_int(kube_config_read_texts(TEXTS, NAMES, 2, "d", &config, NULL), 0, "another context");
    check_text(config->namespace, "n", "its namespace");
    check_text(config->token, "", "nobody in it");
    kube_config_destroy(config);
}

static char folder[] = "/tmp/kube-config-test-XXXXXX";

static void write_file(const char *name, const char *text, mode_t mode)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    check_true(file && fputs(text, file) >= 0 && fclose(file) == 0, "%s", path);
    chmod(path, mode);
}

static void check_places(void)
{
    struct kube_config *config = NULL;
    struct error err = {0};
    char list[512];
    unsetenv("KUBERNETES_SERVICE_HOST");
    check_int(kube_config_read_in_cluster(folder, &config, &err), -1, "no cluster");
    check_int(err.code, ERROR_NOT_FOUND, "is said so");
    setenv("KUBERNETES_SERVICE_HOST", "fd00::1", 1);
    setenv("KUBERNETES_SERVICE_PORT", "443", 1);
    check_int(kube_config_read_in_cluster(folder, &config, &err), -1, "no token");
    write_file("token", "t\n", 0600);
    write_file("namespace", "prorata\n", 0600);
    check_int(kube_config_read_in_cluster(folder, &config, &err), 0, "in a cluster");
    check_text(config->server, "https://[fd00::1]:443", "its address");
    check_text(config->namespace, "prorata", "its namespace");
    kube_config_destroy(config);
    unsetenv("KUBERNETES_SERVICE_HOST");

    struct kube_config_source source = {0};
    write_file("config", USER("token: mine"), 0600);
    snprintf(list, sizeof(list), "%s/none::%s/config", folder, folder);
    setenv("KUBECONFIG", list, 1);
    check_int(kube_config_load(&source, &config, &err), 0, "by KUBECONFIG: %s", err.message);
    check_text(config->token, "mine", "its token");
    kube_config_destroy(config);
    snprintf(list, sizeof(list), "%s/none", folder);
    setenv("KUBECONFIG", list, 1);
    check_int(kube_config_load(&source, &config, &err), -1, "no file");
    check_int(err.code, ERROR_NOT_FOUND, "no file is there");
    unsetenv("KUBECONFIG");
    setenv("HOME", folder, 1);
    check_int(kube_config_load(&source, &config, &err), -1, "no file at home");
    source.kubeconfig = list;
    check_int(kube_config_load(&source, &config, &err), -1, "no such file");
}

struct output_case {
    const char *text, *want; // token|has certificate|expires, or the message
};

#define V1 "client.authentication.k8s.io/v1"
#define CREDENTIAL(status) "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\",\"status\":{" status "}}"

static const struct output_case OUTPUTS[] = {
    {CREDENTIAL("\"token\":\"a\""), "a|0|0"},
    {CREDENTIAL("\"token\":\"a\",\"expirationTimestamp\":\"1970-01-01T00:00:05Z\""), "a|0|5000"},
    {CREDENTIAL("\"clientCertificateData\":\"c\",\"clientKeyData\":\"k\""), "|1|0"},
    {CREDENTIAL("\"clientCertificateData\":\"c\""), "printed neither a token nor a certificate with its key"},
    {CREDENTIAL("\"token\":\"a\",\"clientKeyData\":\"k\""), "printed neither a token nor a certificate with its key"},
    {CREDENTIAL(""), "printed neither a token nor a certificate with its key"},
    {CREDENTIAL("\"token\":7"), "printed neither a token nor a certificate with its key"},
    {CREDENTIAL("\"token\":\"a\",\"expirationTimestamp\":\"soon\""), "expirationTimestamp: not a time"},
    {"{\"kind\":\"ExecCredential\",\"apiVersion\":\"x\"}", "printed no ExecCredential of " V1},
    {"[]", "printed no ExecCredential of " V1},
    {"rubbish", "printed no JSON: line 1 column 7: invalid token near 'rubbish'"},
};

static void check_outputs(void)
{
    for (size_t i = 0; i < COUNT(OUTPUTS); i++) {
        struct kube_exec_credential made = {0};
        struct error err = {0};
        char got[300];
        if (kube_exec_read(OUTPUTS[i].text, strlen(OUTPUTS[i].text), V1, &made, &err) == 0)
            snprintf(got, sizeof(got), "%s|%d|%" PRId64, made.token ? made.token : "", made.key_pem != NULL,
                     made.expires_ms);
        else
            snprintf(got, sizeof(got), "%s", err.message);
        check_text(got, OUTPUTS[i].want, "%s", OUTPUTS[i].text);
        free(made.token);
        free(made.certificate_pem);
        free(made.key_pem);
    }
}

struct plugin_case {
    const char *what, *script, *want; // the token, or the error after the plugin's path
};

static const struct plugin_case PLUGINS[] = {
    {"a token", "echo '" CREDENTIAL("\"token\":\"abc\"") "'", "abc"},
    {"words and environment",
     "echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\",\"status\":{\"token\":\"'$1-$COLOUR'\"}}'",
     "one-red"},
    {"what it is told",
     "case $KUBERNETES_EXEC_INFO in *'\"interactive\":false'*) echo '" CREDENTIAL("\"token\":\"told\"") "';; esac",
     "told"},
    {"no input", "read line && exit 3; echo '" CREDENTIAL("\"token\":\"none\"") "'", "none"},
    {"it leaves something running", "sleep 1000 & echo '" CREDENTIAL("\"token\":\"left\"") "'", "left"},
    {"it fails", "echo 'no session' >&2; exit 4", ": ended with status 4: no session"},
    {"it dies", "kill -9 $$", ": ended with signal 9"},
    {"rubbish", "echo hello", ": printed no JSON: line 1 column 5: invalid token near 'hello'"},
    {"too much", "yes x", ": printed more than 1 MiB"},
};

static struct kube_config *plugin_config(void)
{
    char text[1024];
    const char *texts[] = {text}, *names[1];
    char name[256];
    struct kube_config *config = NULL;
    struct error err = {0};
    snprintf(name, sizeof(name), "%s/config", folder);
    names[0] = name;
    snprintf(text, sizeof(text),
             USER("exec: {apiVersion: " V1 ", command: ./plugin, args: [one], env: [{name: COLOUR, value: red}], "
                  "installHint: get it}"));
    check_int(kube_config_read_texts(texts, names, 1, NULL, &config, &err), 0, "%s", err.message);
    return config;
}

static void check_plugins(void)
{
    struct kube_config *config = plugin_config();
    struct kube_exec_credential made;
    struct error err = {0};
    check_int(kube_exec_run(config, NULL, &made, &err), -1, "no plugin");
    check_text(err.details, "get it", "its hint");
    setenv("COLOUR", "blue", 1);
    for (size_t i = 0; i < COUNT(PLUGINS); i++) {
        char script[1024], got[400];
        snprintf(script, sizeof(script), "#!/bin/sh\n%s\n", PLUGINS[i].script);
        write_file("plugin", script, 0700);
        if (kube_exec_run(config, NULL, &made, &err) == 0) {
            snprintf(got, sizeof(got), "%s", made.token);
            free(made.token);
        } else {
            snprintf(got, sizeof(got), "%s", strstr(err.message, "plugin: ") + strlen("plugin"));
        }
        check_text(got, PLUGINS[i].want, "plugin: %s", PLUGINS[i].what);
    }
    atomic_bool stopping = true;
    write_file("plugin", "#!/bin/sh\nsleep 1000\n", 0700);
    check_int(kube_exec_run(config, &stopping, &made, &err), -1, "a plugin that hangs ends with the server");
    check_true(strstr(err.message, "stopped with the server") != NULL, "%s", err.message);
    kube_config_destroy(config);
}

static void check_renewal(void)
{
    static const char *const NAMES[] = {"/k"};
    char text[512];
    const char *texts[] = {text};
    struct kube_config *config = NULL;
    struct kube_credential credential;
    struct error err = {0};
    write_file("rotated", "first\n", 0600);
    snprintf(text, sizeof(text), USER("tokenFile: %s/rotated"), folder);
    check_int(kube_config_read_texts(texts, NAMES, 1, NULL, &config, &err), 0, "%s", err.message);
    struct kube_credentials *credentials = kube_credentials_create(config);
    check_int(kube_credentials_get(credentials, NULL, &credential, &err), 0, "%s", err.message);
    check_text(credential.token, "first", "the token without its line's end");
    int64_t generation = credential.generation;
    kube_credential_release(&credential);

    write_file("rotated", "second", 0600);
    kube_credentials_get(credentials, NULL, &credential, &err);
    check_text(credential.token, "first", "not read again within a minute");
    kube_credential_release(&credential);
    kube_credentials_refuse(credentials, generation - 1);
    kube_credentials_get(credentials, NULL, &credential, &err);
    check_text(credential.token, "first", "an older one's refusal says nothing");
    kube_credential_release(&credential);
    kube_credentials_refuse(credentials, generation);
    kube_credentials_get(credentials, NULL, &credential, &err);
    check_text(credential.token, "second", "read again after a refusal");
    check_int(credential.generation, generation + 1, "which is another generation");
    kube_credential_release(&credential);

    write_file("rotated", "third", 0600);
    kube_credentials_refuse(credentials, generation + 1);
    kube_credentials_get(credentials, NULL, &credential, &err);
    check_text(credential.token, "second", "refusals at once after each other are one");
    kube_credential_release(&credential);
    kube_credentials_destroy(credentials);

    credentials = kube_credentials_create(config);
    write_file("rotated", "a\nb", 0600);
    check_int(kube_credentials_get(credentials, NULL, &credential, &err), -1, "a token of two lines");
    check_int(kube_credentials_get(credentials, NULL, &credential, &err), -1, "and again");
    check_text(err.message, "the token has a character that no token has", "why");
    kube_credentials_destroy(credentials);
    kube_config_destroy(config);
}

int main(void)
{
    char command[300];
    if (!mkdtemp(folder))
        return 1;
    check_texts();
    check_merge();
    check_places();
    check_outputs();
    check_plugins();
    check_renewal();
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    check_int(system(command), 0, "%s", command);
    return check_finish();
}
