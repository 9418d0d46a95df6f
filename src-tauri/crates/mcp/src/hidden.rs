//! Secrets that stand in arguments and in addresses, where other programs have people write them. Here they are kept like
//! the values of `env`; what is left in their place is `${name}`, which no pasted text may hold, and which is filled in
//! when the server is started.

use std::collections::BTreeMap;

use secrecy::{ExposeSecret, SecretString};

/// How the names of secrets end, in lower case and without what parts words.
const SECRET: &[&str] = &[
    "key",
    "token",
    "secret",
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "auth",
    "authorization",
    "credential",
    "credentials",
    "cookie",
    "signature",
];
/// Options that are followed by `Name: value`.
const HEADER: &[&str] = &["-H", "--header", "--headers"];
/// Options that are followed by `NAME=value`, of which all values are secret, as those of `env` are.
const VARIABLE: &[&str] = &["-e", "--env"];

/// Secrets that were taken out, by their names.
#[derive(Debug, Default)]
pub(crate) struct Hidden {
    /// The names that something else has.
    taken: Vec<String>,
    pub(crate) values: BTreeMap<String, SecretString>,
}

impl Hidden {
    /// Whose names differ from these.
    pub(crate) fn beside<'n>(names: impl IntoIterator<Item = &'n String>) -> Self {
        Self {
            taken: names.into_iter().cloned().collect(),
            values: BTreeMap::new(),
        }
    }

    /// The arguments without the secrets in them.
    pub(crate) fn in_arguments(&mut self, args: &[String]) -> Vec<String> {
        let mut shown: Vec<String> = Vec::with_capacity(args.len());
        for (place, word) in args.iter().enumerate() {
            let before = place.checked_sub(1).and_then(|before| args.get(before));
            let word = self.in_argument(word, before.map(String::as_str));
            shown.push(word);
        }
        shown
    }

    fn in_argument(&mut self, word: &str, before: Option<&str>) -> String {
        let is_option = word.starts_with('-');
        if let Some(option) = before.filter(|before| before.starts_with('-') && !before.contains('=')) {
            let parted = match option {
                _ if HEADER.contains(&option) => word.split_once(':'),
                _ if VARIABLE.contains(&option) => word.split_once('='),
                _ => None,
            };
            if let Some((name, value)) = parted {
                let space = &value[..value.len() - value.trim_start().len()];
                let sign = word[name.len()..].chars().next().unwrap_or('=');
                return format!("{name}{sign}{space}{}", self.hide(name, value.trim_start()));
            }
            if is_secret(option) && !is_option {
                return self.hide(option, word);
            }
        }
        if let Some((name, value)) = word.split_once('=')
            && is_secret(name)
            && !name.contains("://")
        {
            return format!("{name}={}", self.hide(name, value));
        }
        self.in_address(word)
    }

    /// An address without the secrets in its query, and without the password before its host.
    pub(crate) fn in_address(&mut self, address: &str) -> String {
        let Some((scheme, rest)) = address.split_once("://") else {
            return address.to_owned();
        };
        let (whole, fragment) = match rest.split_once('#') {
            Some((whole, fragment)) => (whole, format!("#{fragment}")),
            None => (rest, String::new()),
        };
        let (place, query) = match whole.split_once('?') {
            Some((place, query)) => (place, Some(query)),
            None => (whole, None),
        };
        let (host, path) = place.split_at(place.find('/').unwrap_or(place.len()));
        let host = match host.rsplit_once('@').map(|(user, host)| (user.split_once(':'), host)) {
            Some((Some((user, password)), host)) => format!("{user}:{}@{host}", self.hide("password", password)),
            Some((None, _)) | None => host.to_owned(),
        };
        let query = query.map(|query| {
            let part = |part: &str| match part.split_once('=') {
                Some((name, value)) if is_secret(name) => format!("{name}={}", self.hide(name, value)),
                Some(_) | None => part.to_owned(),
            };
            let parts: Vec<String> = query.split('&').map(part).collect();
            format!("?{}", parts.join("&"))
        });
        format!("{scheme}://{host}{path}{}{fragment}", query.unwrap_or_default())
    }

    /// What stands in the place of a value from now on.
    fn hide(&mut self, named: &str, value: &str) -> String {
        if value.is_empty() {
            return String::new();
        }
        let usable = |letter: &char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
        let name: String = named.trim_start_matches('-').chars().filter(usable).collect();
        let name = if name.is_empty() { "value".to_owned() } else { name };
        let is_taken = |name: &String| self.taken.contains(name) || self.values.contains_key(name);
        let mut free = name.clone();
        let mut number = 2;
        while is_taken(&free) {
            free = format!("{name}-{number}");
            number += 1;
        }
        let shown = format!("${{{free}}}");
        self.values.insert(free, SecretString::from(value.to_owned()));
        shown
    }
}

