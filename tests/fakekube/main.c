// fakekube: a stand-in for the Kubernetes API server, for tests. README.md says what it does.
#include "base/timestamp.h"
#include "tests/fakekube/bulk.h"
#include "tests/fakekube/kubelet.h"
#include "tests/fakekube/server.h"
#include <civetweb.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

struct options {
    const char *kubeconfig, *version;
    int port;
    int64_t nodes, gpus, pods, pod_bytes;
    bool has_no_kubelet, ends_with_input;
};

static int write_kubeconfig(const struct options *options, int port)
{
    if (!options->kubeconfig)
        return 0;
    FILE *file = fopen(options->kubeconfig, "w");
    if (!file)
        return -1;
    fprintf(file,
            "apiVersion: v1\nkind: Config\ncurrent-context: fakekube\ncontexts:\n"
            "- {name: fakekube, context: {cluster: fakekube, user: admin}}\n"
            "clusters:\n- {name: fakekube, cluster: {server: \"http://127.0.0.1:%d\"}}\n"
            "users:\n- {name: admin, user: {token: fakekube}}\n",
            port);
    return fclose(file);
}

static bool read_options(int argc, char **argv, struct options *out)
{
    static const struct option KNOWN[] = {
        {"kubeconfig", required_argument, NULL, 'k'},   {"port", required_argument, NULL, 'p'},
        {"version", required_argument, NULL, 'v'},      {"nodes", required_argument, NULL, 'n'},
        {"gpus", required_argument, NULL, 'g'},         {"pods", required_argument, NULL, 'm'},
        {"pod-bytes", required_argument, NULL, 'b'},    {"no-kubelet", no_argument, NULL, 'x'},
        {"until-stdin-closes", no_argument, NULL, 'u'}, {NULL, 0, NULL, 0}};
    *out = (struct options){.version = "1.37.1", .gpus = 8};
    int option;
    while ((option = getopt_long(argc, argv, "", KNOWN, NULL)) != -1) {
        switch (option) {
        case 'k':
            out->kubeconfig = optarg;
            break;
        case 'p':
            out->port = atoi(optarg);
            break;
        case 'v':
            out->version = optarg;
            break;
        case 'n':
            out->nodes = atoll(optarg);
            break;
        case 'g':
            out->gpus = atoll(optarg);
            break;
        case 'm':
            out->pods = atoll(optarg);
            break;
        case 'b':
            out->pod_bytes = atoll(optarg);
            break;
        case 'x':
            out->has_no_kubelet = true;
            break;
        case 'u':
            out->ends_with_input = true;
            break;
        default:
            return false;
        }
    }
    return optind == argc;
}

// Until a signal comes or, if so asked, standard input closes.
static void wait_for_end(int signals, bool ends_with_input)
{
    char byte[64];
    struct pollfd waits[] = {{.fd = signals, .events = POLLIN}, {.fd = ends_with_input ? 0 : -1, .events = POLLIN}};
    for (;;) {
        if (poll(waits, 2, -1) < 0)
            continue;
        if (waits[0].revents || (waits[1].revents && read(0, byte, sizeof(byte)) <= 0))
            return;
    }
}

static void prepare(struct kube *kube, const struct options *options)
{
    store_init(&kube->store);
    kube->faults = json_array();
    kube->settings = json_object();
    kube->requests = json_array();
    kube->refused = json_array();
    kube_set_version(kube, options->version);
    bulk_add_namespaces(kube);
    bulk_fill(kube, options->nodes, options->gpus, options->pods, options->pod_bytes);
    if (!options->has_no_kubelet)
        kube->kubelet = kubelet_create(kube);
}

static void end(struct kube *kube, struct mg_context *context)
{
    store_lock(&kube->store);
    kube->stops = true;
    pthread_cond_broadcast(&kube->store.changed);
    store_unlock(&kube->store);
    if (context)
        mg_stop(context);
    kubelet_destroy(kube->kubelet);
    store_done(&kube->store);
    json_decref(kube->faults);
    json_decref(kube->settings);
    json_decref(kube->requests);
    json_decref(kube->refused);
}

int main(int argc, char **argv)
{
    struct options options;
    struct kube kube = {0};
    int port = 0;
    sigset_t signals;
    if (!read_options(argc, argv, &options) || sodium_init() < 0) {
        fprintf(stderr, "fakekube [--kubeconfig FILE] [--port P] [--version 1.37.1] [--nodes N] [--gpus N] "
                        "[--pods N] [--pod-bytes N] [--no-kubelet] [--until-stdin-closes]\n");
        return 2;
    }
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    signal(SIGPIPE, SIG_IGN);
    prepare(&kube, &options);
    struct mg_context *context = server_start(&kube, options.port, &port);
    int rc = 1;
    if (!context || write_kubeconfig(&options, port) < 0) {
        fprintf(stderr, "fakekube: cannot listen on port %d, or write %s\n", options.port,
                options.kubeconfig ? options.kubeconfig : "nothing");
    } else {
        printf("http://127.0.0.1:%d\n", port);
        fflush(stdout);
        int descriptor = signalfd(-1, &signals, SFD_CLOEXEC);
        wait_for_end(descriptor, options.ends_with_input);
        close(descriptor);
        rc = 0;
    }
    end(&kube, context);
    return rc;
}
