-- Choices of the person, as JSON. Never a secret.
CREATE TABLE setting (
    key   TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Texts that are still being written.
CREATE TABLE draft (
    name          TEXT    NOT NULL PRIMARY KEY,
    text          TEXT    NOT NULL,
    updated_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
