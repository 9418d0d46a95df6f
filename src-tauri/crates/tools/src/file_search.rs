//! `file_search`: files by the pattern of their paths, and by words in them.
//!
//! It walks through the folder's own handle, so that nothing outside is found; what a `.gitignore` leaves out is left
//! out, and so is what is hidden, unless the pattern asks for it.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use contract::Hash;
use contract::access::Access;
use contract::event::NamedHash;
use contract::ports::files::{DirEntry, FileKind, Files};
use contract::ports::tool::{Tool, ToolContext, ToolError, ToolInfo, ToolOutput};
use globset::{GlobBuilder, GlobMatcher};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use workspace::schema;

use crate::input;

/// The longest `.gitignore` that is followed, in bytes, and how many lines it may have.
const LONGEST_LIST: u64 = 64 * 1024;
const MOST_RULES: usize = 1_000;
/// More files than this are not returned.
const FOUND: usize = 10_000;
/// More entries than this are not looked at.
const LOOKED_AT: usize = 200_000;
/// More lines than this are not returned.
const LINES: usize = 1_000;
/// Larger files are not searched for words, in bytes.
const LARGEST: u64 = 10 * 1024 * 1024;
/// How much of a line is shown, in characters.
const SHOWN: usize = 300;

pub(crate) struct FileSearch;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The pattern of paths, relative to cwd: * for anything in a name, ** for any folders, {a,b} for one of several.
    pattern: String,
    /// The folder to search, relative to the working folder.
    #[serde(default = "here")]
    cwd: String,
    /// Words that a line of the file must contain, in upper or lower case. Then the lines are returned.
    #[schemars(length(min = 1))]
    content: Option<String>,
}

fn here() -> String {
    ".".to_owned()
}

/// What is looked for, and what was found so far.
struct Search<'s> {
    files: &'s dyn Files,
    pattern: GlobMatcher,
    hidden: bool,
    looked_at: usize,
    found: Vec<String>,
}

/// A folder that is still to be looked into: its path from the working folder, and from where the search began.
struct Place {
    path: String,
    below: String,
    left_out: Vec<Arc<Gitignore>>,
}

#[async_trait]
impl Tool for FileSearch {
    fn info(&self) -> ToolInfo {
        ToolInfo {
            name: "file_search".to_owned(),
            description: "Finds files by a pattern such as **/*.csv and returns their paths, relative to cwd and \
                sorted. With content it returns the lines that contain it: [{ path, line, text }]. Hidden files and \
                what a .gitignore names are left out."
                .to_owned(),
            parameters: schema::of::<Input>(),
            has_effects: false,
        }
    }

    fn access(&self, args: &Value) -> Vec<Access> {
        let path = args.get("cwd").and_then(Value::as_str).unwrap_or(".").to_owned();
        vec![Access::Read { path }]
    }

    async fn observe(&self, args: &Value, context: &ToolContext) -> Option<Vec<NamedHash>> {
        let found = self.execute(args.clone(), context).await.ok()?;
        let hash = Hash::of_value(&found.value).ok()?;
        let name = args.get("pattern").and_then(Value::as_str)?.to_owned();
        Some(vec![NamedHash { name, hash }])
    }

    async fn execute(&self, args: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = input::read(&args)?;
        let path = context.files.relative(&input.cwd)?;
        let mut search = Search {
            files: context.files.as_ref(),
            pattern: pattern(&input.pattern)?,
            hidden: input.pattern.starts_with('.') || input.pattern.contains("/."),
            looked_at: 0,
            found: Vec::new(),
        };
        search.walk(&path).await?;
        search.found.sort();
        let found = search.found;
        match input.content {
            None => Ok(ToolOutput::value(json!(found))),
            Some(words) => Ok(ToolOutput::value(
                lines(context.files.as_ref(), &path, &found, &words).await?,
            )),
        }
    }
}

fn pattern(words: &str) -> Result<GlobMatcher, ToolError> {
    let glob = GlobBuilder::new(words.trim_start_matches("./"))
        .literal_separator(true)
        .build();
    glob.map(|glob| glob.compile_matcher())
        .map_err(|error| ToolError::new(format!("the pattern cannot be used: {error}")))
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    }
}

