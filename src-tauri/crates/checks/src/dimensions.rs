//! `dimensions`: how large an image is, in pixels.

use std::sync::Arc;

use async_trait::async_trait;
use contract::ports::check::{Check, CheckInfo, CheckOutcome, CheckTarget};
use contract::ports::files::Files;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::bounds::Count;
use crate::{arguments, opened, target};

pub(crate) struct Dimensions;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// How wide it is, in pixels.
    #[schemars(title = "Width")]
    width: Option<Count>,
    /// How high it is, in pixels.
    #[schemars(title = "Height")]
    height: Option<Count>,
}

#[async_trait]
impl Check for Dimensions {
    fn info(&self) -> CheckInfo {
        CheckInfo {
            name: "dimensions".to_owned(),
            title: "Size in pixels".to_owned(),
            description: "It is an image that is at least or at most so wide and high.".to_owned(),
            schema: arguments::schema::<Args>(None),
            needs_file: true,
        }
    }

    fn problems(&self, args: &Value) -> Vec<String> {
        let problems = arguments::problems::<Args>("dimensions", args, None);
        let Ok(args) = arguments::read::<Args>(args, None) else {
            return problems;
        };
        let edges = [("width", args.width), ("height", args.height)];
        let says_nothing = edges.iter().all(|(_, bounds)| bounds.is_none());
        let nothing = says_nothing.then(|| "dimensions: say what should hold, width or height".to_owned());
        let bad = edges.into_iter().filter_map(|(name, bounds)| {
            let problem = bounds?.problem()?;
            Some(format!("dimensions.{name}: {problem}"))
        });
        problems.into_iter().chain(nothing).chain(bad).collect()
    }

    async fn run(&self, args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> CheckOutcome {
        target::settled(look(args, target, files).await)
    }
}

async fn look(args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> Result<CheckOutcome, String> {
    let args: Args = arguments::read(args, None)?;
    let facts = opened::facts(target, files).await?;
    let (width, height) = facts
        .size
        .ok_or_else(|| format!("it is {}, and no image", facts.format.words()))?;
    let said = format!("{width} x {height} pixels");
    let observed = json!([width, height]);
    let broken: Vec<String> = [("width", args.width, width), ("height", args.height, height)]
        .into_iter()
        .filter_map(|(name, bounds, found)| {
            let broken = bounds?.broken_by(usize::try_from(found).unwrap_or(usize::MAX))?;
            Some(format!("{name}: {broken}"))
        })
        .collect();
    Ok(if broken.is_empty() {
        CheckOutcome::pass(said, observed)
    } else {
        CheckOutcome::fail(format!("{said}; {}", broken.join("; ")), observed)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_place::run_on_document;

    #[tokio::test]
    async fn measures_an_image() {
        let check = async |args: Value, bytes: &[u8]| run_on_document(&Dimensions, args, bytes).await;
        let image = b"\x89PNG of 40 by 30";
        assert_eq!(
            check(json!({"width": {"min": 40}, "height": {"max": 30}}), image).await,
            (true, "40 x 30 pixels".to_owned())
        );
        assert_eq!(
            check(json!({"width": {"max": 39}}), image).await,
            (false, "40 x 30 pixels; width: at most 39 allowed".to_owned())
        );
        assert_eq!(
            check(json!({"width": {"max": 39}}), b"%PDF-1.7 of 3 pages").await.1,
            "the check could not run: it is a PDF, and no image"
        );
        assert_eq!(Dimensions.problems(&json!({})).len(), 1);
    }
}
