//! Two runs side by side.

use app::compare::{Comparison, Definition, Side};
use app::{App, Config};
use contract::AppError;
use contract::evaluation::CriterionVerdict;
use contract::run::RunStatus;

use crate::Exit;
use crate::arguments::CompareArguments;
use crate::history::find;
use crate::paint::{Screen, clean, count, duration, number};

/// `tepa compare RUN RUN`.
pub(crate) async fn runs(arguments: CompareArguments) -> Result<Exit, AppError> {
    let app = App::open(Config::default()).await?;
    let (left, right) = (find(&app, &arguments.left).await?, find(&app, &arguments.right).await?);
    let comparison = app.compare(&left, &right).await?;
    app.close().await?;
    let screen = Screen::out();
    if arguments.json {
        screen.document(&comparison);
    } else {
        tell(screen, &comparison);
    }
    Ok(Exit::Pass)
}

fn tell(screen: Screen, comparison: &Comparison) {
    side(screen, "1", &comparison.left);
    side(screen, "2", &comparison.right);
    if !comparison.same_task {
        screen.line(&screen.yellow("They were given different tasks."));
    }
    screen.line("");
    screen.line(&screen.bold("Criteria"));
    for criterion in &comparison.criteria {
        let marks = format!("{} {}", mark(screen, criterion.left), mark(screen, criterion.right));
        screen.line(&format!("  {marks}  {}", clean(&criterion.text)));
    }
    for plan in &comparison.plans {
        screen.line("");
        let same = if plan.same { "  the same in both" } else { "" };
        screen.line(&format!(
            "{}{same}",
            screen.bold(&format!("Plan of cycle {}", plan.cycle))
        ));
        for step in &plan.steps {
            let what = match (step.definition, step.same_output) {
                (Definition::OnlyLeft, _) => screen.yellow("only in 1"),
                (Definition::OnlyRight, _) => screen.yellow("only in 2"),
                (Definition::Changed, Some(true)) => "planned differently, the same output".to_owned(),
                (Definition::Changed, _) => screen.yellow("planned differently"),
                (Definition::Same, Some(true)) => screen.dim("the same, with the same output"),
                (Definition::Same, Some(false)) => "the same, with another output".to_owned(),
                (Definition::Same, None) => screen.dim("the same"),
            };
            screen.line(&format!("  {}  {what}", clean(&step.id)));
        }
    }
    screen.line("");
    screen.line(&screen.bold("Results"));
    for output in &comparison.outputs {
        let what = match (&output.left, &output.right) {
            (Some(_), Some(_)) if output.same => screen.dim("the same"),
            (Some(_), Some(_)) => screen.yellow("different"),
            (Some(_), None) => screen.yellow("only in 1"),
            (None, _) => screen.yellow("only in 2"),
        };
        screen.line(&format!("  {}  {what}", clean(&output.path)));
    }
}

fn side(screen: Screen, name: &str, side: &Side) {
    let status = match side.status {
        RunStatus::Pass => screen.green("passed"),
        RunStatus::Fail => screen.red("failed"),
        RunStatus::Terminated => screen.yellow("stopped"),
        RunStatus::Running | RunStatus::Waiting | RunStatus::Paused => screen.yellow("not at its end"),
    };
    let facts = format!(
        "{}, {} tokens, {}, {}",
        count(u64::from(side.cycles), "cycle", "cycles"),
        number(side.tokens_used),
        duration(side.duration_ms),
        clean(&side.models.join(", "))
    );
    screen.line(&format!("{name}  {}  {status}", screen.bold(&clean(&side.title))));
    screen.line(&format!("   {facts}"));
    screen.line(&screen.dim(&format!("   {}", side.run_id)));
}

fn mark(screen: Screen, verdict: Option<CriterionVerdict>) -> String {
    match verdict {
        Some(CriterionVerdict::Pass) => screen.green("✓"),
        Some(CriterionVerdict::Fail) => screen.red("✗"),
        Some(CriterionVerdict::Unknown) => screen.yellow("?"),
        Some(CriterionVerdict::NotJudged) => screen.dim("–"),
        None => " ".to_owned(),
    }
}
