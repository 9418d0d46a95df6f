//! `changed` and `unchanged`: whether the run has changed a file. The run's own journal knows what every file held
//! before its first change; of what others did to the folder meanwhile it knows nothing.

use std::sync::Arc;

use async_trait::async_trait;
use contract::ports::check::{Check, CheckInfo, CheckOutcome, CheckTarget, Subject};
use contract::ports::files::{Files, FilesError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::{arguments, target};

const SHORT: Option<&str> = Some("path");

/// `changed`.
pub(crate) struct Changed;

/// `unchanged`.
pub(crate) struct Unchanged;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Which file, in the working folder; this result itself when it is left out.
    #[schemars(title = "File", length(min = 1))]
    path: Option<String>,
}

#[async_trait]
impl Check for Changed {
    fn info(&self) -> CheckInfo {
        CheckInfo {
            name: "changed".to_owned(),
            title: "Was changed by the run".to_owned(),
            description: "The file is not what it was before the run.".to_owned(),
            schema: arguments::schema::<Args>(SHORT),
            needs_file: true,
        }
    }

    fn problems(&self, args: &Value) -> Vec<String> {
        arguments::problems::<Args>("changed", args, SHORT)
    }

    async fn run(&self, args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> CheckOutcome {
        target::settled(compare(args, target, files).await.map(|(path, fate)| match fate {
            Fate::Kept | Fate::PutBack => CheckOutcome::fail(fate.in_words(&path), None),
            Fate::Made | Fate::Changed | Fate::Gone => CheckOutcome::pass(fate.in_words(&path), None),
        }))
    }
}

#[async_trait]
impl Check for Unchanged {
    fn info(&self) -> CheckInfo {
        CheckInfo {
            name: "unchanged".to_owned(),
            title: "Was left as it was".to_owned(),
            description: "The file is what it was before the run.".to_owned(),
            schema: arguments::schema::<Args>(SHORT),
            needs_file: true,
        }
    }

    fn problems(&self, args: &Value) -> Vec<String> {
        arguments::problems::<Args>("unchanged", args, SHORT)
    }

    async fn run(&self, args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> CheckOutcome {
        target::settled(compare(args, target, files).await.map(|(path, fate)| match fate {
            Fate::Kept | Fate::PutBack => CheckOutcome::pass(fate.in_words(&path), None),
            Fate::Made | Fate::Changed | Fate::Gone => CheckOutcome::fail(fate.in_words(&path), None),
        }))
    }
}

/// What has become of a file during the run.
#[derive(Clone, Copy)]
enum Fate {
    Kept,
    PutBack,
    Made,
    Changed,
    Gone,
}

impl Fate {
    fn in_words(self, path: &str) -> String {
        match self {
            Self::Kept => format!("the run has not changed \"{path}\""),
            Self::PutBack => format!("\"{path}\" holds again what it held before the run"),
            Self::Made => format!("the run has made \"{path}\""),
            Self::Changed => format!("the run has changed \"{path}\""),
            Self::Gone => format!("\"{path}\" is not there any more"),
        }
    }
}

async fn compare(args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> Result<(String, Fate), String> {
    let args: Args = arguments::read(args, SHORT)?;
    let path = match (args.path, &target.subject) {
        (Some(path), _) => path,
        (None, Subject::File(path)) => path.clone(),
        (None, Subject::Answer(_)) => return Err("an answer has no earlier state; name a file as path".to_owned()),
    };
    let path = files.relative(&path).map_err(|error| error.to_string())?;
    let now = files.hash(&path).await.map_err(|error| error.to_string())?;
    let fate = match (target.before.get(&path), now) {
        (None, None) => return Err(FilesError::NotFound(path).to_string()),
        (None, Some(_)) => Fate::Kept,
        (Some(None), Some(_)) => Fate::Made,
        (Some(Some(_)), None) => Fate::Gone,
        (Some(before), now) if *before == now => Fate::PutBack,
        (Some(_), _) => Fate::Changed,
    };
    Ok((path, fate))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use contract::hash::Hash;
    use serde_json::json;
    use workspace::Folder;

    use super::*;

    async fn check(args: Value, before: Option<Option<&str>>, changed: Result<bool, &str>, evidence: &str) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("it"), "now").unwrap();
        let files: Arc<dyn Files> = Arc::new(Folder::open(folder.path()).unwrap());
        let before = before.map(|text| ("it".to_owned(), text.map(|text| Hash::of_bytes(text.as_bytes()))));
        let target = CheckTarget {
            subject: Subject::File("./it".to_owned()),
            before: Arc::new(BTreeMap::from_iter(before)),
            commands: None,
        };
        let outcome = Changed.run(&args, &target, &files).await;
        let opposite = Unchanged.run(&args, &target, &files).await;
        assert_eq!(outcome.evidence, opposite.evidence);
        assert!(outcome.evidence.contains(evidence), "{}", outcome.evidence);
        match changed {
            Ok(changed) => assert_eq!((outcome.pass, opposite.pass), (changed, !changed)),
            Err(_) => assert!(!outcome.pass && !opposite.pass && !outcome.ran),
        }
    }

    #[tokio::test]
    async fn knows_what_the_run_did_to_a_file() {
        check(Value::Null, None, Ok(false), "the run has not changed \"it\"").await;
        check(Value::Null, Some(None), Ok(true), "the run has made \"it\"").await;
        check(Value::Null, Some(Some("then")), Ok(true), "the run has changed \"it\"").await;
        check(Value::Null, Some(Some("now")), Ok(false), "holds again what it held").await;
    }

    #[tokio::test]
    async fn a_file_that_never_was_there_is_neither() {
        check(
            json!("other"),
            Some(None),
            Err(""),
            "there is no file or folder \"other\"",
        )
        .await;
    }

    #[tokio::test]
    async fn an_answer_has_no_earlier_state() {
        let folder = tempfile::tempdir().unwrap();
        let files: Arc<dyn Files> = Arc::new(Folder::open(folder.path()).unwrap());
        let outcome = Changed.run(&Value::Null, &CheckTarget::answer("x"), &files).await;
        assert!(outcome.evidence.contains("name a file as path"), "{}", outcome.evidence);
    }
}
