//! Where in a text the parts of its value begin.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;

use crate::task_files;

/// The places of everything in a text. Of a text whose places cannot be read, only its beginning is known.
#[derive(Debug)]
pub(super) struct Places(Option<Node>);

/// A value of the text, without what it says.
#[derive(Debug)]
struct Node {
    line: u64,
    column: u64,
    inside: Inside,
}

#[derive(Debug)]
enum Inside {
    Object(Vec<(String, Node)>),
    List(Vec<Node>),
    Nothing,
}

impl Places {
    /// Reads them from YAML, of which JSON is a part.
    pub(super) fn read(source: &str) -> Self {
        let source = source.strip_prefix('\u{feff}').unwrap_or(source);
        Self(task_files::yaml_as(source).ok())
    }

    /// The line and column of the thing at a path, or of the last thing on the way to it that is there.
    pub(super) fn find(&self, path: &str) -> (u64, u64) {
        let Some(mut node) = self.0.as_ref() else { return (1, 1) };
        let mut rest = path;
        while let Some((next, after)) = node.step(rest) {
            (node, rest) = (next, after);
        }
        (node.line, node.column)
    }
}

impl Node {
    /// The thing one level down, and the rest of the path. A key may itself hold dots and brackets.
    fn step<'n, 'p>(&'n self, path: &'p str) -> Option<(&'n Self, &'p str)> {
        match &self.inside {
            Inside::Nothing => None,
            Inside::List(items) => {
                let (index, after) = path.strip_prefix('[')?.split_once(']')?;
                Some((items.get(index.parse::<usize>().ok()?)?, after))
            }
            Inside::Object(entries) => {
                let path = path.strip_prefix('.').unwrap_or(path);
                let fits = |(key, node): &'n (String, Self)| {
                    let rest = path.strip_prefix(key.as_str())?;
                    (!key.is_empty() && (rest.is_empty() || rest.starts_with(['.', '[']))).then_some((
                        key.len(),
                        node,
                        rest,
                    ))
                };
                let found = entries.iter().filter_map(fits).max_by_key(|(length, ..)| *length);
                found.map(|(_, node, rest)| (node, rest))
            }
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Inside>::deserialize(deserializer)?;
        Ok(Self {
            line: spanned.referenced.line().max(1),
            column: spanned.referenced.column().max(1),
            inside: spanned.value,
        })
    }
}

impl<'de> Deserialize<'de> for Inside {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(InsideVisitor)
    }
}

struct InsideVisitor;

impl<'de> Visitor<'de> for InsideVisitor {
    type Value = Inside;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Inside, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Inside::Object(entries))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Inside, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Inside::List(items))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Inside, E> {
        Ok(Inside::Nothing)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Inside, E> {
        Ok(Inside::Nothing)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Inside, E> {
        Ok(Inside::Nothing)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Inside, E> {
        Ok(Inside::Nothing)
    }

    fn visit_str<E>(self, _: &str) -> Result<Inside, E> {
        Ok(Inside::Nothing)
    }

    fn visit_unit<E>(self) -> Result<Inside, E> {
        Ok(Inside::Nothing)
    }

    fn visit_none<E>(self) -> Result<Inside, E> {
        Ok(Inside::Nothing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_place_or_the_last_one_on_the_way() {
        let places = Places::read("id: f\nsteps:\n  - id: a\n    reads: { x.y: 1, x: { z: [1, 2] } }\n  - id: b\n");
        assert_eq!(places.find(""), (1, 1));
        assert_eq!(places.find("id"), (1, 5));
        assert_eq!(places.find("steps[1].id"), (5, 9));
        assert_eq!(places.find("steps[0].reads.x.y"), (4, 19));
        assert_eq!(places.find("steps[0].reads.x.z[1]"), (4, 34));
        assert_eq!(places.find("steps[1].when"), (5, 5));
        assert_eq!(places.find("steps[7].when"), places.find("steps"));
    }

    #[test]
    fn json_has_places_too() {
        let places = Places::read("{\n  \"id\": \"f\",\n  \"steps\": [\n    { \"id\": \"a\" }\n  ]\n}\n");
        assert_eq!(places.find("steps[0].id"), (4, 13));
    }

    #[test]
    fn a_text_that_cannot_be_read_has_a_beginning() {
        assert_eq!(Places::read("a: [").find("a"), (1, 1));
    }
}
