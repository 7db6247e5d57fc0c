-- Access rules took an id as it was typed (" 6", "+6", "006"): in force, and not found by the id. Where the same rule
-- stands twice then, one stays.
UPDATE OR REPLACE access_rules SET scope_id = CAST(CAST(scope_id AS INTEGER) AS TEXT)
    WHERE scope_type IN ('department', 'project') AND scope_id <> CAST(CAST(scope_id AS INTEGER) AS TEXT);
