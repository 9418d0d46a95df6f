//! One case of a group, and what became of it.

use serde_json::Value;

use crate::wording::Likeness;

/// How a case ended that did not fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It was run, and all it expects is so.
    Passed,
    /// The same, but that what is wrong is said in other words than the expected ones.
    InOtherWords,
    /// It is prose; this test of the repository covers it.
    Stated(&'static str),
}

impl Outcome {
    /// It passed, its errors being alike in this way.
    pub fn by(likeness: Likeness) -> Self {
        match likeness {
            Likeness::Same => Self::Passed,
            Likeness::OtherWords => Self::InOtherWords,
        }
    }
}

/// Runs one case of a group. The error says what is not as it should be.
pub type Check = fn(&Case) -> Result<Outcome, String>;

/// The groups of a system with what runs them.
pub type Groups = &'static [(&'static str, Check)];

/// A case among the cases of its group.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// All cases of the group, in the order of the file.
    pub group: &'a [Value],
    /// This one.
    pub value: &'a Value,
}

impl<'a> Case<'a> {
    /// What the case is called in its group.
    pub fn id(&self) -> &'a str {
        self.text("id").unwrap_or("(no id)")
    }

    /// A field, when it is there; null is a value.
    pub fn get(&self, field: &str) -> Option<&'a Value> {
        self.value.get(field)
    }

    /// A field that the case cannot do without.
    ///
    /// # Errors
    /// It is not there.
    pub fn need(&self, field: &str) -> Result<&'a Value, String> {
        self.get(field).ok_or_else(|| format!("the case has no `{field}`"))
    }

    /// A field that holds text.
    pub fn text(&self, field: &str) -> Option<&'a str> {
        self.get(field)?.as_str()
    }

    /// A field that holds text and cannot be missing.
    ///
    /// # Errors
    /// It is not there, or no text.
    pub fn need_text(&self, field: &str) -> Result<&'a str, String> {
        let value = self.need(field)?;
        value.as_str().ok_or_else(|| format!("`{field}` is no text"))
    }

    /// A field that holds a list and cannot be missing.
    ///
    /// # Errors
    /// It is not there, or no list.
    pub fn need_list(&self, field: &str) -> Result<&'a Vec<Value>, String> {
        let value = self.need(field)?;
        value.as_array().ok_or_else(|| format!("`{field}` is no list"))
    }

    /// Whether the case only states a rule, having none of the fields that could be run.
    pub fn is_prose(&self, runnable: &[&str]) -> bool {
        ["rule", "what"].iter().any(|field| self.get(field).is_some())
            && runnable.iter().all(|field| self.get(field).is_none())
    }

    /// Whether the case is words alone: a rule, and nothing that any group could run.
    pub fn is_only_words(&self) -> bool {
        const WORDS: [&str; 9] = [
            "id",
            "rule",
            "what",
            "note",
            "why",
            "source",
            "authority",
            "expect",
            "see",
        ];
        ["rule", "what"].iter().any(|field| self.get(field).is_some())
            && self
                .value
                .as_object()
                .is_some_and(|case| case.keys().all(|key| WORDS.contains(&key.as_str())))
    }

    /// The case of the group that is run before this one.
    ///
    /// # Errors
    /// `after` names a case that is not there, or this case itself.
    pub fn after(&self) -> Result<Option<Case<'a>>, String> {
        let Some(id) = self.text("after") else { return Ok(None) };
        let found = self.group.iter().find(|other| other["id"] == id);
        match found {
            Some(value) if id != self.id() => Ok(Some(Case {
                group: self.group,
                value,
            })),
            _ => Err(format!("there is no case `{id}` to run first")),
        }
    }

    /// All cases that are run before this one, the first first, and then this one.
    ///
    /// # Errors
    /// `after` names a case that is not there, or leads in a circle.
    pub fn chain(&self) -> Result<Vec<Case<'a>>, String> {
        let mut chain = vec![*self];
        while let Some(before) = chain[chain.len() - 1].after()? {
            if chain.len() > self.group.len() {
                return Err("`after` leads in a circle".to_owned());
            }
            chain.push(before);
        }
        chain.reverse();
        Ok(chain)
    }
}
