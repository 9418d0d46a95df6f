//! `{{score}} >= 0.8 && {{status}} != draft`: what decides whether a step runs, a loop ends, a route is taken (flows
//! page, "Templates and conditions").
//!
//! A [`Condition`] is read once, when a flow is loaded, and decided any number of times in time linear in its length.
//! `&&` binds tighter than `||`. A side is a reference, or a literal: quoted, a number, true, false, null, or bare words.
//! Equality is strict by type; ordering is numeric, and false where a side is no number. A reference alone asks
//! whether it is truthy; one that leads nowhere is null. Everything else is an error with its place, never a silent truth:
//! `!`, parentheses, a single `=`, two sides without an operator, bare words or a number alone, `and`, `or` and `not`.
//!
//! Deliberately not here: arithmetic, functions and `not`; a step can compute what a condition then reads.

mod tokens;

use std::cmp::Ordering;
use std::fmt;

use serde_json::Value;

use self::tokens::{Token, tokens};
use crate::template::{Path, Scope, SyntaxError, bare, order, same, truthy};

/// A condition that was read and found right: it holds when in one of its alternatives every test holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    alternatives: Vec<Vec<Test>>,
}

/// One comparison, or one question for truth.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// Whether this is truthy: a reference, or `true` or `false`.
    Truthy(Side),
    /// Whether the two are so.
    Compare(Side, Comparison, Side),
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub enum Side {
    /// What the path leads to, or null.
    Reference(Path),
    /// Always this: a text, a number, true, false or null.
    Literal(Value),
}

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    Unequal,
    /// `>`
    More,
    /// `<`
    Less,
    /// `>=`
    AtLeast,
    /// `<=`
    AtMost,
}

impl Comparison {
    /// As it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::Unequal => "!=",
            Self::More => ">",
            Self::Less => "<",
            Self::AtLeast => ">=",
            Self::AtMost => "<=",
        }
    }

    fn holds(self, left: &Value, right: &Value) -> bool {
        let order = || order(left, right);
        match self {
            Self::Equal => same(left, right),
            Self::Unequal => !same(left, right),
            Self::More => order() == Some(Ordering::Greater),
            Self::Less => order() == Some(Ordering::Less),
            Self::AtLeast => order().is_some_and(Ordering::is_ge),
            Self::AtMost => order().is_some_and(Ordering::is_le),
        }
    }
}

impl Side {
    fn value<'s>(&'s self, scope: &'s dyn Scope) -> &'s Value {
        match self {
            Self::Reference(path) => path.find(scope).unwrap_or(&Value::Null),
            Self::Literal(value) => value,
        }
    }

    fn reference(&self) -> Option<&Path> {
        match self {
            Self::Reference(path) => Some(path),
            Self::Literal(_) => None,
        }
    }
}

impl Test {
    fn holds(&self, scope: &dyn Scope) -> bool {
        match self {
            Self::Truthy(side) => truthy(side.value(scope)),
            Self::Compare(left, comparison, right) => comparison.holds(left.value(scope), right.value(scope)),
        }
    }

    fn sides(&self) -> impl Iterator<Item = &Side> {
        let (left, right) = match self {
            Self::Truthy(side) => (side, None),
            Self::Compare(left, _, right) => (left, Some(right)),
        };
        std::iter::once(left).chain(right)
    }
}

impl Condition {
    /// Reads a condition.
    ///
    /// # Errors
    /// The first thing outside the grammar, with its place.
    pub fn parse(source: &str) -> Result<Self, SyntaxError> {
        let tokens = tokens(source)?;
        let mut reader = Reader {
            source,
            tokens: &tokens,
        };
        let mut alternatives = vec![vec![reader.test()?]];
        while let Some((token, at)) = reader.next() {
            match token {
                Token::And => {
                    let test = reader.test()?;
                    if let Some(tests) = alternatives.last_mut() {
                        tests.push(test);
                    }
                }
                Token::Or => alternatives.push(vec![reader.test()?]),
                other => return Err(reader.unexpected(other, *at)),
            }
        }
        Ok(Self { alternatives })
    }

    /// The condition that always says this.
    pub fn always(flag: bool) -> Self {
        Self {
            alternatives: vec![vec![Test::Truthy(Side::Literal(Value::Bool(flag)))]],
        }
    }

    /// Whether it holds.
    pub fn holds(&self, scope: &dyn Scope) -> bool {
        let all = |tests: &Vec<Test>| tests.iter().all(|test| test.holds(scope));
        self.alternatives.iter().any(all)
    }

    /// Everything it refers to, in order, with repetitions.
    pub fn references(&self) -> impl Iterator<Item = &Path> {
        self.sides().filter_map(Side::reference)
    }

    /// Every literal in it, in order.
    pub fn literals(&self) -> impl Iterator<Item = &Value> {
        self.sides().filter_map(|side| match side {
            Side::Literal(value) => Some(value),
            Side::Reference(_) => None,
        })
    }

