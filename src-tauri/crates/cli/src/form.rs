//! A question with a form, field by field, for somebody at a keyboard. The form is a JSON Schema; what a field of a more
//! intricate kind takes is typed as JSON. Whether the whole fits, the flow decides, and asks again.

use serde_json::Value;

/// A field.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Field {
    pub(crate) name: String,
    title: String,
    hint: String,
    kind: Kind,
    is_required: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Text,
    Number,
    Whole,
    YesNo,
    Choice(Vec<Value>),
    Json,
}

/// The fields of a form; none when it asks for one thing only.
pub(crate) fn fields(schema: &Value) -> Vec<Field> {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|one| one == name));
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Vec::new();
    };
    let field = |(name, field): (&String, &Value)| Field {
        title: field.get("title").and_then(Value::as_str).unwrap_or(name).to_owned(),
        hint: field
            .get("description")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        kind: kind(field),
        is_required: is_required(name),
        name: name.clone(),
    };
    properties.iter().map(field).collect()
}

fn kind(field: &Value) -> Kind {
    if let Some(choices) = field.get("enum").and_then(Value::as_array) {
        return Kind::Choice(choices.clone());
    }
    match field.get("type").and_then(Value::as_str) {
        Some("string") => Kind::Text,
        Some("number") => Kind::Number,
        Some("integer") => Kind::Whole,
        Some("boolean") => Kind::YesNo,
        _ => Kind::Json,
    }
}

impl Field {
    /// What is asked: `Name (a number)`.
    pub(crate) fn question(&self) -> String {
        let takes = match &self.kind {
            Kind::Text => String::new(),
            Kind::Number => "a number".to_owned(),
            Kind::Whole => "a whole number".to_owned(),
            Kind::YesNo => "yes or no".to_owned(),
            Kind::Choice(choices) => choices.iter().map(words).collect::<Vec<_>>().join(", "),
            Kind::Json => "as JSON".to_owned(),
        };
        let may = if self.is_required { "" } else { "may be empty" };
        let notes: Vec<&str> = [self.hint.as_str(), &takes, may]
            .into_iter()
            .filter(|note| !note.is_empty())
            .collect();
        match notes.is_empty() {
            true => self.title.clone(),
            false => format!("{} ({})", self.title, notes.join("; ")),
        }
    }

    /// What was typed as the field's value; none when it is left empty.
    ///
    /// # Errors
    /// What would be understood.
    pub(crate) fn read(&self, line: &str) -> Result<Option<Value>, String> {
        let typed = line.trim();
        if typed.is_empty() {
            return match self.is_required {
                true => Err("This has to be answered.".to_owned()),
                false => Ok(None),
            };
        }
        let value = match &self.kind {
            Kind::Text => Some(Value::from(typed)),
            Kind::Number => typed
                .parse::<f64>()
                .ok()
                .filter(|number| number.is_finite())
                .map(Value::from),
            Kind::Whole => typed.parse::<i64>().ok().map(Value::from),
            Kind::YesNo => match typed.to_lowercase().as_str() {
                "y" | "yes" | "true" => Some(Value::from(true)),
                "n" | "no" | "false" => Some(Value::from(false)),
                _ => None,
            },
            Kind::Choice(choices) => choices
                .iter()
                .find(|choice| words(choice).eq_ignore_ascii_case(typed))
                .cloned(),
            Kind::Json => serde_json::from_str(typed).ok(),
        };
        value
            .map(Some)
            .ok_or_else(|| format!("That is not understood: {}", self.question()))
    }
}

fn words(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_form_is_asked_field_by_field() {
        let form = fields(&json!({
            "type": "object", "required": ["name", "warm"],
            "properties": {
                "name": { "type": "string", "description": "whose letter" },
                "warm": { "type": "boolean" },
                "pages": { "type": "integer" },
                "share": { "type": "number" },
                "tone": { "enum": ["kind", "plain", 3] },
                "more": { "type": "array" },
            },
        }));
        let questions: Vec<String> = form.iter().map(Field::question).collect();
        let expected = [
            "name (whose letter)",
            "warm (yes or no)",
            "pages (a whole number; may be empty)",
            "share (a number; may be empty)",
            "tone (kind, plain, 3; may be empty)",
            "more (as JSON; may be empty)",
        ];
        assert_eq!(questions, expected);
        let [name, warm, pages, share, tone, more] = form.as_slice() else {
            panic!("there are six")
        };
        assert_eq!(name.read(" Ada\n"), Ok(Some(json!("Ada"))));
        assert!(name.read("\n").is_err());
        assert_eq!(warm.read("No"), Ok(Some(json!(false))));
        assert!(warm.read("perhaps").is_err());
        assert_eq!((pages.read(""), pages.read("3")), (Ok(None), Ok(Some(json!(3)))));
        assert!(pages.read("3.5").is_err() && share.read("NaN").is_err());
        assert_eq!(
            (tone.read("KIND"), tone.read("3")),
            (Ok(Some(json!("kind"))), Ok(Some(json!(3))))
        );
        assert!(tone.read("loud").is_err());
        assert_eq!(more.read("[1]"), Ok(Some(json!([1]))));
    }

    #[test]
    fn one_thing_is_no_form() {
        assert_eq!(fields(&json!({ "type": "integer" })), []);
        assert_eq!(fields(&json!({})), []);
    }
}