/// Whether a name is one under which people give secrets.
fn is_secret(name: &str) -> bool {
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    let letters: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
    SECRET.iter().any(|end| letters.ends_with(end))
}

/// The text as it was written, with the values in their places.
pub(crate) fn filled(text: &str, values: &BTreeMap<String, SecretString>) -> String {
    let mut whole = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let (before, open) = rest.split_at(start);
        whole.push_str(before);
        let named = open[2..].split_once('}');
        match named.and_then(|(name, behind)| Some((values.get(name)?, behind))) {
            Some((value, behind)) => {
                whole.push_str(value.expose_secret());
                rest = behind;
            }
            None => {
                whole.push_str("${");
                rest = &open[2..];
            }
        }
    }
    whole.push_str(rest);
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(args: &[&str], expected: &[&str], hidden: &[(&str, &str)]) {
        let args: Vec<String> = args.iter().map(|word| (*word).to_owned()).collect();
        let mut found = Hidden::beside([&"TOKEN".to_owned()]);
        let shown = found.in_arguments(&args);
        assert_eq!(shown, expected);
        let values: Vec<(&str, &str)> = found
            .values
            .iter()
            .map(|(name, value)| (name.as_str(), value.expose_secret()))
            .collect();
        assert_eq!(values, hidden, "{args:?}");
        let filled: Vec<String> = shown.iter().map(|word| filled(word, &found.values)).collect();
        assert_eq!(filled, args);
    }

    #[test]
    fn what_follows_an_option_for_secrets_is_taken_out() {
        check(
            &[
                "-y",
                "x",
                "--api-key",
                "sk-1",
                "--apiToken=t-2",
                "--zone",
                "Vienna",
                "--Client_Secret",
                "s 3",
            ],
            &[
                "-y",
                "x",
                "--api-key",
                "${api-key}",
                "--apiToken=${apiToken}",
                "--zone",
                "Vienna",
                "--Client_Secret",
                "${Client_Secret}",
            ],
            &[("Client_Secret", "s 3"), ("api-key", "sk-1"), ("apiToken", "t-2")],
        );
        // An option that has no value, and a file that is only called so.
        check(&["--token", "--quiet"], &["--token", "--quiet"], &[]);
        check(
            &["--key-file", "a.pem", "--keyboard=de"],
            &["--key-file", "a.pem", "--keyboard=de"],
            &[],
        );
        check(&["--token="], &["--token="], &[]);
    }

    #[test]
    fn variables_headers_and_addresses_among_arguments_are_too() {
        check(
            &[
                "run",
                "-e",
                "ZONE=a",
                "--env",
                "GH_TOKEN=b=c",
                "DB_PASSWORD=d",
                "MODE=fast",
            ],
            &[
                "run",
                "-e",
                "ZONE=${ZONE}",
                "--env",
                "GH_TOKEN=${GH_TOKEN}",
                "DB_PASSWORD=${DB_PASSWORD}",
                "MODE=fast",
            ],
            &[("DB_PASSWORD", "d"), ("GH_TOKEN", "b=c"), ("ZONE", "a")],
        );
        check(
            &[
                "mcp-remote",
                "https://x.org/mcp?a=1&api_key=k&b",
                "--header",
                "Authorization: Bearer b",
            ],
            &[
                "mcp-remote",
                "https://x.org/mcp?a=1&api_key=${api_key}&b",
                "--header",
                "Authorization: ${Authorization}",
            ],
            &[("Authorization", "Bearer b"), ("api_key", "k")],
        );
        check(
            &["postgresql://me:p@ss@localhost:5432/db?sslmode=off"],
            &["postgresql://me:${password}@localhost:5432/db?sslmode=off"],
            &[("password", "p@ss")],
        );
    }

    #[test]
    fn two_of_one_name_stay_two() {
        check(
            &["--TOKEN", "a", "--token", "b", "--token", "c"],
            &["--TOKEN", "${TOKEN-2}", "--token", "${token}", "--token", "${token-2}"],
            &[("TOKEN-2", "a"), ("token", "b"), ("token-2", "c")],
        );
    }

    #[test]
    fn a_value_is_filled_in_as_it_is() {
        let values = BTreeMap::from([
            ("a".to_owned(), SecretString::from("${b}")),
            ("b".to_owned(), SecretString::from("x")),
        ]);
        assert_eq!(filled("${a} ${b} ${c} ${", &values), "${b} x ${c} ${");
    }
}
