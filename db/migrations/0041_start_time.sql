-- When what was submitted joins the queue; 0: at once.
ALTER TABLE workloads ADD COLUMN start_at_ms INTEGER NOT NULL DEFAULT 0;
