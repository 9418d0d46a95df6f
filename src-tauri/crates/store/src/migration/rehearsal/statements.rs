//! Cutting SQL into its statements, so that there is a place between them.

/// The statements, each with its semicolon and what stands before it. Joined they are the text again, but for
/// what follows the last semicolon.
pub(super) fn statements(sql: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut piece = String::new();
    let mut words: Vec<String> = Vec::new();
    let mut letters = sql.chars().peekable();
    while let Some(letter) = letters.next() {
        piece.push(letter);
        match letter {
            '\'' | '"' | '`' => {
                for inside in letters.by_ref() {
                    piece.push(inside);
                    if inside == letter {
                        break;
                    }
                }
            }
            '-' if letters.peek() == Some(&'-') => {
                for inside in letters.by_ref() {
                    piece.push(inside);
                    if inside == '\n' {
                        break;
                    }
                }
            }
            ';' if ends(&words) => {
                found.push(std::mem::take(&mut piece));
                words.clear();
            }
            _ if letter.is_alphanumeric() || letter == '_' => {
                let mut word = letter.to_ascii_uppercase().to_string();
                while let Some(next) = letters.next_if(|next| next.is_alphanumeric() || *next == '_') {
                    piece.push(next);
                    word.push(next.to_ascii_uppercase());
                }
                words.push(word);
            }
            _ => {}
        }
    }
    found
}

/// Whether a semicolon here ends the statement: inside a trigger it does so only after its END.
fn ends(words: &[String]) -> bool {
    let is_trigger =
        words.first().is_some_and(|word| word == "CREATE") && words.iter().take(4).any(|word| word == "TRIGGER");
    !is_trigger || words.last().is_some_and(|word| word == "END")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sql: &str, expected: &[&str]) {
        assert_eq!(statements(sql), expected);
    }

    #[test]
    fn cuts_at_semicolons_that_end_a_statement() {
        check("SELECT 1; SELECT 2;\n", &["SELECT 1;", " SELECT 2;"]);
        check("SELECT ';'; SELECT \"a;\";", &["SELECT ';';", " SELECT \"a;\";"]);
        check("-- one; two\nSELECT 1;", &["-- one; two\nSELECT 1;"]);
        let trigger = "CREATE TEMP TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM b; DELETE FROM c; END;";
        check(&format!("{trigger}SELECT 1;"), &[trigger, "SELECT 1;"]);
    }
}
