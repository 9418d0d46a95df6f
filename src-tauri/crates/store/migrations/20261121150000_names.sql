-- Texts that many rows repeat, once: addresses of entries, what accompanies them (the part after the last colon), and
-- what content is used as. A name is never removed and never changes its number.
CREATE TABLE name (
    id   INTEGER PRIMARY KEY,
    text TEXT    NOT NULL UNIQUE
) STRICT;

-- The part up to the last colon, if there is one: without the letters after it, whichever they are.
INSERT INTO name (text)
SELECT DISTINCT CASE WHEN instr(key, ':') THEN rtrim(rtrim(key, replace(key, ':', '')), ':') ELSE key END FROM event;

INSERT INTO name (text)
SELECT DISTINCT substr(key, length(rtrim(key, replace(key, ':', ''))) + 1) FROM event WHERE instr(key, ':')
ON CONFLICT (text) DO NOTHING;

INSERT INTO name (text)
SELECT DISTINCT kind FROM artifact_ref WHERE true
ON CONFLICT (text) DO NOTHING;

-- The journal. A mark of 0 is none. A payload is packed (see src/payload.rs), or text in rows from before.
CREATE TABLE new_event (
    run     INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    seq     INTEGER NOT NULL,
    at_ms   INTEGER NOT NULL,
    address INTEGER NOT NULL,
    mark    INTEGER NOT NULL,
    kind    INTEGER NOT NULL,
    payload ANY     NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

INSERT INTO new_event (run, seq, at_ms, address, mark, kind, payload)
SELECT
    run,
    seq,
    at_ms,
    (
        SELECT name.id FROM name
        WHERE name.text = CASE
            WHEN instr(event.key, ':') THEN rtrim(rtrim(event.key, replace(event.key, ':', '')), ':') ELSE event.key
        END
    ),
    CASE
        WHEN instr(event.key, ':')
            THEN (
                SELECT name.id FROM name
                WHERE name.text = substr(event.key, length(rtrim(event.key, replace(event.key, ':', ''))) + 1)
            )
        ELSE 0
    END,
    kind,
    payload
FROM event
ORDER BY run, seq;

DROP TABLE event;

ALTER TABLE new_event RENAME TO event;

CREATE UNIQUE INDEX event_address ON event (run, address, mark);

-- Who uses which content, as what.
CREATE TABLE new_artifact_ref (
    run      INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    artifact INTEGER NOT NULL REFERENCES artifact (id),
    kind     INTEGER NOT NULL,
    PRIMARY KEY (run, artifact, kind)
) STRICT, WITHOUT ROWID;

INSERT INTO new_artifact_ref (run, artifact, kind)
SELECT run, artifact, (SELECT name.id FROM name WHERE name.text = artifact_ref.kind) FROM artifact_ref;

DROP TABLE artifact_ref;

ALTER TABLE new_artifact_ref RENAME TO artifact_ref;

CREATE INDEX artifact_ref_artifact ON artifact_ref (artifact);
