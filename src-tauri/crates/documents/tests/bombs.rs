//! R10: files that are made to use up memory and time (quality page). Each is read as the app reads it; it must end in an
//! answer or an error in words, and the process that read it must have stayed within 256 MB and 5 seconds of work.
//!
//! In short for every day, in full with `TEPA_SECURITY=full`. `TEPA_SEED` chooses another seed for the damaged files.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod support;

use std::io::Write;

use contract::ports::documents::{DocumentError, Documents};
use documents::{MEMORY, Reader, SECONDS};
use flate2::{Compress, Compression, FlushCompress};
use nix::sys::resource::{UsageWho, getrusage};
use support::{
    DOCX_TYPES, WORKBOOK, WORKBOOK_RELS, XLSX_RELS, XLSX_TYPES, limited, pages, pdf, pdf_of, reader, sheet, stream,
    word, workbook,
};

/// What needs more memory than there is, and is stopped by that and by nothing else.
const GROWS: &str = "4 GB of space on a page";
/// A program and its libraries take some memory before anything is read.
const PROGRAM: u64 = 48;

struct Bomb {
    name: &'static str,
    /// Made when its turn comes: what this process holds itself would count as what its children took.
    make: Box<dyn Fn() -> Vec<u8>>,
    /// Whether it must be stopped. Others may be read, if that costs nothing.
    must_fail: bool,
}

fn full() -> bool {
    std::env::var("TEPA_SECURITY").is_ok_and(|how| how == "full")
}

fn seed() -> u64 {
    let given = std::env::var("TEPA_SEED").ok().and_then(|seed| seed.parse().ok());
    given.unwrap_or(20_261_122)
}

/// A part of an archive, written as nobody writes it: `times` the same piece, which costs nothing to make.
struct Part {
    name: &'static str,
    /// Compressed already.
    bytes: Vec<u8>,
    claims: u32,
}

/// Raw deflate of `before`, `times` times `piece`, and `after`.
fn repeated(before: &str, piece: &[u8], times: usize, after: &str) -> Vec<u8> {
    let mut compress = Compress::new(Compression::best(), false);
    let mut out = Vec::new();
    let mut add = |bytes: &[u8], flush: FlushCompress| {
        let start = out.len();
        let mut packed = Vec::with_capacity(bytes.len() + 1024);
        compress.compress_vec(bytes, &mut packed, flush).unwrap();
        out.extend(packed);
        out[start..].to_vec()
    };
    add(before.as_bytes(), FlushCompress::Full);
    // After a full flush nothing refers to what came before, so that the same bytes can follow again and again.
    let block = add(piece, FlushCompress::Full);
    for _ in 1..times {
        out.extend(&block);
    }
    let mut end = Compress::new(Compression::best(), false);
    let mut last = Vec::with_capacity(after.len() + 1024);
    end.compress_vec(after.as_bytes(), &mut last, FlushCompress::Finish)
        .unwrap();
    out.extend(last);
    out
}

fn stored_small(name: &'static str, text: &str) -> Part {
    Part {
        name,
        bytes: repeated("", text.as_bytes(), 1, ""),
        claims: u32::try_from(text.len()).unwrap(),
    }
}

