-- Workload types with their defaults: the predefined ones, whose defaults may be changed, and those that people add.
CREATE TABLE workload_types (
    id INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE COLLATE NOCASE,
    name TEXT NOT NULL,
    group_name TEXT NOT NULL,
    category TEXT NOT NULL, -- Build, Train, Deploy
    priority_class TEXT NOT NULL,
    resource_interfaces_json TEXT, -- as they were given; NULL: none
    is_predefined INTEGER NOT NULL DEFAULT 0,
    created_by TEXT NOT NULL DEFAULT 'system',
    created_ms INTEGER NOT NULL DEFAULT 1767225600000, -- 2026-01-01, as predefined roles have it
    updated_by TEXT NOT NULL DEFAULT 'system',
    updated_ms INTEGER NOT NULL DEFAULT 1767225600000,
    UNIQUE (name, group_name)
) STRICT;
INSERT INTO workload_types (is_predefined, uuid, name, group_name, category, priority_class) VALUES
    (1, '3103fec7-b121-5a78-a8a8-6aab93e195e2', 'Workspace', 'run.ai', 'Build', 'high'),
    (1, '56c5a2e3-2a30-5339-8131-24bba9d2ce14', 'Training', 'run.ai', 'Train', 'low'),
    (1, '8a2272d7-455b-546c-a9c9-eeb5f0423f1e', 'Distributed', 'run.ai', 'Train', 'low'),
    (1, '0bef6d79-191e-535c-914d-d16240b754ed', 'Inference', 'run.ai', 'Deploy', 'very-high'),
    (1, '77b5d0ff-9664-5521-ba46-0b724a90fc95', 'DistributedInference', 'run.ai', 'Deploy', 'very-high'),
    (1, 'bd430930-b38e-55d2-b8d1-c7cd61d1cb4c', 'Job', 'batch', 'Build', 'high'),
    (1, '8b948272-3241-579b-9c87-8c1df680b698', 'Notebook', 'kubeflow.org', 'Build', 'high'),
    (1, '661071ad-667d-5896-a960-a460037fb107', 'TaskRun', 'tekton.dev', 'Build', 'high'),
    (1, '67bdf655-30b1-5afa-8a9b-5888fdf5569e', 'DevWorkspace', 'workspace.devfile.io', 'Build', 'high'),
    (1, '0643e50d-8428-5ea0-937d-3780ff51be6d', 'PyTorchJob', 'kubeflow.org', 'Train', 'low'),
    (1, '2c085779-a0af-5d27-8afa-3492a073f4a5', 'TFJob', 'kubeflow.org', 'Train', 'low'),
    (1, '61d99cc2-49a9-57ce-bf11-532b76213c1d', 'MPIJob', 'kubeflow.org', 'Train', 'low'),
    (1, 'f9e6443d-7123-583c-bce8-0080974d64a2', 'XGBoostJob', 'kubeflow.org', 'Train', 'low'),
    (1, '1373cb60-be18-5814-a8d8-1eb929113a79', 'JAXJob', 'kubeflow.org', 'Train', 'low'),
    (1, '9f093f6a-86c8-59ff-b2c1-aaaf3359fd31', 'JobSet', 'jobset.x-k8s.io', 'Train', 'low'),
    (1, 'b68a76be-f691-52c9-b899-ffb2735749e7', 'RayCluster', 'ray.io', 'Train', 'low'),
    (1, '6edaf2d7-9179-54e2-b3ee-066745ad778c', 'RayJob', 'ray.io', 'Train', 'low'),
    (1, 'a54a1c73-2a57-5a56-b404-31b02485db5e', 'AMLJob', 'amlarc.azureml.com', 'Train', 'low'),
    (1, 'f97c74a0-80c2-519c-a46c-3a645757ae71', 'VirtualMachineInstance', 'kubevirt.io', 'Train', 'low'),
    (1, '18ad9929-c470-529e-80aa-e095d8d59da0', 'Deployment', 'apps', 'Deploy', 'very-high'),
    (1, 'aef17ec5-655c-50aa-bbe2-f3be9c3ac04d', 'StatefulSet', 'apps', 'Deploy', 'very-high'),
    (1, 'abb77f21-3bdc-59a0-96e8-0e3246c77415', 'ReplicaSet', 'apps', 'Deploy', 'very-high'),
    (1, '88084bb0-779a-56ae-a3f1-75ce35087979', 'Pod', 'core', 'Deploy', 'very-high'),
    (1, '7edbdb24-446c-5be2-94b6-8c7be96952d8', 'CronJob', 'batch', 'Deploy', 'very-high'),
    (1, 'f7c92a19-20ec-5cac-96b9-e693db9101df', 'Service', 'serving.knative.dev', 'Deploy', 'very-high'),
    (1, 'd6571d4a-eec1-51cd-a350-1032361957d8', 'RayService', 'ray.io', 'Deploy', 'very-high'),
    (1, '1bc04247-eaa6-5cf8-9ac5-f4cf59cd4a34', 'LeaderWorkerSet', 'leaderworkerset.x-k8s.io', 'Deploy', 'very-high'),
    (1, '282e7e54-de5b-5d0a-8aae-c9fdeee8fec0', 'Workflow', 'argoproj.io', 'Deploy', 'very-high'),
    (1, 'c4f5611e-5885-534a-a0d4-2d7bb1e9aeba', 'PipelineRun', 'tekton.dev', 'Deploy', 'very-high'),
    (1, 'df923b93-4eb4-5de4-bad4-16fdae0732b2', 'SeldonDeployment', 'machinelearning.seldon.io', 'Deploy', 'very-high');
