//! Where the links of a document lead.

use std::collections::HashMap;

use contract::ports::files::{Files, FilesError};

use super::document::{Document, Link};
use crate::phrases::{count, quote, some_of};

/// Where a link leads.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Somewhere,
    Nowhere,
    Outside,
    Web,
}

/// Every link of a document at this path finds its file or heading; the evidence either way.
pub(super) async fn resolve(document: &Document, path: &str, files: &dyn Files) -> Result<String, String> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let (mut there, mut web) = (0, 0);
    let mut wrong = Vec::new();
    // Many links lead to the same file.
    let mut known: HashMap<String, End> = HashMap::new();
    for link in &document.links {
        let end = match direct(document, link) {
            Some(end) => end,
            None => {
                let to = file(folder, &link.to);
                match known.get(&to) {
                    Some(end) => *end,
                    None => {
                        let end = look(&to, files).await;
                        known.insert(to, end);
                        end
                    }
                }
            }
        };
        let said = |what: &str| format!("line {}: the link to {} {what}", link.line, quote(&link.to));
        match end {
            End::Somewhere => there += 1,
            End::Web => web += 1,
            End::Nowhere => wrong.push(said("leads nowhere")),
            End::Outside => wrong.push(said("leads out of the working folder")),
        }
    }
    let note = match web {
        0 => String::new(),
        1 => " (1 to the web was not followed)".to_owned(),
        several => format!(" ({several} to the web were not followed)"),
    };
    if wrong.is_empty() {
        let verb = if there == 1 { "leads" } else { "lead" };
        Ok(format!("{} {verb} somewhere{note}", count(there, "link", "links")))
    } else {
        Err(format!("{}{note}", some_of(&wrong, "; ")))
    }
}

/// Where a link leads, if that can be told without looking into the folder.
fn direct(document: &Document, link: &Link) -> Option<End> {
    if link.undefined || link.to.is_empty() {
        return Some(End::Nowhere);
    }
    if let Some(name) = link.to.strip_prefix('#') {
        let name = decoded(name);
        let there =
            name.is_empty() || document.anchors.contains(&name) || document.anchors.contains(&name.to_lowercase());
        return Some(if there { End::Somewhere } else { End::Nowhere });
    }
    let has_scheme = link.to.split_once(':').is_some_and(|(scheme, _)| {
        scheme.len() > 1
            && scheme
                .chars()
                .all(|sign| sign.is_ascii_alphanumeric() || matches!(sign, '+' | '.' | '-'))
    });
    (has_scheme || link.to.starts_with("//")).then_some(End::Web)
}

/// The path of a link's file in the working folder.
fn file(folder: &str, to: &str) -> String {
    let to = to.split(['#', '?']).next().unwrap_or(to);
    let to = decoded(to);
    match to.strip_prefix('/') {
        Some(from_the_top) => from_the_top.to_owned(),
        None if folder.is_empty() => to,
        None => format!("{folder}/{to}"),
    }
}

async fn look(path: &str, files: &dyn Files) -> End {
    match files.stat(path).await {
        Ok(Some(_)) => End::Somewhere,
        Err(FilesError::Outside(_)) => End::Outside,
        Ok(None) | Err(_) => End::Nowhere,
    }
}

/// `%20` and the like as what they stand for.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let hex = text.get(at + 1..at + 3).filter(|_| *byte == b'%');
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(decoded) => {
                plain.push(decoded);
                at += 3;
            }
            None => {
                plain.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8(plain).unwrap_or_else(|_| text.to_owned())
}
