// A repository as a volume: an init container clones it into a folder of an emptyDir, and the pod's container mounts
// that folder. Nothing of the specification is in the script: it comes by variables, which need no quoting.
#include "backends/kubernetes/manifests/kube_names.h"
#include "backends/kubernetes/manifests/kube_volumes.h"
#include "base/error.h"

#include <string.h>

#define PLACE "/prorata/volume"
#define KEY_FOLDER "/prorata/key"

static const char SCRIPT[] =
    "set -e\n"
    "export HOME=/tmp GIT_TERMINAL_PROMPT=0\n"
    "if [ -n \"$GIT_PASSWORD\" ]; then\n"
    "git config --global credential.helper"
    " '!f() { printf \"username=%s\\npassword=%s\\n\" \"$GIT_USER\" \"$GIT_PASSWORD\"; }; f'\n"
    "fi\n"
    "if [ -f " KEY_FOLDER "/key ]; then\n"
    "(umask 077; cat " KEY_FOLDER "/key >/tmp/key)\n"
    "export GIT_SSH_COMMAND='ssh -o BatchMode=yes -o StrictHostKeyChecking=accept-new -i /tmp/key'\n"
    "fi\n"
    "git clone -q ${GIT_BRANCH:+\"--branch=$GIT_BRANCH\"} -- \"$GIT_REPOSITORY\" " PLACE "/" KUBE_GIT_FOLDER "\n"
    "cd " PLACE "/" KUBE_GIT_FOLDER "\n"
    "[ -n \"$GIT_REVISION\" ] || exit 0\n"
    "commit=$(git rev-parse -q --verify --end-of-options \"$GIT_REVISION^{commit}\" ||"
    " git rev-parse -q --verify --end-of-options \"origin/$GIT_REVISION^{commit}\") ||"
    " { echo \"no revision $GIT_REVISION\"; exit 1; }\n"
    "git checkout -q --detach \"$commit\"\n";

const char *kube_git_path(const json_t *item)
{
    const char *path = kube_spec_text(item, "path");
    return path ? path : "/git";
}

static void add_secret_variable(json_t *list, const char *name, const char *secret, const char *key)
{
    json_array_append_new(list, json_pack("{s:s, s:{s:{s:s, s:s}}}", "name", name, "valueFrom", "secretKeyRef", "name",
                                          secret, "key", key));
}

static void add_variable(json_t *list, const char *name, const char *value)
{
    if (value)
        json_array_append_new(list, json_pack("{s:s, s:s}", "name", name, "value", value));
}

// By a name and a password as variables, by a key as a file.
static void add_credentials(const json_t *item, json_t *variables, json_t *mounts, const char *volume,
                            struct kube_volumes *out)
{
    const json_t *reference = json_object_get(item, "secretRef");
    const char *secret = kube_spec_text(reference, "name"), *method = kube_spec_text(reference, "authenticationMethod");
    const json_t *keys = secret ? reference : item;
    const char *user = kube_spec_text(keys, "secretKeyOfUser"), *password = kube_spec_text(keys, "secretKeyOfPassword");
    if (!secret)
        secret = kube_spec_text(item, "passwordSecret");
    if (!secret)
        return;
    if (!method || strcmp(method, "ssh-key") != 0) {
        add_secret_variable(variables, "GIT_USER", secret, user ? user : "username");
        add_secret_variable(variables, "GIT_PASSWORD", secret, password ? password : "password");
        return;
    }
    json_t *name = json_sprintf("%s-key", volume);
    json_array_append_new(out->volumes, json_pack("{s:O, s:{s:s, s:i, s:[{s:s, s:s}]}}", "name", name, "secret",
                                                  "secretName", secret, "defaultMode", 0444, "items", "key",
                                                  password ? password : "ssh-privatekey", "path", "key"));
    json_array_append_new(mounts, json_pack("{s:o, s:s, s:b}", "name", name, "mountPath", KEY_FOLDER, "readOnly", 1));
}

int kube_git_add(const struct kube_site *site, const json_t *item, const char *volume, struct kube_volumes *out,
                 struct error *err)
{
    const char *repository = kube_spec_text(item, "repository");
    if (!repository || repository[0] == '-')
        return error_set(err, ERROR_INVALID, "repository: expected an address");
    if (!site->git_image)
        return error_set(err, ERROR_INVALID, "repository: this cluster names no image that clones repositories");
    json_t *variables = json_array();
    json_t *mounts = json_pack("[{s:s, s:s}]", "name", volume, "mountPath", PLACE);
    add_variable(variables, "GIT_REPOSITORY", repository);
    add_variable(variables, "GIT_BRANCH", kube_spec_text(item, "branch"));
    add_variable(variables, "GIT_REVISION", kube_spec_text(item, "revision"));
    add_credentials(item, variables, mounts, volume, out);
    json_array_append_new(out->before,
                          json_pack("{s:o, s:s, s:[s, s, s], s:o, s:o, s:s}", "name", json_sprintf("git-%s", volume),
                                    "image", site->git_image, "command", "/bin/sh", "-c", SCRIPT, "env", variables,
                                    "volumeMounts", mounts, "terminationMessagePolicy", "FallbackToLogsOnError"));
    return 0;
}
