-- What is rare among all that happened (api/scheduling/events.c asks with these very words). Chains of comparisons: a
-- list would be made into a table of its own by each INSERT.
CREATE INDEX events_of_people ON events(time_ms, id)
    WHERE reason = 'Submitted' OR reason = 'Suspended' OR reason = 'Resumed' OR reason = 'DeletionRequested';
CREATE INDEX events_of_evictions ON events(time_ms, id)
    WHERE reason = 'Preempted' OR reason = 'Consolidated' OR reason = 'Drained' OR reason = 'StaleJob'
        OR reason = 'TimeLimitExceeded' OR reason = 'IdleLimitExceeded';
CREATE INDEX events_of_warnings ON events(time_ms, id) WHERE type = 'Warning';
CREATE INDEX events_of_failures ON events(time_ms, id)
    WHERE type = 'Warning' AND (object_kind = 'Pod' OR object_kind = 'Workload')
        AND reason <> 'Preempted' AND reason <> 'Consolidated' AND reason <> 'Drained' AND reason <> 'StaleJob'
        AND reason <> 'TimeLimitExceeded' AND reason <> 'IdleLimitExceeded' AND reason <> 'Unschedulable'
        AND reason <> 'NotReady' AND reason <> 'TimeLimitWarning' AND reason <> 'IdleLimitWarning';
