-- What pods of others hold on a node, where the cluster is shared with other schedulers; 0 where it is not.
ALTER TABLE nodes ADD COLUMN others_cpu_milli INTEGER NOT NULL DEFAULT 0;
ALTER TABLE nodes ADD COLUMN others_memory_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE nodes ADD COLUMN others_pods INTEGER NOT NULL DEFAULT 0;
-- So many GPUs take no pod of ours: others hold them, or they are sick. unhealthy_gpus_json says which count as these.
ALTER TABLE nodes ADD COLUMN gpus_withheld INTEGER NOT NULL DEFAULT 0;
