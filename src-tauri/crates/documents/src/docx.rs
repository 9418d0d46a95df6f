//! Word documents: paragraphs, headings, lists and tables, as Markdown writes them. What was deleted and only tracked is
//! not there; what was inserted is. Headers, footers and comments are not read.

mod blocks;

use std::collections::HashMap;

use contract::ports::documents::{DocumentError, DocumentText, Format, Part};
use quick_xml::events::Event;

use crate::package::{Package, attribute, names, next, not_readable, open, part};
use blocks::{Blocks, Role};

const WHAT: &str = "Word document";

/// More words are not handed over, in bytes.
const MOST: usize = 8 * 1024 * 1024;

/// How many pages it says it has. Only the program that lays it out knows.
pub(crate) fn pages(bytes: &[u8]) -> Result<Option<u64>, DocumentError> {
    let mut package = open(bytes, WHAT)?;
    body(&mut package)?;
    let Some(mut xml) = part(&mut package, "docProps/app.xml", WHAT)? else {
        return Ok(None);
    };
    let (mut buffer, mut inside) = (Vec::new(), false);
    loop {
        match next(&mut xml, &mut buffer, WHAT)? {
            Event::Start(start) => inside = start.local_name().as_ref() == "Pages",
            Event::Text(text) if inside => return Ok(text.xml10_content().trim().parse().ok()),
            Event::Eof => return Ok(None),
            _ => {}
        }
    }
}

/// The words.
pub(crate) fn text(bytes: &[u8]) -> Result<DocumentText, DocumentError> {
    let mut package = open(bytes, WHAT)?;
    let (mut text, truncated) = body(&mut package)?;
    for (name, heading) in [("word/footnotes.xml", "Footnotes"), ("word/endnotes.xml", "Endnotes")] {
        let styles = HashMap::new();
        let (notes, _) = blocks_of(&mut package, name, &styles)?.unwrap_or_default();
        if !notes.trim().is_empty() && !truncated {
            text.push_str(&format!("\n\n{heading}:\n\n{notes}"));
        }
    }
    Ok(DocumentText {
        format: Format::Docx,
        parts: vec![Part {
            heading: None,
            notes: Vec::new(),
            text,
        }],
        truncated,
    })
}

fn body(package: &mut Package<'_>) -> Result<(String, bool), DocumentError> {
    let styles = roles(package)?;
    let main = main_part(package)?;
    blocks_of(package, &main, &styles)?.ok_or_else(|| not_readable(WHAT, &"it has no text part"))
}

/// The part with the text: nearly always `word/document.xml`.
fn main_part(package: &mut Package<'_>) -> Result<String, DocumentError> {
    const USUAL: &str = "word/document.xml";
    if names(package).iter().any(|name| name == USUAL) {
        return Ok(USUAL.to_owned());
    }
    let Some(mut xml) = part(package, "_rels/.rels", WHAT)? else {
        return Ok(USUAL.to_owned());
    };
    let mut buffer = Vec::new();
    loop {
        match next(&mut xml, &mut buffer, WHAT)? {
            Event::Start(start) if attribute(&start, "Type").is_some_and(|kind| kind.ends_with("/officeDocument")) => {
                let target = attribute(&start, "Target").unwrap_or_default();
                return Ok(target.trim_start_matches('/').to_owned());
            }
            Event::Eof => return Ok(USUAL.to_owned()),
            _ => {}
        }
    }
}

/// The styles that say what a paragraph is, by their ids. The ids are in the language of whoever wrote it, the names are
/// not.
fn roles(package: &mut Package<'_>) -> Result<HashMap<String, Role>, DocumentError> {
    let mut roles = HashMap::new();
    let Some(mut xml) = part(package, "word/styles.xml", WHAT)? else {
        return Ok(roles);
    };
    let (mut buffer, mut style) = (Vec::new(), None);
    loop {
        match next(&mut xml, &mut buffer, WHAT)? {
            Event::Start(start) => match start.local_name().as_ref() {
                "style" => style = attribute(&start, "styleId"),
                "name" => {
                    let name = attribute(&start, "val").unwrap_or_default().to_lowercase();
                    let role = match name.as_str() {
                        "title" => Some(Role::Heading(1)),
                        name if name.starts_with("list ") => Some(Role::Item),
                        name => name
                            .strip_prefix("heading ")
                            .and_then(|level| level.parse().ok())
                            .map(Role::Heading),
                    };
                    if let (Some(style), Some(role)) = (&style, role) {
                        roles.insert(style.clone(), role);
                    }
                }
                _ => {}
            },
            Event::Eof => return Ok(roles),
            _ => {}
        }
    }
}

/// The text of a part, and whether its end is left out.
fn blocks_of(
    package: &mut Package<'_>,
    name: &str,
    styles: &HashMap<String, Role>,
) -> Result<Option<(String, bool)>, DocumentError> {
    let Some(mut xml) = part(package, name, WHAT)? else {
        return Ok(None);
    };
    let mut blocks = Blocks::new(styles);
    let mut buffer = Vec::new();
    loop {
        match next(&mut xml, &mut buffer, WHAT)? {
            Event::Start(start) => blocks.begin(&start),
            Event::End(end) => blocks.end(end.local_name().as_ref()),
            Event::Text(text) => blocks.say(&text.xml10_content()),
            Event::CData(text) => blocks.say(&text.xml10_content()),
            Event::GeneralRef(reference) => {
                let character = crate::package::referred(&reference, WHAT)?;
                blocks.say(character.encode_utf8(&mut [0; 4]));
            }
            Event::Eof => break,
            _ => {}
        }
        if blocks.length() > MOST {
            return Ok(Some((blocks.finish(), true)));
        }
    }
    if !blocks.is_word() {
        return Err(not_readable(WHAT, &"its text part holds something else"));
    }
    Ok(Some((blocks.finish(), false)))
}
