// Kubeconfigs and what credential plugins print: any bytes. A NUL parts two files that are merged.
#include "backends/kubernetes/config/kube_config.h"
#include "backends/kubernetes/config/kube_exec.h"
#include "base/error.h"
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const NAMES[] = {"/a/config", "/b/config"};
    char *text = memory_alloc(size + 2);
    memcpy(text, data, size);
    text[size] = text[size + 1] = '\0';
    size_t first = strlen(text);
    const char *texts[] = {text, first < size ? text + first + 1 : ""};
    struct kube_config *config = NULL;
    struct error err = {0};
    if (kube_config_read_texts(texts, NAMES, 2, NULL, &config, &err) == 0) {
        assert(strncmp(config->server, "http", 4) == 0);
        assert(!*config->token || !strpbrk(config->token, " \r\n"));
        assert(!config->has_exec || *config->exec.command);
        kube_config_destroy(config);
    } else {
        assert(err.code != ERROR_NONE && *err.message);
    }
    struct kube_exec_credential made = {0};
    if (kube_exec_read(text, first, "client.authentication.k8s.io/v1", &made, NULL) == 0)
        assert(made.token || (made.certificate_pem && made.key_pem));
    free(made.token);
    free(made.certificate_pem);
    free(made.key_pem);
    free(text);
    return 0;
}
