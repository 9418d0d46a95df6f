//! A plan: the steps a model proposes for one cycle (seed *tepa-pipeline-in-detail*, "Planner").

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::hash::{Hash, NotCanonical};

/// Steps in the planner's order, with its reasons.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// The steps.
    pub steps: Vec<PlanStep>,
    /// The planner's estimate for carrying them out.
    pub estimated_tokens: f64,
    /// Why the plan is as it is.
    pub reasoning: String,
}

/// One unit of work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PlanStep {
    /// Unique within the plan.
    pub id: String,
    /// A few words for the graph; the description when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub name: Option<String>,
    /// What the step does.
    pub description: String,
    /// The tools it calls, in order; none makes it a reasoning step.
    pub tools: Vec<String>,
    /// What success looks like.
    pub expected_outcome: String,
    /// The steps whose outputs it receives.
    pub dependencies: Vec<String>,
    /// Results of earlier cycles that it receives, such as `cycle_1.step_3`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub inputs: Vec<String>,
    /// The model for this step alone; wins over the tier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub model: Option<String>,
    /// Which of the two executor models does it.
    #[serde(default, skip_serializing_if = "Tier::is_low")]
    #[ts(as = "Option<Tier>", optional)]
    pub tier: Tier,
    /// How it uses its tools.
    #[serde(default, skip_serializing_if = "Mode::is_each_once")]
    #[ts(as = "Option<Mode>", optional)]
    pub mode: Mode,
    /// The most rounds of a free step; 10 when it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub max_rounds: Option<u32>,
    /// Complete arguments by tool name; where they are given no model is asked for them.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    #[ts(type = "{ [tool: string]: unknown }", optional)]
    pub args: IndexMap<String, Value>,
}

/// How much thought a step needs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Mechanical work.
    #[default]
    Low,
    /// Reasoning.
    High,
}

/// How a step uses its tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Each once, in order.
    #[default]
    EachOnce,
    /// As a model likes, in rounds: it looks, acts and looks again.
    Free,
}

impl Mode {
    fn is_each_once(&self) -> bool {
        *self == Self::EachOnce
    }
}

impl Tier {
    fn is_low(&self) -> bool {
        *self == Self::Low
    }
}

impl PlanStep {
    /// What the graph writes on the node.
    pub fn title(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.description)
    }
}

impl Plan {
    /// The address that an approval binds.
    pub fn hash(&self) -> Result<Hash, NotCanonical> {
        Hash::of_value(&serde_json::to_value(self).unwrap_or_default())
    }
}
