-- Who has access to a place is asked for each project and department of a list.
CREATE INDEX access_rules_scope ON access_rules(scope_type, scope_id) WHERE deleted_ms = 0;
