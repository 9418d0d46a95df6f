//! From a text to a template.

use serde_json::Value;

use super::path::Path;
use super::place::SyntaxError;
use super::values::{bare, quoted};
use super::{Part, Reference, Template, Test};

/// Reads a text; without `blocks`, a block is an error.
pub(super) fn parse(source: &str, blocks: bool) -> Result<Template, SyntaxError> {
    Reader {
        source,
        parts: Vec::new(),
        text: String::new(),
        open: Vec::new(),
        single: 0,
        blocks,
    }
    .read()
}

struct Reader<'s> {
    source: &'s str,
    parts: Vec<Part>,
    /// What was read and is not a part yet.
    text: String,
    /// The blocks that are open: the number of the part, and the byte.
    open: Vec<(usize, usize)>,
    /// Single braces that are open, as in an example of JSON: their closing ones may stand together.
    single: usize,
    blocks: bool,
}

impl Reader<'_> {
    fn read(mut self) -> Result<Template, SyntaxError> {
        let source = self.source;
        let mut at = 0;
        while let Some(found) = source[at..].find(['{', '}']).map(|found| at + found) {
            self.text.push_str(&source[at..found]);
            let rest = &source[found..];
            at = if (rest.starts_with("{{") || rest.starts_with("}}")) && self.text.ends_with('\\') {
                self.text.pop();
                self.text.push_str(&rest[..2]);
                self.single = if rest.starts_with('{') {
                    self.single + 2
                } else {
                    self.single.saturating_sub(2)
                };
                found + 2
            } else if rest.starts_with("{{") && !rest.starts_with("{{{") {
                self.tag(found)?
            } else {
                self.brace(found)?
            };
        }
        self.text.push_str(&source[at..]);
        self.flush();
        match self.open.first() {
            Some((_, at)) => Err(self.wrong(
                *at,
                "unmatched {{#if}}, unbalanced conditional: write {{/if}} where the block ends",
            )),
            None => Ok(Template {
                source: source.to_owned(),
                parts: self.parts,
            }),
        }
    }

    /// A brace that opens no tag.
    fn brace(&mut self, at: usize) -> Result<usize, SyntaxError> {
        let rest = &self.source[at..];
        if rest.starts_with("}}") && self.single < 2 {
            return Err(self.wrong(at, "unmatched }}: no {{ before it belongs to it"));
        }
        let opens = rest.starts_with('{');
        self.single = if opens {
            self.single + 1
        } else {
            self.single.saturating_sub(1)
        };
        self.text.push(if opens { '{' } else { '}' });
        Ok(at + 1)
    }

    /// What stands between two pairs of braces; the byte after them.
    fn tag(&mut self, at: usize) -> Result<usize, SyntaxError> {
        self.flush();
        let inside_at = at + 2;
        let rest = &self.source[inside_at..];
        let unmatched = || self.wrong(at, "unmatched {{: write }} where the reference ends");
        let length = closing(rest).ok_or_else(unmatched)?;
        let inside = &rest[..length];
        let text = inside.trim();
        let text_at = inside_at + (inside.len() - inside.trim_start().len());
        let end = inside_at + length + 2;
        match text.strip_prefix('#').or_else(|| text.strip_prefix('/')) {
            Some(_) if !self.blocks => Err(self.wrong(
                at,
                format!("{{{{{text}}}}} is for texts: here, write only {{{{a.reference}}}}"),
            )),
            Some(word) if text.starts_with('#') => self.begin(word, text_at + 1, at).map(|()| end),
            Some(word) => self.end(word, at).map(|()| end),
            None if text == "else" => {
                Err(self.wrong(at, "there is no {{else}}: write a second {{#if path != …}} block"))
            }
            None => {
                let path = Path::parse_at(self.source, text, text_at)?;
                self.parts.push(Part::Value(Reference { path, at }));
                Ok(end)
            }
        }
    }

    fn begin(&mut self, word: &str, word_at: usize, at: usize) -> Result<(), SyntaxError> {
        let Some(test) = word
            .strip_prefix("if")
            .filter(|test| test.is_empty() || test.starts_with(char::is_whitespace))
        else {
            return Err(self.wrong(
                at,
                format!("there is no {{{{#{word}}}}}: the only block is {{{{#if path}}}}"),
            ));
        };
        let test_at = word_at + 2 + (test.len() - test.trim_start().len());
        let test = self.test(test.trim(), test_at, at)?;
        self.open.push((self.parts.len(), at));
        self.parts.push(Part::If { test, end: 0 });
        Ok(())
    }

    fn end(&mut self, word: &str, at: usize) -> Result<(), SyntaxError> {
        if word.trim() != "if" {
            return Err(self.wrong(
                at,
                format!("there is no {{{{/{word}}}}}: a block ends with {{{{/if}}}}"),
            ));
        }
        let Some((begin, _)) = self.open.pop() else {
            return Err(self.wrong(
                at,
                "unmatched {{/if}}, unbalanced conditional: no {{#if}} before it is open",
            ));
        };
        let after = self.parts.len();
        if let Some(Part::If { end, .. }) = self.parts.get_mut(begin) {
            *end = after;
        }
        Ok(())
    }

    fn test(&self, text: &str, text_at: usize, at: usize) -> Result<Test, SyntaxError> {
        if text.is_empty() {
            return Err(self.wrong(at, "{{#if}} does not say what to look at: write {{#if path}}"));
        }
        let operator = text.find(['=', '!', '<', '>', '&', '|']);
        let (path, rest) = text.split_at(operator.unwrap_or(text.len()));
        let path = Path::parse_at(self.source, path.trim_end(), text_at)?;
        let reference = Reference { path, at };
        let Some(operator) = operator else {
            return Ok(Test {
                reference,
                literal: None,
            });
        };
        let (equal, right) = match (rest.strip_prefix("=="), rest.strip_prefix("!=")) {
            (Some(right), _) => (true, right),
            (_, Some(right)) => (false, right),
            _ => return Err(self.wrong(text_at + operator, "a block compares with == or != only")),
        };
        let right_at = text_at + operator + 2 + (right.len() - right.trim_start().len());
        let literal = self.literal(right.trim(), right_at)?;
        Ok(Test {
            reference,
            literal: Some((equal, literal)),
        })
    }

    fn literal(&self, text: &str, at: usize) -> Result<Value, SyntaxError> {
        match text.chars().next() {
            None => Err(self.wrong(at, "a value to compare with must follow")),
            Some('"' | '\'') => match quoted(text) {
                Some((said, end)) if end == text.len() => Ok(Value::String(said)),
                Some((_, end)) => Err(self.wrong(at + end, "nothing may follow the value to compare with")),
                None => Err(self.wrong(at, "the quotation mark is not closed")),
            },
            Some(_) => match text.find(|character: char| "{}()'\"=!<>&|".contains(character)) {
                Some(end) => Err(self.wrong(at + end, "write a value with signs in it between quotation marks")),
                None => bare(self.source, at, at + text.len()),
            },
        }
    }

    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.parts.push(Part::Text(std::mem::take(&mut self.text)));
        }
    }

    fn wrong(&self, at: usize, message: impl Into<String>) -> SyntaxError {
        SyntaxError::new(self.source, at, message)
    }
}

/// Where the braces close that are open: quotes may hold braces, and another opening pair comes too early.
fn closing(rest: &str) -> Option<usize> {
    let mut at = 0;
    // A quote that has no partner has none further on either: it is looked for once.
    let mut alone = Vec::new();
    while let Some(found) = rest[at..].find(['}', '{', '"', '\'']).map(|found| at + found) {
        let tail = &rest[found..];
        if tail.starts_with("}}") {
            return Some(found);
        }
        at = match tail.as_bytes().first() {
            Some(b'{') if tail.starts_with("{{") => return None,
            Some(quote @ (b'"' | b'\'')) if !alone.contains(quote) => match quoted(tail) {
                Some((_, end)) => found + end,
                None => {
                    alone.push(*quote);
                    found + 1
                }
            },
            _ => found + 1,
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_without_a_partner_is_looked_for_once() {
        // Looked for from every quote anew, this would take minutes.
        assert_eq!(closing(&"'\\".repeat(200_000)), None);
        assert_eq!(closing(" 'a}}' }}"), Some(7));
        assert_eq!(closing(" it's }}"), Some(6));
        assert_eq!(closing(" it's \"}}\" }}"), Some(11));
    }
}
