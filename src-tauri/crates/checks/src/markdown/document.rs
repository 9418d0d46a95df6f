//! A document in Markdown, reduced to what can be asked of it.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use pulldown_cmark::{BrokenLink, CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd};
use regex::Regex;

/// What is in a document.
#[derive(Default)]
pub(super) struct Document {
    /// In their order.
    pub(super) headings: Vec<Heading>,
    /// Links and images, in their order.
    pub(super) links: Vec<Link>,
    /// The names that a link in the document can lead to.
    pub(super) anchors: HashSet<String>,
    /// How many tables there are.
    pub(super) tables: usize,
    /// How many blocks of code there are.
    pub(super) code_blocks: usize,
}

/// A heading.
pub(super) struct Heading {
    /// From 1.
    pub(super) line: usize,
    /// From 1 to 6.
    pub(super) level: u8,
    /// Without signs and with single spaces.
    pub(super) text: String,
}

/// A link or an image.
pub(super) struct Link {
    /// From 1.
    pub(super) line: usize,
    /// As it is written.
    pub(super) to: String,
    /// Whether it refers to a definition that is not there.
    pub(super) undefined: bool,
}

/// Names in HTML that a link can lead to.
static NAMED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?i)<[^>]*?\b(?:id|name)\s*=\s*["']([^"']+)["']"#).ok());

/// A definition that is not there leads to this, with its name after it.
const UNDEFINED: &str = "undefined:";

impl Document {
    /// Reads a document. Any text is one.
    pub(super) fn read(text: &str) -> Self {
        let lines: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
        let line = |at: usize| lines.partition_point(|end| *end < at) + 1;
        let undefined = |link: BrokenLink<'_>| {
            let explicit = matches!(link.link_type, LinkType::Reference | LinkType::Collapsed);
            explicit.then(|| (CowStr::from(format!("{UNDEFINED}{}", link.reference)), CowStr::from("")))
        };
        let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES;
        let parser = Parser::new_with_broken_link_callback(text, options, Some(undefined));
        let mut document = Self::default();
        let mut heading: Option<Heading> = None;
        for (event, range) in parser.into_offset_iter() {
            match event {
                Event::Start(Tag::Heading { level, id, .. }) => {
                    document.anchors.extend(id.map(|id| id.to_string()));
                    heading = Some(Heading {
                        line: line(range.start),
                        level: number(level),
                        text: String::new(),
                    });
                }
                Event::End(TagEnd::Heading(_)) => document.headings.extend(heading.take().map(tidy)),
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    let undefined = dest_url.strip_prefix(UNDEFINED);
                    document.links.push(Link {
                        line: line(range.start),
                        to: undefined.unwrap_or(&dest_url).to_owned(),
                        undefined: undefined.is_some(),
                    });
                }
                Event::Start(Tag::Table(_)) => document.tables += 1,
                Event::Start(Tag::CodeBlock(_)) => document.code_blocks += 1,
                Event::Text(words) | Event::Code(words) => {
                    if let Some(heading) = &mut heading {
                        heading.text.push_str(&words);
                    }
                }
                Event::SoftBreak | Event::HardBreak => {
                    if let Some(heading) = &mut heading {
                        heading.text.push(' ');
                    }
                }
                Event::Html(html) | Event::InlineHtml(html) => document.anchors.extend(names_in(&html)),
                _ => {}
            }
        }
        document.name_headings();
        document
    }

    /// Headings are led to as GitHub does it: the second of the same name is `name-1`.
    fn name_headings(&mut self) {
        let mut seen: HashMap<String, usize> = HashMap::new();
        for heading in &self.headings {
            let name = slug(&heading.text);
            let times = seen.entry(name.clone()).or_default();
            self.anchors.insert(match *times {
                0 => name,
                times => format!("{name}-{times}"),
            });
            *times += 1;
        }
    }
}

/// A heading as a person writes it in a task: its level, when signs say so, and its text.
pub(super) fn written(heading: &str) -> (Option<u8>, String) {
    let text = heading.trim();
    let signs = text.bytes().take_while(|byte| *byte == b'#').count();
    match text
        .get(signs..)
        .filter(|rest| (1..=6).contains(&signs) && rest.starts_with(' '))
    {
        Some(rest) => (u8::try_from(signs).ok(), single_spaces(rest)),
        None => (None, single_spaces(text)),
    }
}

fn tidy(heading: Heading) -> Heading {
    Heading {
        text: single_spaces(&heading.text),
        ..heading
    }
}

fn single_spaces(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn slug(text: &str) -> String {
    let kept = text
        .chars()
        .filter(|sign| sign.is_alphanumeric() || matches!(sign, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase)
        .map(|sign| if sign == ' ' { '-' } else { sign })
        .collect()
}

fn names_in(html: &str) -> Vec<String> {
    let names = NAMED.as_ref().map(|named| {
        let names = named.captures_iter(html).filter_map(|found| found.get(1));
        names.map(|name| name.as_str().to_owned()).collect()
    });
    names.unwrap_or_default()
}

fn number(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}
