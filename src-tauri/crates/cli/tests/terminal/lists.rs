//! What there is: checks and models.

use super::*;

#[test]
fn lists_the_checks_and_says_how_one_is_written() {
    let terminal = Terminal::new();
    let (code, text) = terminal.run(&["checks"]);
    assert!(
        code == 0 && text.contains("markdown  { headings, links_resolve"),
        "{text}"
    );
    let (code, text) = terminal.run(&["checks", "contains"]);
    assert!(code == 0 && text.contains("ignore_case  boolean (optional)"), "{text}");
    assert!(text.contains("Short form: contains: VALUE sets text."), "{text}");
    let all = terminal.document(&["checks", "--json"]);
    let one = terminal.document(&["checks", "csv", "--json"]);
    assert!(all.as_array().unwrap().contains(&one) && one["schema"]["properties"]["rows"].is_object());
    let (code, text) = terminal.run(&["checks", "magic"]);
    assert!(code == 2 && text.contains("there is no check \"magic\""), "{text}");
}

#[test]
fn lists_the_models_of_a_server() {
    let terminal = Terminal::new();
    let (code, text) = terminal.run(&["models"]);
    assert!(code == 0 && text.contains("--url URL"), "{text}");
    assert!(text.contains("set GEMINI_API_KEY or GOOGLE_API_KEY"), "{text}");
    let url = server(r#"{"object": "list", "data": [{"id": "small"}, {"id": "large"}]}"#.to_owned());
    let (code, text) = terminal.run(&["models", "--url", &url]);
    assert!(code == 0 && text.contains("small") && text.contains("large"), "{text}");
    let document = terminal.document(&["models", "--url", &url, "--json"]);
    assert_eq!(document[0]["models"][0]["id"], serde_json::json!("small"));
}

#[test]
fn a_search_service_is_set_up_and_removed() {
    let terminal = Terminal::new();
    let (code, text) = terminal.run(&["search"]);
    assert!(code == 0 && text.contains("no plan can search the web"), "{text}");
    let (code, text) = terminal.run(&["search", "use", "searxng", "http://search.example.org"]);
    assert!(code == 2 && text.contains("must begin with https"), "{text}");
    let (code, text) = terminal.run(&["search", "use", "searxng", "http://127.0.0.1:9"]);
    assert!(
        code == 0 && text.contains("Plans search with SearXNG at http://127.0.0.1:9."),
        "{text}"
    );
    let (code, text) = terminal.run(&["search", "test"]);
    assert!(code == 1 && text.contains("could not be asked"), "{text}");
    let (code, text) = terminal.run(&["search", "use", "brave"]);
    assert!(code == 0 && text.contains("Its key is missing"), "{text}");
    assert_eq!(
        terminal.document(&["search", "--json"])["address"],
        "https://api.search.brave.com"
    );
    let (code, text) = terminal.run(&["search", "key"]);
    assert!(code == 2 && text.contains("there is no key"), "{text}");
    let (code, text) = terminal.run(&["search", "remove"]);
    assert!(code == 0 && text.contains("Removed"), "{text}");
    assert!(terminal.document(&["search", "--json"])["service"].is_null());
}
