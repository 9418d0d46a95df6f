//! Which schemas are taken: they refer to nothing but themselves, and come to an end on every value.

use std::collections::{HashMap, HashSet};

use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Value};

/// As many rules may apply to one value.
const RULES: u64 = 10_000;
/// As many references may lead on from one another.
const CHAIN: usize = 200;

/// The words that may stand at the top of a schema (JSON Schema 2020-12, and what older drafts had).
const WORDS: &str = " $schema $id $anchor $comment $defs $ref $vocabulary additionalItems additionalProperties allOf \
    anyOf const contains contentEncoding contentMediaType contentSchema default definitions dependencies \
    dependentRequired dependentSchemas deprecated description else enum examples exclusiveMaximum exclusiveMinimum \
    format if id items maxContains maxItems maxLength maxProperties maximum minContains minItems minLength \
    minProperties minimum multipleOf not oneOf pattern patternProperties prefixItems properties propertyNames \
    readOnly required then title type unevaluatedItems unevaluatedProperties uniqueItems writeOnly ";

/// The schema ready to be used, or why it is none.
pub(super) fn compile(schema: &Value) -> Result<Validator, String> {
    let unknown = |key: &&String| !WORDS.contains(&format!(" {key} "));
    if let Some(key) = schema.as_object().and_then(|schema| schema.keys().find(unknown)) {
        return Err(format!("\"{key}\" is not a word of JSON Schema"));
    }
    let mut ends = Ends {
        root: schema,
        known: HashMap::new(),
        open: HashSet::new(),
    };
    ends.look(schema)?;
    jsonschema::options()
        .offline()
        .with_pattern_options(PatternOptions::regex())
        .build(schema)
        .map_err(|error| format!("this is not a JSON Schema: {error}"))
}

/// Counts the rules that apply to one and the same value.
struct Ends<'schema> {
    root: &'schema Value,
    known: HashMap<*const Value, u64>,
    open: HashSet<*const Value>,
}

impl<'schema> Ends<'schema> {
    /// Every schema in this value.
    fn look(&mut self, value: &'schema Value) -> Result<(), String> {
        match value {
            Value::Object(fields) => {
                self.rules(value)?;
                let data = ["enum", "const", "default", "examples"];
                let mut inner = fields.iter().filter(|(key, _)| !data.contains(&key.as_str()));
                inner.try_for_each(|(_, value)| self.look(value))
            }
            Value::Array(items) => items.iter().try_for_each(|item| self.look(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
        }
    }

    fn rules(&mut self, schema: &'schema Value) -> Result<u64, String> {
        let Value::Object(fields) = schema else { return Ok(1) };
        let place: *const Value = schema;
        if let Some(rules) = self.known.get(&place) {
            return Ok(*rules);
        }
        if !self.open.insert(place) {
            return Err("a reference in it leads back to itself".to_owned());
        }
        if self.open.len() > CHAIN {
            return Err("its references lead on too many times".to_owned());
        }
        let mut rules = 1_u64;
        for inner in self.on_the_same_value(fields)? {
            rules = rules.saturating_add(self.rules(inner)?);
        }
        if rules > RULES {
            return Err("it asks too many rules of one value".to_owned());
        }
        self.open.remove(&place);
        self.known.insert(place, rules);
        Ok(rules)
    }

    /// The schemas that are asked of the same value as this one.
    fn on_the_same_value(&self, fields: &'schema Map<String, Value>) -> Result<Vec<&'schema Value>, String> {
        let mut inner = Vec::new();
        for (key, value) in fields {
            match (key.as_str(), value) {
                ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(reference)) => {
                    inner.push(self.resolve(key, reference)?);
                }
                ("$id", Value::String(_)) if !std::ptr::eq(fields, self.root.as_object().unwrap_or(fields)) => {
                    return Err("only the schema as a whole may have an $id".to_owned());
                }
                ("allOf" | "anyOf" | "oneOf", Value::Array(several)) => inner.extend(several),
                ("not" | "if" | "then" | "else", one) => inner.push(one),
                ("dependentSchemas" | "dependencies", Value::Object(several)) => inner.extend(several.values()),
                _ => {}
            }
        }
        Ok(inner)
    }

    fn resolve(&self, key: &str, reference: &str) -> Result<&'schema Value, String> {
        let pointer = reference
            .strip_prefix('#')
            .filter(|pointer| key == "$ref" && (pointer.is_empty() || pointer.starts_with('/')));
        let Some(pointer) = pointer else {
            return Err(format!(
                "a schema refers to nothing but itself, such as #/$defs/name, and not to \"{reference}\""
            ));
        };
        let found = self.root.pointer(&pointer.replace("%24", "$").replace("%20", " "));
        found.ok_or_else(|| format!("\"{reference}\" leads nowhere"))
    }
}
