-- What a run used of models, and what that cost, for lists: more of the projection of its events (see src/run_use.rs).
ALTER TABLE run ADD COLUMN cost REAL NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN currency TEXT NOT NULL DEFAULT '';
-- The models that were asked, with what was used of each, as JSON.
ALTER TABLE run ADD COLUMN models TEXT NOT NULL DEFAULT '[]';
-- The time at work, and how many calls are at work, which says whether a run that waits works all the same.
ALTER TABLE run ADD COLUMN worked_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN leaves INTEGER NOT NULL DEFAULT 0;
-- Whether the row is what today's fold makes of the events: those from before are made anew when there is time.
ALTER TABLE run ADD COLUMN projection INTEGER NOT NULL DEFAULT 0;
CREATE INDEX run_outdated ON run (id) WHERE projection = 0;

-- What runs cost, in steps: each with an index walked newest first (see src/run_list.rs).
ALTER TABLE run ADD COLUMN cost_band INTEGER NOT NULL GENERATED ALWAYS AS (
    CASE
        WHEN cost <= 0 THEN 0
        WHEN cost < 0.01 THEN 1
        WHEN cost < 0.1 THEN 2
        WHEN cost < 1 THEN 3
        WHEN cost < 10 THEN 4
        ELSE 5
    END
) VIRTUAL;
CREATE INDEX run_cost ON run (cost_band);

-- Which runs asked which models; a model is a number of `name`.
CREATE TABLE run_model (
    model INTEGER NOT NULL,
    run   INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    PRIMARY KEY (model, run)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_model_run ON run_model (run);
