//! The models of a flow: which it names, and whether it asks one at all.

use contract::flow::{Flow, FlowRun, FlowStep, GuardrailRule, RouteTarget, StepKind};

use crate::roles;

/// Writes every model of a flow as `provider:model`.
pub(crate) fn name_all(flow: &mut Flow, providers: &[String]) {
    let dialect = flow.dialect;
    each(flow, &mut |model| *model = roles::full_name(model, dialect, providers));
}

/// Lets this model answer for every other one of a flow.
pub(crate) fn replace_all(flow: &mut Flow, by: &str) {
    each(flow, &mut |model| by.clone_into(model));
    flow.model = Some(by.to_owned());
}

fn each(flow: &mut Flow, change: &mut impl FnMut(&mut String)) {
    flow.model.iter_mut().for_each(&mut *change);
    flow.steps.iter_mut().for_each(|step| each_of(step, change));
}

fn each_of(step: &mut FlowStep, change: &mut impl FnMut(&mut String)) {
    step.model.iter_mut().for_each(&mut *change);
    for route in step.routes.iter_mut().flatten() {
        if let RouteTarget::Finish(finish) = &mut route.target {
            let rewritten = finish.rewrite.as_mut().and_then(|rewrite| rewrite.model.as_mut());
            rewritten.into_iter().for_each(&mut *change);
        }
    }
    if let StepKind::Group(group) = &mut step.kind {
        group.steps.iter_mut().for_each(|step| each_of(step, change));
    }
}

/// Every model that a flow, or one that it refers to, names: `provider:model`, sorted.
pub(crate) fn named_in(run: &FlowRun) -> Vec<&str> {
    fn models<'a>(steps: &'a [FlowStep], found: &mut Vec<&'a str>) {
        for step in steps {
            found.extend(step.model.as_deref());
            for route in step.routes.iter().flatten() {
                if let RouteTarget::Finish(finish) = &route.target {
                    found.extend(finish.rewrite.as_ref().and_then(|rewrite| rewrite.model.as_deref()));
                }
            }
            if let StepKind::Group(group) = &step.kind {
                models(&group.steps, found);
            }
        }
    }
    let mut found = Vec::new();
    for flow in run.refs.values().chain([&run.flow]) {
        found.extend(flow.model.as_deref());
        models(&flow.steps, &mut found);
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The models that are given tools: those of its agents, where the flow says which.
pub(crate) fn calling_tools(run: &FlowRun) -> Vec<&str> {
    fn agents<'a>(steps: &'a [FlowStep], usual: Option<&'a str>, found: &mut Vec<&'a str>) {
        for step in steps {
            match &step.kind {
                // Where all that a tool is called with stands written, nobody is asked for it.
                StepKind::Agent(agent) if agent.tools.iter().any(|tool| !agent.args.contains_key(tool)) => {
                    found.extend(step.model.as_deref().or(usual));
                }
                StepKind::Group(group) => agents(&group.steps, usual, found),
                _ => {}
            }
        }
    }
    let mut found = Vec::new();
    for flow in run.refs.values().chain([&run.flow]) {
        agents(&flow.steps, flow.model.as_deref(), &mut found);
    }
    found
}

/// Whether any of its steps, answers or guardrails, or those of a flow that it refers to, asks a model.
pub(crate) fn asks_one(run: &FlowRun) -> bool {
    fn asks(step: &FlowStep) -> bool {
        let says_it_anew =
            |target: &RouteTarget| matches!(target, RouteTarget::Finish(finish) if finish.rewrite.is_some());
        let in_kind = match &step.kind {
            StepKind::Ask(_) | StepKind::Agent(_) | StepKind::Task(_) => true,
            StepKind::Answer(_) => step.model.is_some(),
            StepKind::Group(group) => group.steps.iter().any(asks),
            StepKind::Tool(_) | StepKind::Gate(_) | StepKind::Ref(_) => false,
        };
        in_kind || step.routes.iter().flatten().any(|route| says_it_anew(&route.target))
    }
    let mut flows = run.refs.values().chain([&run.flow]);
    flows.any(|flow| {
        let is_judged = |rule: &GuardrailRule| matches!(rule, GuardrailRule::Judged(_));
        flow.guardrails.iter().any(|guardrail| is_judged(&guardrail.rule)) || flow.steps.iter().any(asks)
    })
}
