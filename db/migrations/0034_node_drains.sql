-- A person's cordon may also send away what runs: 0: no; 1: what may be preempted; 2: everything.
ALTER TABLE nodes ADD COLUMN cordon_drain INTEGER NOT NULL DEFAULT 0;