/// An archive of parts; `copies` of the list point to the same bytes.
fn archive(parts: &[Part], copies: usize) -> Vec<u8> {
    let mut file = Vec::new();
    let mut list = Vec::new();
    let mut count = 0_u16;
    let header = |part: &Part, out: &mut Vec<u8>, name: &str| {
        out.extend([20, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        out.extend(u32::try_from(part.bytes.len()).unwrap().to_le_bytes());
        out.extend(part.claims.to_le_bytes());
        out.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
        out.extend([0, 0]);
    };
    for part in parts {
        let place = u32::try_from(file.len()).unwrap();
        file.extend(b"PK\x03\x04");
        header(part, &mut file, part.name);
        file.extend(part.name.bytes());
        file.extend(&part.bytes);
        for copy in 0..copies {
            let name = match copy {
                0 => part.name.to_owned(),
                copy => format!("{}{copy}", part.name),
            };
            list.extend(b"PK\x01\x02\x14\0");
            header(part, &mut list, &name);
            list.extend([0; 10]);
            list.extend(place.to_le_bytes());
            list.extend(name.bytes());
            count += 1;
        }
    }
    let start = u32::try_from(file.len()).unwrap();
    let length = u32::try_from(list.len()).unwrap();
    file.extend(list);
    file.extend(b"PK\x05\x06\0\0\0\0");
    file.extend(count.to_le_bytes());
    file.extend(count.to_le_bytes());
    file.extend(length.to_le_bytes());
    file.extend(start.to_le_bytes());
    file.extend([0, 0]);
    file
}

const MEGABYTE: usize = 1024 * 1024;

/// How many MB are inside: 10 GB.
const INSIDE: usize = 10 * 1024;

/// A workbook in which one part is this.
fn book_with(name: &'static str, bytes: Vec<u8>, claims: u32) -> Vec<u8> {
    let mut parts = vec![
        stored_small("[Content_Types].xml", XLSX_TYPES),
        stored_small("_rels/.rels", XLSX_RELS),
        stored_small("xl/workbook.xml", WORKBOOK),
        stored_small("xl/_rels/workbook.xml.rels", WORKBOOK_RELS),
    ];
    if name != "xl/worksheets/sheet1.xml" {
        parts.push(stored_small("xl/worksheets/sheet1.xml", &sheet("")));
    }
    parts.push(Part { name, bytes, claims });
    archive(&parts, 1)
}

fn word_with(bytes: Vec<u8>) -> Vec<u8> {
    let parts = [
        stored_small("[Content_Types].xml", DOCX_TYPES),
        Part {
            name: "word/document.xml",
            bytes,
            claims: 100,
        },
    ];
    archive(&parts, 1)
}

const SHEET_BEGINS: &str = r#"<worksheet><sheetData><row r="1"><c t="inlineStr"><is><t>"#;
const WORD_BEGINS: &str = r#"<w:document xmlns:w="w"><w:body>"#;
const LAUGHS: &str = r#"<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;">]>"#;

/// A megabyte of this, over and over.
fn piece(of: &str) -> Vec<u8> {
    of.repeat(MEGABYTE / of.len()).into_bytes()
}

fn bomb(name: &'static str, make: impl Fn() -> Vec<u8> + 'static, must_fail: bool) -> Bomb {
    Bomb {
        name,
        make: Box::new(make),
        must_fail,
    }
}

fn zeros() -> Vec<u8> {
    vec![b'0'; MEGABYTE]
}

fn ten_gigabytes() -> Vec<u8> {
    let part = Part {
        name: "zeros",
        bytes: repeated("", &zeros(), INSIDE, ""),
        claims: u32::MAX,
    };
    archive(&[part], 1)
}

fn archives() -> Vec<Bomb> {
    let sheet_part = "xl/worksheets/sheet1.xml";
    vec![
        bomb(
            "10 GB in one cell",
            move || book_with(sheet_part, repeated(SHEET_BEGINS, &zeros(), INSIDE, ""), u32::MAX - 1),
            true,
        ),
        bomb(
            "10 GB in one cell that claims to have 100 bytes",
            move || book_with(sheet_part, repeated(SHEET_BEGINS, &zeros(), INSIDE, ""), 100),
            true,
        ),
        bomb(
            "10 GB of shared strings",
            || {
                book_with(
                    "xl/sharedStrings.xml",
                    repeated("<sst>", &piece("<si><t>many words</t></si>"), INSIDE, "</sst>"),
                    1000,
                )
            },
            true,
        ),
        bomb(
            "a list of strings that claims four thousand million",
            || {
                workbook(
                    &sheet(r#"<row r="1"><c r="A1" t="s"><v>0</v></c></row>"#),
                    &[(
                        "xl/sharedStrings.xml",
                        br#"<sst count="4294967295" uniqueCount="4294967295"><si><t>a</t></si></sst>"#,
                    )],
                )
            },
            false,
        ),
        bomb(
            "10 GB of cells",
            || {
                book_with(
                    sheet_part,
                    repeated(
                        "<worksheet><sheetData>",
                        &piece("<row><c><v>1</v></c></row>"),
                        INSIDE,
                        "",
                    ),
                    1000,
                )
            },
            true,
        ),
        bomb(
            "10 GB of empty rows",
            || {
                book_with(
                    sheet_part,
                    repeated("<worksheet><sheetData>", &piece("<row></row>"), INSIDE, ""),
                    1000,
                )
            },
            true,
        ),
        bomb(
            "10 GB before the first cell",
            || {
                book_with(
                    sheet_part,
                    repeated("<worksheet>", &piece("<sheetView/>"), INSIDE, ""),
                    1000,
                )
            },
            true,
        ),
        bomb(
            "10 GB in one paragraph",
            || word_with(repeated(&format!("{WORD_BEGINS}<w:p><w:r><w:t>"), &zeros(), INSIDE, "")),
            true,
        ),
        bomb(
            "10 GB of paragraphs",
            || word_with(repeated(WORD_BEGINS, &piece("<w:p></w:p>"), INSIDE, "")),
            true,
        ),
        bomb(
            "10 GB of elements in one another",
            || word_with(repeated(WORD_BEGINS, &piece("<w:p>"), INSIDE, "")),
            true,
        ),
        bomb(
            "10 GB of tables in one another",
            || word_with(repeated(WORD_BEGINS, &piece("<w:tbl><w:tr><w:tc>"), INSIDE, "")),
            true,
        ),
        bomb(
            "10 GB of attributes of one element",
            || word_with(repeated(&format!("{WORD_BEGINS}<w:p "), &piece("a='1' "), INSIDE, "/>")),
            true,
        ),
        bomb(
            "an archive in an archive",
            || {
                archive(
                    &[Part {
                        name: "in.zip",
                        bytes: repeated("", &ten_gigabytes(), 1, ""),
                        claims: 1,
                    }],
                    1,
                )
            },
            false,
        ),
        bomb("10 GB in an archive", ten_gigabytes, true),
        bomb(
            "1,000 parts that are the same 100 MB",
            || {
                archive(
                    &[Part {
                        name: "zeros",
                        bytes: repeated("", &zeros(), 100, ""),
                        claims: 100,
                    }],
                    1000,
                )
            },
            true,
        ),
        bomb(
            "entities of entities in a document",
            || word(&format!("{LAUGHS}<w:p><w:r><w:t>&d;</w:t></w:r></w:p>"), &[]),
            true,
        ),
        bomb(
            "entities of entities in a sheet",
            || workbook(&format!("{LAUGHS}{}", sheet("&d;")), &[]),
            false,
        ),
    ]
}

fn root() -> String {
    "<< /Type /Catalog /Pages 2 0 R >>".to_owned()
}

fn kids() -> String {
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned()
}

fn page(more: &str) -> String {
    format!("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] {more} >>")
}

fn huge() -> Vec<u8> {
    zlib(&repeated("BT ", &vec![b' '; MEGABYTE], 4 * 1024, "ET"))
}

fn words() -> Vec<u8> {
    zlib(&repeated("BT /F1 12 Tf ", &piece("(many words) Tj "), 4 * 1024, "ET"))
}

fn painted() -> Vec<u8> {
    let content = String::from_utf8_lossy(&pages(&["a"])).into_owned();
    content
        .replace("(a) Tj", &format!("{}(a) Tj", "q ".repeat(2_000_000)))
        .into_bytes()
}

fn papers() -> Vec<Bomb> {
    vec![
        bomb(
            "pages that contain themselves",
            || {
                pdf(&[
                    root(),
                    "<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 99999999 /Parent 2 0 R >>".to_owned(),
                ])
            },
            true,
        ),
        bomb(
            "a page whose parents are a circle",
            || {
                pdf(&[
                    root(),
                    "<< /Type /Pages /Kids [3 0 R] /Count 1 /Parent 4 0 R >>".to_owned(),
                    "<< /Type /Page /Parent 2 0 R >>".to_owned(),
                    "<< /Type /Pages /Parent 2 0 R >>".to_owned(),
                ])
            },
            true,
        ),
        bomb(
            "references that are a circle",
            || pdf(&["2 0 R".to_owned(), "1 0 R".to_owned()]),
            true,
        ),
        bomb(
            "a drawing that draws itself",
            || {
                pdf_of(&[
                    root().into_bytes(),
                    kids().into_bytes(),
                    page("/Contents 4 0 R /Resources << /XObject << /X 5 0 R >> >>").into_bytes(),
                    stream("", b"/X Do"),
                    stream(
                        "/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 5 0 R >> >>",
                        b"/X Do /X Do",
                    ),
                ])
            },
            true,
        ),
        bomb(
            "4 GB of space on a page",
            || {
                pdf_of(&[
                    root().into_bytes(),
                    kids().into_bytes(),
                    page("/Contents 4 0 R").into_bytes(),
                    stream("/Filter /FlateDecode", &huge()),
                ])
            },
            true,
        ),
        bomb(
            "4 GB of words on a page",
            || {
                pdf_of(&[
                root().into_bytes(),
                kids().into_bytes(),
                page("/Contents 4 0 R /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>")
                    .into_bytes(),
                stream("/Filter /FlateDecode", &words()),
            ])
            },
            true,
        ),
        bomb(
            "4 GB of objects in a stream",
            || {
                pdf_of(&[
                    root().into_bytes(),
                    stream("/Type /ObjStm /N 2000000000 /First 10 /Filter /FlateDecode", &huge()),
                ])
            },
            true,
        ),
        bomb(
            "lists a million deep",
            || pdf(&[root(), kids(), page(&format!("/A {}", "[".repeat(1_000_000)))]),
            false,
        ),
        bomb(
            "dictionaries a million deep",
            || pdf(&[root(), kids(), page(&"/A << ".repeat(1_000_000))]),
            false,
        ),
        bomb("two million saved states", painted, false),
        bomb(
            "a table of objects that claims all numbers",
            || {
                b"%PDF-1.4\nxref\n0 4294967295\n0000000000 65535 f \ntrailer\n<< /Size 4294967295 /Root 1 0 R >>\nstartxref\n9\n%%EOF\n"
                .to_vec()
            },
            true,
        ),
    ]
}

/// Raw deflate as a PDF wants it; the sum at its end is wrong, and nobody gets there.
fn zlib(raw: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x78, 0xDA];
    bytes.extend(raw);
    bytes.extend([0; 4]);
    bytes
}

fn picture() -> Vec<u8> {
    let mut header = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut ihdr = b"IHDR".to_vec();
    ihdr.extend(60_000_u32.to_be_bytes());
    ihdr.extend(60_000_u32.to_be_bytes());
    ihdr.extend([8, 6, 0, 0, 0]);
    let chunk = |chunk: &[u8]| {
        let mut crc = flate2::Crc::new();
        crc.update(chunk);
        let mut out = u32::try_from(chunk.len() - 4).unwrap().to_be_bytes().to_vec();
        out.extend(chunk);
        out.extend(crc.sum().to_be_bytes());
        out
    };
    header.extend(chunk(&ihdr));
    let mut data = b"IDAT".to_vec();
    data.extend(zlib(&repeated("", &vec![0; MEGABYTE], INSIDE, "")));
    header.write_all(&chunk(&data)).unwrap();
    header.extend(chunk(b"IEND"));
    header
}

/// Files that were whole once, each with some bytes changed, cut off or doubled.
fn damaged(count: usize) -> Vec<Vec<u8>> {
    let mut random = fastrand::Rng::with_seed(seed());
    let row = r#"<row r="1"><c r="A1"><v>1</v></c><c r="B1" t="inlineStr"><is><t>a</t></is></c></row>"#;
    let whole = [
        workbook(&sheet(row), &[]),
        word("<w:p><w:r><w:t>Words</w:t></w:r></w:p>", &[]),
        pages(&["First", "Second"]),
    ];
    let mut damage = |number: usize| {
        let mut bytes = whole[number % whole.len()].clone();
        for _ in 0..random.usize(1..8) {
            let place = random.usize(8..bytes.len());
            match random.u8(0..4) {
                0 => bytes[place] = random.u8(..),
                1 => bytes[place] ^= 1 << random.u8(0..8),
                2 => bytes.truncate(place.max(16)),
                _ => {
                    let piece = bytes[place..(place + 40).min(bytes.len())].to_vec();
                    bytes.splice(place..place, piece);
                }
            }
        }
        bytes
    };
    (0..count).map(&mut damage).collect()
}

/// The most memory that any process took so far, in MB, and the time that all of them worked, in seconds.
fn used() -> (u64, f64) {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    let seconds = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    (
        u64::try_from(usage.max_rss()).unwrap() / 1024,
        seconds(usage.user_time()) + seconds(usage.system_time()),
    )
}

/// What came of a bomb, and how long the process worked.
async fn explode(reader: &Reader, bytes: Vec<u8>) -> (Vec<Result<(), DocumentError>>, f64) {
    let before = used().1;
    let answers = vec![
        reader.text(bytes.clone()).await.map(drop),
        reader.facts(bytes).await.map(drop),
    ];
    (answers, used().1 - before)
}

/// What is wrong with how a bomb ended.
fn wrong(bomb: &Bomb, answers: &[Result<(), DocumentError>], worked: f64) -> Option<String> {
    let name = bomb.name;
    let unavailable = |answer: &Result<(), DocumentError>| matches!(answer, Err(DocumentError::Unavailable(_)));
    if answers.iter().any(unavailable) {
        return Some(format!("{name}: {answers:?}"));
    }
    if bomb.must_fail && answers.iter().all(Result::is_ok) {
        return Some(format!("{name} was read"));
    }
    let allowed = (2 * (SECONDS + 1)) as f64 + 0.5;
    (worked > allowed).then(|| format!("{name} worked for {worked:.1} s"))
}

/// One test, since what processes used is counted together.
#[tokio::test]
async fn no_file_takes_more_than_256_mb_or_5_seconds() {
    let mut bombs: Vec<Bomb> = archives();
    bombs.extend(papers());
    bombs.push(bomb("a picture of 60,000 by 60,000 pixels", picture, false));
    let reader = reader();
    let mut problems = Vec::new();
    let (mut stopped, mut said) = (0, 0);
    // Every day those that grow, a quarter of the rest; all of them in full.
    let chosen = |index: usize, bomb: &Bomb| {
        full() || bomb.name == GROWS || bomb.name.contains("one cell that") || index.is_multiple_of(4)
    };
    let bombs: Vec<Bomb> = bombs
        .into_iter()
        .enumerate()
        .filter(|(index, bomb)| chosen(*index, bomb))
        .map(|(_, bomb)| bomb)
        .collect();
    for bomb in &bombs {
        let (answers, worked) = explode(&reader, (bomb.make)()).await;
        let ended = |answer: &&Result<(), DocumentError>| {
            matches!(
                answer,
                Err(DocumentError::TookTooLong { .. } | DocumentError::NeedsTooMuchMemory { .. })
            )
        };
        stopped += usize::from(answers.iter().any(|answer| ended(&answer)));
        said += usize::from(!answers.iter().any(|answer| ended(&answer)));
        if full() {
            println!("  {}: {answers:?} in {worked:.1} s", bomb.name);
        }
        problems.extend(wrong(bomb, &answers, worked));
    }
    let files = damaged(if full() { 600 } else { 24 });
    for (number, bytes) in files.iter().enumerate() {
        if let Err(DocumentError::Unavailable(reason)) = reader.text(bytes.clone()).await {
            problems.push(format!("damaged file {number}: {reason}"));
        }
    }
    let (most, _) = used();
    println!(
        "R10 files (seed {}): {} bombs, {stopped} stopped by their limits, {said} answered, {} damaged files; most memory {most} MB",
        seed(),
        bombs.len(),
        files.len()
    );
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(most <= MEMORY + PROGRAM, "{most} MB");
    the_limits_are_what_holds(&bombs, most).await;
}

/// The mutant: with four times the memory the same file takes it, and the count sees that.
async fn the_limits_are_what_holds(bombs: &[Bomb], most: u64) {
    let grows = bombs.iter().find(|bomb| bomb.name == GROWS).unwrap();
    let _ = explode(&limited(4 * MEMORY, 4 * SECONDS), (grows.make)()).await;
    let (without, _) = used();
    println!("mutant R10 files with four times the memory: {without} MB instead of {most} MB");
    assert!(
        without > MEMORY + PROGRAM,
        "a limit that is not there would not be noticed: {without} MB"
    );
    if full() {
        let slow = bombs.iter().find(|bomb| bomb.name == "10 GB of empty rows").unwrap();
        let (answers, worked) = explode(&limited(MEMORY, 4 * SECONDS), (slow.make)()).await;
        println!("mutant R10 files with four times the time: {worked:.1} s");
        assert!(
            wrong(slow, &answers, worked).is_some(),
            "{worked:.1} s would not be noticed"
        );
    }
}
