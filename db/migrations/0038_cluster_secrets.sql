-- Secrets that were put into a Kubernetes cluster for a project's credentials, for the server may not ask the cluster which
-- there are. Each is noted before it is made, and goes when no credential stands for it any more.
CREATE TABLE cluster_secrets (
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    project_name TEXT NOT NULL,
    PRIMARY KEY (namespace, name)
) STRICT, WITHOUT ROWID;
