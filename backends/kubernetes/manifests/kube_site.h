// What is the same for all objects that are written into one cluster.
#pragma once

// Texts are the owner's and outlive what is made with them.
struct kube_site {
    const char *instance;              // label prorata.io/instance: which server's an object is
    const char *scheduler_name;        // NULL: prorata
    const char *namespace_prefix;      // of a project without a namespace of its own; NULL: runai-
    const char *priority_class_prefix; // prorata- for pods of class prorata-high; NULL or "": pods name none
    const char *runtime_class;         // of pods with GPUs; NULL: the cluster's default
    const char *image_pull_secret;     // for every pod, beside its own; NULL: none
    const char *git_image;             // with git and a shell: clones repositories; NULL: they are refused
};