    /// Whether it has a test that says the same in every scope.
    pub fn has_constant(&self) -> bool {
        let constant = |test: &Test| test.sides().all(|side| side.reference().is_none());
        self.alternatives.iter().flatten().any(constant)
    }

    fn sides(&self) -> impl Iterator<Item = &Side> {
        self.alternatives.iter().flatten().flat_map(Test::sides)
    }
}

struct Reader<'s> {
    source: &'s str,
    /// What is still to be read.
    tokens: &'s [(Token, usize)],
}

impl<'s> Reader<'s> {
    fn next(&mut self) -> Option<&'s (Token, usize)> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first)
    }

    fn test(&mut self) -> Result<Test, SyntaxError> {
        let (left, at, bare) = self.side()?;
        let Some((Token::Compare(comparison), _)) = self.tokens.first() else {
            return match &left {
                Side::Literal(Value::Bool(_)) if bare => Ok(Test::Truthy(left)),
                Side::Reference(_) => Ok(Test::Truthy(left)),
                Side::Literal(_) => Err(self.alone(&left, bare, at)),
            };
        };
        self.next();
        let (right, ..) = self.side()?;
        Ok(Test::Compare(left, *comparison, right))
    }

    /// One side, its place, and whether it is a bare word.
    fn side(&mut self) -> Result<(Side, usize, bool), SyntaxError> {
        match self.next() {
            Some((Token::Reference(path), at)) => Ok((Side::Reference(path.clone()), *at, false)),
            Some((Token::Quoted(text), at)) => Ok((Side::Literal(Value::String(text.clone())), *at, false)),
            Some((Token::Word(word), at)) => Ok((Side::Literal(self.words(word, *at)?), *at, true)),
            Some((other, at)) => Err(self.wrong(
                *at,
                format!("a reference or a value should stand before {}", other.symbol()),
            )),
            None if self.source.trim().is_empty() => Err(self.wrong(0, "the condition is empty")),
            None => Err(self.wrong(
                self.source.trim_end().len(),
                "the condition ends where a reference or a value should follow",
            )),
        }
    }

    /// What bare words mean, of which the first was read: they go on to the next sign.
    fn words(&mut self, first: &str, at: usize) -> Result<Value, SyntaxError> {
        let mut end = at + first.len();
        while let Some((Token::Word(word), next)) = self.tokens.first() {
            end = next + word.len();
            self.next();
        }
        bare(self.source, at, end)
    }

    fn alone(&self, side: &Side, bare: bool, at: usize) -> SyntaxError {
        match (side, self.tokens.first()) {
            (_, Some((Token::Reference(_) | Token::Quoted(_) | Token::Word(_), next))) => self.missing_operator(*next),
            (Side::Literal(Value::String(words)), _) if bare && words.contains(char::is_whitespace) => self.wrong(
                at,
                format!("\"{words}\" alone are only words: compare them with a {{{{reference}}}}"),
            ),
            (Side::Literal(Value::String(word)), _) if bare => self.wrong(
                at,
                format!("\"{word}\" alone is only a word: write {{{{{word}}}}} for the value of that name"),
            ),
            (side, _) => self.wrong(
                at,
                format!("{side} alone decides nothing: compare it with a {{{{reference}}}}"),
            ),
        }
    }

    fn unexpected(&self, token: &Token, at: usize) -> SyntaxError {
        match token {
            Token::Compare(comparison) => self.wrong(
                at,
                format!(
                    "a second {} in one comparison: join two comparisons with &&",
                    comparison.symbol()
                ),
            ),
            Token::Reference(_) | Token::Quoted(_) | Token::Word(_) => self.missing_operator(at),
            Token::And | Token::Or => self.wrong(at, format!("{} cannot stand there", token.symbol())),
        }
    }

    fn missing_operator(&self, at: usize) -> SyntaxError {
        self.wrong(at, "an operator is missing here: write ==, !=, >, <, >=, <=, && or ||")
    }

    fn wrong(&self, at: usize, message: impl Into<String>) -> SyntaxError {
        SyntaxError::new(self.source, at, message)
    }
}

/// So that reading it again gives the same condition.
impl fmt::Display for Condition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, tests) in self.alternatives.iter().enumerate() {
            if number > 0 {
                formatter.write_str(" || ")?;
            }
            for (number, test) in tests.iter().enumerate() {
                if number > 0 {
                    formatter.write_str(" && ")?;
                }
                write!(formatter, "{test}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Test {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truthy(side) => write!(formatter, "{side}"),
            Self::Compare(left, comparison, right) => write!(formatter, "{left} {} {right}", comparison.symbol()),
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reference(path) => write!(formatter, "{{{{{path}}}}}"),
            Self::Literal(Value::String(text)) => {
                let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
                write!(formatter, "\"{escaped}\"")
            }
            Self::Literal(value) => write!(formatter, "{value}"),
        }
    }
}

#[cfg(test)]
mod tests;
