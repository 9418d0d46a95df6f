//! The words and signs of a condition.

use super::Comparison;
use crate::template::{Path, SyntaxError, quoted};

/// One of them.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// `{{path}}`
    Reference(Path),
    /// A text between quotation marks, without them.
    Quoted(String),
    /// A number, true, false, null, or any other word.
    Word(String),
    Compare(Comparison),
    And,
    Or,
}

impl Token {
    /// How it is called in a message.
    pub(super) fn symbol(&self) -> &str {
        match self {
            Self::Reference(_) => "the reference",
            Self::Quoted(_) => "the text",
            Self::Word(word) => word,
            Self::Compare(comparison) => comparison.symbol(),
            Self::And => "&&",
            Self::Or => "||",
        }
    }
}

/// The signs, the longer ones first.
const SIGNS: [(&str, Token); 8] = [
    ("==", Token::Compare(Comparison::Equal)),
    ("!=", Token::Compare(Comparison::Unequal)),
    (">=", Token::Compare(Comparison::AtLeast)),
    ("<=", Token::Compare(Comparison::AtMost)),
    ("&&", Token::And),
    ("||", Token::Or),
    (">", Token::Compare(Comparison::More)),
    ("<", Token::Compare(Comparison::Less)),
];

/// All of them, each with the byte where it begins.
pub(super) fn tokens(source: &str) -> Result<Vec<(Token, usize)>, SyntaxError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    loop {
        let rest = &source[at..];
        let trimmed = rest.trim_start();
        at += rest.len() - trimmed.len();
        if trimmed.is_empty() {
            return Ok(tokens);
        }
        let (token, length) = token(source, trimmed, at)?;
        tokens.push((token, at));
        at += length;
    }
}

fn token(source: &str, rest: &str, at: usize) -> Result<(Token, usize), SyntaxError> {
    let wrong = |message: String| Err(SyntaxError::new(source, at, message));
    if let Some(inside) = rest.strip_prefix("{{") {
        let Some(length) = inside.find("}}") else {
            return wrong("unmatched {{: write }} where the reference ends".to_owned());
        };
        let inside = &inside[..length];
        let text_at = at + 2 + (inside.len() - inside.trim_start().len());
        let path = Path::parse_at(source, inside.trim(), text_at)?;
        return Ok((Token::Reference(path), length + 4));
    }
    if rest.starts_with(['"', '\'']) {
        return match quoted(rest) {
            Some((text, length)) => Ok((Token::Quoted(text), length)),
            None => wrong("the quotation mark is not closed".to_owned()),
        };
    }
    if let Some((sign, token)) = SIGNS.iter().find(|(sign, _)| rest.starts_with(sign)) {
        // `===` and `!==` of other languages, and `=>`.
        return match rest[sign.len()..].starts_with('=') {
            true => wrong(format!(
                "there is no {sign}=: write == or != to compare, >= or <= to order"
            )),
            false => Ok((token.clone(), sign.len())),
        };
    }
    match rest.chars().next() {
        Some('=') => wrong("a single = is no comparison: write ==".to_owned()),
        Some('!') => wrong("there is no !: compare with == false, or write the opposite comparison".to_owned()),
        Some('&' | '|') => wrong("a single & or | joins nothing: write && or ||".to_owned()),
        Some('(' | ')') => {
            wrong("there are no parentheses: && is decided before ||, and a step can decide more".to_owned())
        }
        Some('{' | '}') => wrong("unmatched brace: a reference is written {{path}}".to_owned()),
        _ => {
            let end = rest.find(|character: char| character.is_whitespace() || "{}()=!<>&|'\"".contains(character));
            let word = &rest[..end.unwrap_or(rest.len())];
            Ok((Token::Word(word.to_owned()), word.len()))
        }
    }
}
