-- What people composed.
CREATE TABLE task (
    id            INTEGER PRIMARY KEY,
    title         TEXT    NOT NULL,
    path          TEXT    UNIQUE,
    updated_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX task_updated ON task (updated_at_ms);

-- Every version of it, as it was written.
CREATE TABLE task_version (
    id          INTEGER PRIMARY KEY,
    task        INTEGER NOT NULL REFERENCES task (id) ON DELETE CASCADE,
    number      INTEGER NOT NULL,
    source      TEXT    NOT NULL,
    saved_at_ms INTEGER NOT NULL,
    UNIQUE (task, number)
) STRICT;
