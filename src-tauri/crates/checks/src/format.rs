//! `format`: it really opens as that kind of file, whatever it is called.

use std::sync::Arc;

use async_trait::async_trait;
use contract::ports::check::{Check, CheckInfo, CheckOutcome, CheckTarget};
use contract::ports::documents::Format as Kind;
use contract::ports::files::Files;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{arguments, opened, target};

/// The argument that a bare value stands for.
const SHORT: Option<&str> = Some("is");

pub(crate) struct Format;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The kind of file that it must open as.
    #[schemars(title = "Opens as", schema_with = "kinds")]
    is: Kind,
}

fn kinds(_generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let names = Kind::ALL.map(Kind::name);
    schemars::json_schema!({ "type": "string", "enum": names })
}

#[async_trait]
impl Check for Format {
    fn info(&self) -> CheckInfo {
        CheckInfo {
            name: "format".to_owned(),
            title: "Opens as".to_owned(),
            description: "It is a file of this kind and can be opened, whatever it is called.".to_owned(),
            schema: arguments::schema::<Args>(SHORT),
            needs_file: true,
        }
    }

    fn problems(&self, args: &Value) -> Vec<String> {
        arguments::problems::<Args>("format", args, SHORT)
    }

    async fn run(&self, args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> CheckOutcome {
        target::settled(look(args, target, files).await)
    }
}

async fn look(args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> Result<CheckOutcome, String> {
    let args: Args = arguments::read(args, SHORT)?;
    let found = opened::facts(target, files).await?.format;
    let observed = json!(found.name());
    Ok(if found == args.is {
        CheckOutcome::pass(format!("it opens as {}", found.words()), observed)
    } else {
        CheckOutcome::fail(
            format!("it is {}, and not {}", found.words(), args.is.words()),
            observed,
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_place::run_on_document;

    #[tokio::test]
    async fn a_file_is_what_it_opens_as() {
        let check = async |args: Value, bytes: &[u8]| run_on_document(&Format, args, bytes).await;
        assert_eq!(
            check(json!("pdf"), b"%PDF-1.7 of 3 pages").await,
            (true, "it opens as a PDF".to_owned())
        );
        assert_eq!(
            check(json!({"is": "xlsx"}), b"%PDF-1.7 of 3 pages").await,
            (false, "it is a PDF, and not an Excel workbook".to_owned())
        );
        let (pass, evidence) = check(json!("pdf"), b"a,b\n1,2\n").await;
        assert_eq!(
            (pass, evidence.as_str()),
            (
                false,
                "the check could not run: \"it\" cannot be opened: it is not a readable document: it is none"
            )
        );
    }

    #[test]
    fn knows_what_can_be_asked_for() {
        assert_eq!(Format.problems(&json!("pdf")), Vec::<String>::new());
        assert_eq!(Format.problems(&json!("exe")).len(), 1);
    }
}
