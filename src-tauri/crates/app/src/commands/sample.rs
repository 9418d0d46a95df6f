//! The sample that ships with the app.
