//! What is wrong with a manifest.

use contract::error::Problem;
use engine::flow::reading::{FlowReading, Refs};
use engine::flow::{manifest, validate};
use serde_json::Value;

use crate::case::{Case, Outcome};
use crate::wording::{Likeness, likest};

/// Whether a manifest is valid, and if it is not, why.
pub(crate) fn validation(case: &Case) -> Result<Outcome, String> {
    let problems = problems(case)?;
    let expect = case.need("expect")?;
    let said = |warning: bool| -> Vec<String> {
        let of_kind = problems.iter().filter(|problem| problem.warning == warning);
        of_kind.map(ToString::to_string).collect()
    };
    let (errors, warnings) = (said(false), said(true));
    if let Some(valid) = expect.get("valid").and_then(Value::as_bool)
        && valid != errors.is_empty()
    {
        return Err(format!("valid is {}, with {errors:?}", !valid));
    }
    let mut worst = Likeness::Same;
    for (name, found) in [
        ("error", &errors),
        ("errors", &errors),
        ("warning", &warnings),
        ("warnings", &warnings),
    ] {
        for wanted in texts(expect.get(name)) {
            let likeness = likest(wanted, found).ok_or_else(|| format!("no {name} is \"{wanted}\" in {found:?}"))?;
            worst = worst.max(likeness);
        }
    }
    for wanted in texts(expect.get("path")).into_iter().chain(texts(expect.get("paths"))) {
        if !problems.iter().any(|problem| problem.path == wanted) {
            return Err(format!("no problem is at `{wanted}`: {problems:?}"));
        }
    }
    Ok(Outcome::by(worst))
}

fn problems(case: &Case) -> Result<Vec<Problem>, String> {
    let value: Value = match (case.get("manifest"), case.text("yaml")) {
        (Some(manifest), _) => manifest.clone(),
        (None, Some(yaml)) => match serde_saphyr::from_str(yaml) {
            Ok(value) => value,
            Err(error) => return Ok(vec![Problem::new("", format!("YAML syntax error: {error}"))]),
        },
        (None, None) => return Err("the case has no `yaml`".to_owned()),
    };
    let FlowReading { flow, mut problems } = manifest::read(&value);
    if let Some(flow) = flow {
        problems.extend(validate::problems(&flow, refs(case)?.as_ref()));
    }
    Ok(problems)
}

/// The agents that the case says there are.
fn refs(case: &Case) -> Result<Option<Refs>, String> {
    let Some(agents) = case.get("agents").and_then(Value::as_object) else {
        return Ok(None);
    };
    let read = |(id, agent): (&String, &Value)| -> Result<_, String> {
        let reading = manifest::read(agent);
        let flow = reading
            .flow
            .ok_or_else(|| format!("agent {id}: {:?}", reading.problems))?;
        Ok((id.clone(), flow))
    };
    agents.iter().map(read).collect::<Result<Refs, String>>().map(Some)
}

fn texts(value: Option<&Value>) -> Vec<&str> {
    match value {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(texts)) => texts.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}
