-- A run: its number for the other tables, and a projection of its events (see src/run.rs).
CREATE TABLE run (
    id            INTEGER PRIMARY KEY,
    run_id        TEXT    NOT NULL UNIQUE,
    last_seq      INTEGER NOT NULL,
    title         TEXT    NOT NULL,
    folder        TEXT    NOT NULL,
    recorded      INTEGER NOT NULL,
    status        TEXT    NOT NULL,
    stop_reason   TEXT,
    waiting       INTEGER NOT NULL,
    cycles        INTEGER NOT NULL,
    tokens_used   INTEGER NOT NULL,
    started_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    ended_at_ms   INTEGER
) STRICT;
-- The id is the last part of every index: newest first within a status needs no sorting.
CREATE INDEX run_status ON run (status);

-- The journal: the only source of truth about runs.
CREATE TABLE event (
    run     INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    seq     INTEGER NOT NULL,
    at_ms   INTEGER NOT NULL,
    key     TEXT    NOT NULL,
    kind    INTEGER NOT NULL,
    payload TEXT    NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX event_key ON event (run, key);

-- Content by its address. No content: it is a file in the content folder.
CREATE TABLE artifact (
    id       INTEGER PRIMARY KEY,
    hash     BLOB    NOT NULL UNIQUE,
    size     INTEGER NOT NULL,
    encoding INTEGER NOT NULL,
    content  BLOB
) STRICT;

-- Who uses which content, as what.
CREATE TABLE artifact_ref (
    run      INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    artifact INTEGER NOT NULL REFERENCES artifact (id),
    kind     TEXT    NOT NULL,
    PRIMARY KEY (run, artifact, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX artifact_ref_artifact ON artifact_ref (artifact);

-- Words of a run; the rowid is the run's id. The texts themselves stay in the journal.
CREATE VIRTUAL TABLE run_search USING fts5 (
    title, goal, feedback,
    content = '',
    contentless_delete = 1,
    tokenize = 'unicode61 remove_diacritics 2',
    prefix = '2 3'
);
