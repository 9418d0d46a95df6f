-- What a person allowed for every run of a task. `task` is the task's identity, a hash; `access` is what was allowed, as
-- JSON. Title and folder are for showing.
CREATE TABLE task_grant (
    id            INTEGER PRIMARY KEY,
    task          TEXT    NOT NULL,
    title         TEXT    NOT NULL,
    folder        TEXT    NOT NULL,
    access        TEXT    NOT NULL,
    granted_at_ms INTEGER NOT NULL,
    UNIQUE (task, access)
) STRICT;
