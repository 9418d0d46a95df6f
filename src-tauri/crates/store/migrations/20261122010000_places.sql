-- What lies below an attempt (all after the last number sign and its digits, as in `/call/0:started`) accompanies the
-- attempt's address: few such parts serve all steps, where each step had an address of its own for its call.

-- The keys that are divided anew, each with its parts.
CREATE TABLE divided AS
WITH whole AS (
    SELECT event.run, event.seq, address.text || coalesce(':' || mark.text, '') AS key
    FROM event JOIN name AS address ON address.id = event.address LEFT JOIN name AS mark ON mark.id = event.mark
),
headed AS (SELECT run, seq, key, rtrim(key, replace(key, '#', '')) AS head FROM whole WHERE instr(key, '#')),
tailed AS (SELECT run, seq, key, ltrim(substr(key, length(head) + 1), '0123456789') AS tail FROM headed)
SELECT run, seq, substr(key, 1, length(key) - length(tail)) AS address, tail AS mark FROM tailed
WHERE substr(tail, 1, 1) = '/';

CREATE UNIQUE INDEX divided_place ON divided (run, seq);

INSERT INTO name (text) SELECT DISTINCT address FROM divided WHERE true ON CONFLICT (text) DO NOTHING;

INSERT INTO name (text) SELECT DISTINCT mark FROM divided WHERE true ON CONFLICT (text) DO NOTHING;

UPDATE event SET
    address = (
        SELECT name.id FROM divided JOIN name ON name.text = divided.address
        WHERE divided.run = event.run AND divided.seq = event.seq
    ),
    mark = (
        SELECT name.id FROM divided JOIN name ON name.text = divided.mark
        WHERE divided.run = event.run AND divided.seq = event.seq
    )
WHERE EXISTS (SELECT 1 FROM divided WHERE divided.run = event.run AND divided.seq = event.seq);

DROP TABLE divided;
