-- A cordon that a person made, beside the one that the backend reports (cordoned): nothing new is placed on the node.
ALTER TABLE nodes ADD COLUMN cordon_ms INTEGER NOT NULL DEFAULT 0; -- when; 0: there is none
ALTER TABLE nodes ADD COLUMN cordon_reason TEXT NOT NULL DEFAULT '';
ALTER TABLE nodes ADD COLUMN cordon_by TEXT NOT NULL DEFAULT '';
