//! Rows and columns that a workbook hides. They are read like the others; that they are hidden is said.

use quick_xml::events::Event;

use crate::package::{Package, attribute, names, next, open, part, value};

const WHAT: &str = "Excel workbook";

/// What a sheet hides, in words; none when it hides nothing, or when that cannot be known.
pub(super) fn note(bytes: &[u8], sheet: &str) -> Option<String> {
    let mut package = open(bytes, WHAT).ok()?;
    let path = path_of(&mut package, sheet)?;
    let (rows, columns) = count(&mut package, &path)?;
    let some = |count: u64, one: &str, more: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        count => Some(format!("{count} {more}")),
    };
    let hidden: Vec<String> = [some(rows, "row", "rows"), some(columns, "column", "columns")]
        .into_iter()
        .flatten()
        .collect();
    let is = if rows + columns == 1 { "is" } else { "are" };
    (!hidden.is_empty()).then(|| format!("{} {is} hidden in the workbook and shown here", hidden.join(" and ")))
}

/// The part that holds this sheet.
fn path_of(package: &mut Package<'_>, sheet: &str) -> Option<String> {
    let is_book = |name: &String| name.ends_with("/workbook.xml") || name == "workbook.xml";
    let book = names(package).into_iter().find(is_book)?;
    let folder = book.strip_suffix("workbook.xml")?.to_owned();
    let id = elements(package, &book, "sheet", |element| {
        (attribute(element, "name").as_deref() == Some(sheet))
            .then(|| attribute_with_prefix(element, "id"))
            .flatten()
    })?;
    let relations = format!("{folder}_rels/workbook.xml.rels");
    let target = elements(package, &relations, "Relationship", |element| {
        (attribute(element, "Id").as_deref() == Some(id.as_str()))
            .then(|| attribute(element, "Target"))
            .flatten()
    })?;
    Some(match target.strip_prefix('/') {
        Some(whole) => whole.to_owned(),
        None => format!("{folder}{target}"),
    })
}

/// The relation of a sheet is called `r:id`, beside a `sheetId`.
fn attribute_with_prefix(element: &quick_xml::events::BytesStart<'_>, name: &str) -> Option<String> {
    let mut all = element.attributes();
    let found = all
        .with_checks(false)
        .flatten()
        .find(|attribute| attribute.key.prefix().is_some() && attribute.key.local_name().as_ref() == name)?;
    value(&found)
}

/// What the first element of this name gives that gives anything.
fn elements<T>(
    package: &mut Package<'_>,
    name: &str,
    element: &str,
    give: impl Fn(&quick_xml::events::BytesStart<'_>) -> Option<T>,
) -> Option<T> {
    let mut xml = part(package, name, WHAT).ok()??;
    let mut buffer = Vec::new();
    loop {
        match next(&mut xml, &mut buffer, WHAT).ok()? {
            Event::Start(start) if start.local_name().as_ref() == element => {
                if let Some(given) = give(&start) {
                    return Some(given);
                }
            }
            Event::Eof => return None,
            _ => {}
        }
    }
}

/// How many rows and columns are hidden. Spreadsheets say of columns from where to where.
fn count(package: &mut Package<'_>, path: &str) -> Option<(u64, u64)> {
    let mut xml = part(package, path, WHAT).ok()??;
    let (mut rows, mut columns) = (0, 0);
    let mut buffer = Vec::new();
    loop {
        match next(&mut xml, &mut buffer, WHAT).ok()? {
            Event::Start(start) => {
                let name = start.local_name();
                let is_hidden = || matches!(attribute(&start, "hidden").as_deref(), Some("1" | "true"));
                match name.as_ref() {
                    "row" if is_hidden() => rows += 1,
                    "col" if is_hidden() => {
                        let edge = |name| attribute(&start, name).and_then(|edge| edge.parse::<u64>().ok());
                        let (from, to) = (edge("min").unwrap_or(1), edge("max").unwrap_or(1));
                        columns += to.saturating_sub(from) + 1;
                    }
                    _ => {}
                }
            }
            Event::End(end) if end.local_name().as_ref() == "sheetData" => return Some((rows, columns)),
            Event::Eof => return Some((rows, columns)),
            _ => {}
        }
    }
}