impl Search<'_> {
    async fn walk(&mut self, path: &str) -> Result<(), ToolError> {
        let mut places = vec![Place {
            path: path.to_owned(),
            below: String::new(),
            left_out: Vec::new(),
        }];
        while let Some(mut place) = places.pop() {
            let entries = match self.files.list(&place.path).await {
                Ok(entries) => entries,
                // It went away, or may not be read; only where the search begins somebody should know.
                Err(_) if !place.below.is_empty() => continue,
                Err(error) => return Err(error.into()),
            };
            if let Some(more) = self.left_out(&place, &entries).await {
                place.left_out.push(Arc::new(more));
            }
            for entry in entries {
                self.look_at(&place, entry, &mut places)?;
            }
        }
        Ok(())
    }

    fn look_at(&mut self, place: &Place, entry: DirEntry, places: &mut Vec<Place>) -> Result<(), ToolError> {
        self.looked_at += 1;
        if self.looked_at > LOOKED_AT {
            let message = format!("there are more than {LOOKED_AT} files and folders; search a folder below");
            return Err(ToolError::new(message));
        }
        if entry.name.starts_with('.') && !self.hidden {
            return Ok(());
        }
        let below = join(&place.below, &entry.name);
        let is_folder = entry.kind == FileKind::Folder;
        let left_out = place
            .left_out
            .iter()
            .rev()
            .map(|rules| rules.matched(Path::new(&below), is_folder));
        if left_out
            .into_iter()
            .find(|said| !said.is_none())
            .is_some_and(|said| said.is_ignore())
        {
            return Ok(());
        }
        match entry.kind {
            FileKind::Folder => places.push(Place {
                path: join(&place.path, &entry.name),
                below,
                left_out: place.left_out.clone(),
            }),
            FileKind::File if self.pattern.is_match(&below) => self.found.push(below),
            FileKind::File | FileKind::Other => {}
        }
        if self.found.len() > FOUND {
            let message = format!("more than {FOUND} files match; use a narrower pattern");
            return Err(ToolError::new(message));
        }
        Ok(())
    }

    /// What the folder's own `.gitignore` leaves out.
    async fn left_out(&self, place: &Place, entries: &[DirEntry]) -> Option<Gitignore> {
        let is_list = |entry: &&DirEntry| entry.name == ".gitignore" && entry.kind == FileKind::File;
        entries.iter().find(is_list)?;
        // Each rule costs memory and time far beyond its length; a list that is longer leaves nothing out.
        let bytes = self
            .files
            .read(&join(&place.path, ".gitignore"), LONGEST_LIST)
            .await
            .ok()?;
        let text = self.files.text(&bytes)?;
        if text.lines().count() > MOST_RULES {
            return None;
        }
        let mut rules = GitignoreBuilder::new(&place.below);
        for line in text.lines() {
            // A line that means nothing leaves nothing out.
            let _ = rules.add_line(None, line);
        }
        rules.build().ok()
    }
}

async fn lines(files: &dyn Files, folder: &str, paths: &[String], words: &str) -> Result<Value, ToolError> {
    let words = words.to_lowercase();
    let mut found = Vec::new();
    for path in paths {
        // What is too large, no text or gone has no such line.
        let Ok(bytes) = files.read(&join(folder, path), LARGEST).await else {
            continue;
        };
        let Some(text) = files.text(&bytes) else { continue };
        for (number, line) in text.lines().enumerate() {
            if !line.to_lowercase().contains(&words) {
                continue;
            }
            if found.len() == LINES {
                let message = format!("more than {LINES} lines match; use more words, or a narrower pattern");
                return Err(ToolError::new(message));
            }
            let text: String = line.trim().chars().take(SHOWN).collect();
            found.push(json!({"path": path, "line": number + 1, "text": text}));
        }
    }
    Ok(Value::Array(found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_place::{Place, place};

    fn some() -> Place {
        place(&[
            ("b.csv", "name,sum\nZoë,3\n"),
            ("a.csv", ""),
            ("deep/er/c.csv", "ZOË,4\n"),
            ("deep/notes.md", "nothing"),
            (".hidden/d.csv", ""),
            (".env", ""),
            ("made/e.csv", ""),
            ("made/keep/f.csv", ""),
            (".gitignore", "made/*\n!made/keep\n"),
        ])
    }

    async fn check(args: Value, expected: Value) {
        assert_eq!(some().run(&FileSearch, args.clone()).await, Ok(expected), "{args}");
    }

    #[tokio::test]
    async fn finds_files_by_their_paths() {
        check(json!({"pattern": "*.csv"}), json!(["a.csv", "b.csv"])).await;
        check(
            json!({"pattern": "**/*.csv"}),
            json!(["a.csv", "b.csv", "deep/er/c.csv", "made/keep/f.csv"]),
        )
        .await;
        check(json!({"pattern": "**/*.{md,txt}", "cwd": "deep"}), json!(["notes.md"])).await;
        check(json!({"pattern": "deep/*/c.csv"}), json!(["deep/er/c.csv"])).await;
        check(json!({"pattern": "*.pdf"}), json!([])).await;
    }

    #[tokio::test]
    async fn finds_what_is_hidden_when_the_pattern_asks_for_it() {
        check(json!({"pattern": ".env"}), json!([".env"])).await;
        check(json!({"pattern": ".hidden/*"}), json!([".hidden/d.csv"])).await;
    }

    #[tokio::test]
    async fn finds_lines_by_their_words() {
        let expected = json!([
            {"path": "b.csv", "line": 2, "text": "Zoë,3"},
            {"path": "deep/er/c.csv", "line": 1, "text": "ZOË,4"},
        ]);
        check(json!({"pattern": "**", "content": "zoë"}), expected).await;
    }

    #[tokio::test]
    async fn finds_nothing_outside() {
        let place = some();
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("secret.csv"), "").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(outside.path(), place.folder.path().join("link")).unwrap();
        let found = place.run(&FileSearch, json!({"pattern": "**/secret.csv"})).await;
        assert_eq!(found, Ok(json!([])));
        for args in [
            json!({"pattern": "*", "cwd": ".."}),
            json!({"pattern": "*", "cwd": "/"}),
            json!({"pattern": "["}),
        ] {
            assert!(place.run(&FileSearch, args.clone()).await.is_err(), "{args}");
        }
    }

    #[tokio::test]
    async fn says_whether_it_would_find_the_same() {
        let place = some();
        let args = json!({"pattern": "*.csv"});
        let before = FileSearch.observe(&args, &place.context).await;
        assert!(before.is_some());
        assert_eq!(FileSearch.observe(&args, &place.context).await, before);
        std::fs::write(place.folder.path().join("z.csv"), "").unwrap();
        assert_ne!(FileSearch.observe(&args, &place.context).await, before);
    }
}
