//! The composition root: the command table, the active runs, the event log.
