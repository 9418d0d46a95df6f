//! One thing that must hold for a result to pass.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use ts_rs::TS;

/// A criterion as it is written: a sentence, or an object that adds to one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(untagged)]
pub enum CriterionSpec {
    /// A sentence, judged by a model; saved as the sentence it was.
    Text(String),
    /// A sentence with a check or a weight.
    Full(FullCriterion),
}

/// The long form of a criterion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FullCriterion {
    /// The sentence.
    pub text: String,
    /// How the app checks it; a model judges it when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub check: Option<CheckSpec>,
    /// Whether the result fails without it (default true).
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    #[ts(optional, as = "Option<bool>")]
    pub required: bool,
    /// How much it counts in the score (default 1).
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[ts(optional, as = "Option<f64>")]
    pub weight: f64,
    /// Keys that this version does not know; kept as they are.
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Map<String, Value>,
}

fn yes() -> bool {
    true
}

fn is_yes(flag: &bool) -> bool {
    *flag
}

fn one() -> f64 {
    1.0
}

fn is_one(weight: &f64) -> bool {
    *weight == 1.0
}

/// Which check, with which arguments; written `{ words: { max: 400 } }`, or just `exists`.
#[derive(Debug, Clone, PartialEq, TS)]
#[ts(type = "string | { [name: string]: unknown }")]
pub struct CheckSpec {
    /// The registered name of the check.
    pub name: String,
    /// Its arguments, as its schema describes them.
    pub args: Value,
}

impl Serialize for CheckSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.args.is_null() {
            return serializer.serialize_str(&self.name);
        }
        Map::from_iter([(self.name.clone(), self.args.clone())]).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for CheckSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(&Value::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl CheckSpec {
    /// Reads the written form; the error says what would be right.
    pub fn read(value: &Value) -> Result<Self, String> {
        match value {
            Value::String(name) => Ok(Self {
                name: name.clone(),
                args: Value::Null,
            }),
            Value::Object(map) => match (map.len(), map.iter().next()) {
                (1, Some((name, args))) => Ok(Self {
                    name: name.clone(),
                    args: args.clone(),
                }),
                _ => Err("write one check, such as `words: { max: 400 }`".to_owned()),
            },
            _ => Err("write the name of a check, such as `not_empty`, or `words: { max: 400 }`".to_owned()),
        }
    }
}

/// Who decides a criterion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum DecidedBy {
    /// The app, exactly, for no tokens.
    App,
    /// A model, with evidence.
    Model,
}

/// A criterion of a task with its address, ready to be decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Criterion {
    /// The output's path (or `answer`) and an index: `report.md/0`; `report.md/exists` and `goal`
    /// are always there.
    pub id: String,
    /// The file it is about; none for a final answer or the goal as a whole.
    pub path: Option<String>,
    /// The sentence.
    pub text: String,
    /// How the app checks it.
    pub check: Option<CheckSpec>,
    /// Whether the result fails without it.
    pub required: bool,
    /// How much it counts in the score.
    pub weight: f64,
}

impl Criterion {
    /// The app decides what has a check; a model decides the rest.
    pub fn decided_by(&self) -> DecidedBy {
        match self.check {
            Some(_) => DecidedBy::App,
            None => DecidedBy::Model,
        }
    }
}
