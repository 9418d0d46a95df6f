//! The settings as they are kept, and what they must be.

use std::collections::HashSet;

use contract::AppError;
use contract::access::Preset;
use contract::error::Problem;
use contract::task::Limits;
use providers::endpoint::Address;
use serde_json::Value;
use store::Store;

use crate::commands::settings::{Endpoint, SearchService, Settings};
use crate::error::{ToAppError, internal};
use crate::key_ring::is_account_name;
use crate::{accounts, searching};

/// The name they are kept under.
const NAME: &str = "settings";

/// The settings as they were last kept; what is missing or cannot be read is as it is at first, and nothing else with it.
pub(crate) async fn read(store: &Store) -> Result<Settings, AppError> {
    let kept = store.settings().get(NAME).await.map_err(ToAppError::to_app_error)?;
    Ok(kept.map(|kept| readable(&kept).0).unwrap_or_default())
}

/// What of kept settings can be read, field by field, and the paths of what cannot: another version may know more words.
fn readable(kept: &Value) -> (Settings, Vec<Vec<String>>) {
    if let Ok(settings) = serde_json::from_value(kept.clone()) {
        return (settings, Vec::new());
    }
    let (mut taken, mut lost) = (
        serde_json::to_value(Settings::default()).unwrap_or_default(),
        Vec::new(),
    );
    take(&mut taken, kept, &mut Vec::new(), &mut lost);
    tracing::warn!(fields = lost.len(), "some settings cannot be read");
    let mut settings: Settings = serde_json::from_value(taken).unwrap_or_default();
    let of_permissions = |path: &Vec<String>| path.first().is_some_and(|name| name == "permissions");
    if lost.iter().any(of_permissions) {
        // Nobody knows how much was allowed.
        settings.permissions.preset = Preset::Careful;
    }
    (settings, lost)
}

/// Takes into `taken` whatever of `kept` fits at `path`, as whole as it fits.
fn take(taken: &mut Value, kept: &Value, path: &mut Vec<String>, lost: &mut Vec<Vec<String>>) {
    let Some(fields) = kept.as_object() else { return };
    for (name, field) in fields {
        path.push(name.clone());
        let before = taken.clone();
        put(taken, path, field.clone());
        if serde_json::from_value::<Settings>(taken.clone()).is_err() {
            *taken = before;
            match field.is_object() && at(taken, path).is_some_and(Value::is_object) {
                true => take(taken, field, path, lost),
                false => lost.push(path.clone()),
            }
        }
        path.pop();
    }
}

fn at<'v>(value: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter().try_fold(value, |here, name| here.get(name))
}

fn put(value: &mut Value, path: &[String], new: Value) {
    let mut here = value;
    for name in path {
        let Value::Object(fields) = here else { return };
        here = fields.entry(name.clone()).or_insert(Value::Null);
    }
    *here = new;
}

/// Keeps settings, tidied up, or says everything that is wrong with them.
pub(crate) async fn write(store: &Store, settings: Settings) -> Result<Settings, AppError> {
    let settings = tidy(settings);
    let problems = problems(&settings);
    if !problems.is_empty() {
        let error = AppError::new("settings_invalid", "some settings cannot be as they are")
            .hint("Each one says what would be right.");
        return Err(AppError { problems, ..error });
    }
    let mut value = serde_json::to_value(&settings).map_err(|error| internal(error.to_string()))?;
    // What could not be read stays, unless a person set it anew.
    if let Some(kept) = store.settings().get(NAME).await.map_err(ToAppError::to_app_error)? {
        let (before, lost) = readable(&kept);
        let before = serde_json::to_value(before).unwrap_or_default();
        for path in lost {
            if let (true, Some(unread)) = (at(&value, &path) == at(&before, &path), at(&kept, &path)) {
                put(&mut value, &path, unread.clone());
            }
        }
    }
    store
        .settings()
        .set(NAME, &value)
        .await
        .map_err(ToAppError::to_app_error)?;
    Ok(settings)
}

/// The limits of a task: its own where it has them, the settings' elsewhere. `task` is the task as it was written.
pub(crate) fn limits_of(task: &Value, settings: &Limits) -> Limits {
    let mut limits = serde_json::to_value(settings).unwrap_or_default();
    if let (Value::Object(limits), Some(Value::Object(own))) = (&mut limits, task.get("limits")) {
        limits.extend(own.clone());
    }
    serde_json::from_value(limits).unwrap_or_else(|_| settings.clone())
}

fn tidy(settings: Settings) -> Settings {
    let trimmed = settings.endpoint.map(|endpoint| Endpoint {
        base_url: endpoint.base_url.trim().to_owned(),
        model: endpoint.model.trim().to_owned(),
    });
    let endpoint = trimmed.filter(|endpoint| !endpoint.base_url.is_empty() || !endpoint.model.is_empty());
    let mut accounts = settings.accounts;
    for account in &mut accounts {
        account.name = account.name.trim().to_owned();
        let url = account.base_url.take().map(|url| url.trim().to_owned());
        account.base_url = url.filter(|url| !url.is_empty());
    }
    let search = settings.search.map(|search| SearchService {
        base_url: search
            .base_url
            .map(|url| url.trim().to_owned())
            .filter(|url| !url.is_empty()),
        ..search
    });
    Settings {
        endpoint,
        accounts,
        search,
        ..settings
    }
}

/// What is wrong with the search service.
fn search_problem(service: &SearchService) -> Option<Problem> {
    if searching::kind(&service.kind).is_none() {
        let message = "is no kind of search service that this version has";
        return Some(Problem::new("search.kind", message));
    }
    let place = "search.baseUrl";
    let Some(address) = searching::address(service) else {
        return Some(Problem::new(place, "enter where the service is"));
    };
    let wrong = web::search::host(&address).err()?;
    Some(Problem::new(place, wrong.to_string()))
}

/// What is wrong with accounts and with the models that are named for each role.
fn account_problems(settings: &Settings) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut say = |path: String, message: &str| problems.push(Problem::new(path, message));
    let mut names = HashSet::new();
    for (place, account) in settings.accounts.iter().enumerate() {
        let path = |field: &str| format!("accounts[{place}].{field}");
        let kind = accounts::kind(&account.kind);
        let another = accounts::kind(&account.name).is_some() && account.name != account.kind;
        if !is_account_name(&account.name) {
            say(path("name"), "must be letters, digits, - and _");
        } else if another
            || !names.insert(&account.name)
            || [providers::replay::NAME, searching::ACCOUNT].contains(&account.name.as_str())
        {
            say(path("name"), "is the name of another account");
        }
        let Some(kind) = kind else {
            say(path("kind"), "is no kind of provider that this version has");
            continue;
        };
        match &account.base_url {
            None if kind.info.needs_base_url && account.name != account.kind => {
                say(path("baseUrl"), "enter where the server is");
            }
            None => {}
            Some(url) => {
                if let Err(error) = Address::parse(url) {
                    say(path("baseUrl"), &error.message);
                }
            }
        }
    }
    let known = accounts::names(settings);
    let executor = settings.models.executor.clone().unwrap_or_default();
    let set = &settings.fallbacks;
    let named = [
        ("models.planner", &settings.models.planner),
        ("models.judge", &settings.models.judge),
        ("models.executor.low", &executor.low),
        ("models.executor.high", &executor.high),
        ("fallbacks.roles.planner", &set.roles.planner),
        ("fallbacks.roles.judge", &set.roles.judge),
        ("fallbacks.roles.executorLow", &set.roles.executor_low),
        ("fallbacks.roles.executorHigh", &set.roles.executor_high),
    ];
    let named = named
        .into_iter()
        .filter_map(|(path, model)| Some((path.to_owned(), model.as_ref()?)));
    let of_accounts = set.accounts.iter();
    let of_accounts = of_accounts.map(|(account, model)| (format!("fallbacks.accounts.{account}"), model));
    for (path, model) in named.chain(of_accounts) {
        let (provider, name) = model.split_once(':').unwrap_or_default();
        if !known.iter().any(|known| known == provider) || name.trim().is_empty() {
            say(
                path,
                "must be written provider:model, such as anthropic:claude-sonnet-5-5",
            );
        }
    }
    problems
}

fn problems(settings: &Settings) -> Vec<Problem> {
    let limits = &settings.limits;
    let mut problems = Vec::new();
    let mut within = |name: &str, value: u64, least: u64, most: u64| {
        if !(least..=most).contains(&value) {
            problems.push(Problem::new(
                format!("limits.{name}"),
                format!("must be from {least} to {most}"),
            ));
        }
    };
    within("maxCycles", limits.max_cycles.into(), 1, 100);
    within("maxTokens", limits.max_tokens, 1_000, 100_000_000);
    within("toolTimeout", limits.tool_timeout, 1_000, 3_600_000);
    within("maxParallel", limits.max_parallel.into(), 1, 32);
    within("retryAttempts", limits.retry_attempts.into(), 0, 10);
    if limits.max_cost.is_some_and(|cost| !cost.is_finite() || cost < 0.0) {
        problems.push(Problem::new("limits.maxCost", "must be a number that is not negative"));
    }
    if limits.max_minutes == Some(0) {
        problems.push(Problem::new("limits.maxMinutes", "must be 1 or more"));
    }
    for (model, price) in &settings.prices.models {
        let is_wrong = |amount: &f64| !amount.is_finite() || *amount < 0.0;
        if price.amounts().iter().any(is_wrong) {
            let place = format!("prices.models.{model}");
            problems.push(Problem::new(place, "must be numbers that are not negative"));
        }
    }
    if !settings.prices.is_empty() && settings.prices.currency.trim().is_empty() {
        problems.push(Problem::new("prices.currency", "name the currency, such as USD"));
    }
    if let Some(endpoint) = &settings.endpoint {
        if let Err(error) = Address::parse(&endpoint.base_url) {
            problems.push(Problem::new("endpoint.baseUrl", error.message));
        }
        if endpoint.model.is_empty() {
            problems.push(Problem::new(
                "endpoint.model",
                "name the model that the server should answer with",
            ));
        }
    }
    problems.extend(settings.search.as_ref().and_then(search_problem));
    problems.extend(account_problems(settings));
    problems
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::commands::settings::PermissionDefaults;

    fn check(settings: Settings, expected: &[&str]) {
        let problems = problems(&tidy(settings));
        let paths: Vec<&str> = problems.iter().map(|problem| problem.path.as_str()).collect();
        assert_eq!(paths, expected);
    }

    fn endpoint(base_url: &str, model: &str) -> Settings {
        let endpoint = Some(Endpoint {
            base_url: base_url.to_owned(),
            model: model.to_owned(),
        });
        Settings {
            endpoint,
            ..Settings::default()
        }
    }

    #[tokio::test]
    async fn a_setting_that_cannot_be_read_loses_no_other_and_stays_kept() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).await.unwrap();
        let kept = json!({
            "theme": "sepia", "limits": { "maxCycles": 3, "maxTokens": 9_000, "maxCost": "two" },
            "permissions": { "preset": "paranoid" }, "models": { "planner": "anthropic:m" },
        });
        store.settings().set(NAME, &kept).await.unwrap();
        let settings = read(&store).await.unwrap();
        assert_eq!(
            (
                settings.limits.max_cycles,
                settings.limits.max_tokens,
                settings.models.planner.as_deref()
            ),
            (3, 9_000, Some("anthropic:m"))
        );
        assert_eq!(settings.permissions.preset, Preset::Careful);
        let theme = settings.theme;
        write(
            &store,
            Settings {
                models: Default::default(),
                ..settings
            },
        )
        .await
        .unwrap();
        let now = store.settings().get(NAME).await.unwrap().unwrap();
        let unread = (&now["theme"], &now["limits"]["maxCost"], &now["permissions"]["preset"]);
        assert_eq!(unread, (&json!("sepia"), &json!("two"), &json!("paranoid")));
        assert_eq!(now["models"]["planner"], Value::Null);
        // What a person sets anew counts.
        let settings = read(&store).await.unwrap();
        assert_eq!(settings.theme, theme);
        let permissions = PermissionDefaults {
            preset: Preset::Normal,
            ..settings.permissions.clone()
        };
        write(
            &store,
            Settings {
                permissions,
                ..settings
            },
        )
        .await
        .unwrap();
        assert_eq!(read(&store).await.unwrap().permissions.preset, Preset::Normal);
    }

    #[test]
    fn what_ships_is_right() {
        check(Settings::default(), &[]);
        check(endpoint(" http://localhost:11434/v1 ", "qwen3:8b"), &[]);
        check(endpoint("", " "), &[]);
    }

    #[test]
    fn says_everything_that_is_wrong() {
        let limits = Limits {
            max_cycles: 0,
            max_parallel: 33,
            ..Limits::default()
        };
        let settings = Settings {
            limits,
            ..endpoint("ftp://localhost", "")
        };
        check(
            settings,
            &[
                "limits.maxCycles",
                "limits.maxParallel",
                "endpoint.baseUrl",
                "endpoint.model",
            ],
        );
    }

    #[test]
    fn a_search_service_is_where_a_search_may_be_sent() {
        let at = |kind: &str, base_url: Option<&str>| Settings {
            search: Some(SearchService {
                kind: kind.to_owned(),
                base_url: base_url.map(str::to_owned),
            }),
            ..Settings::default()
        };
        check(at("searxng", Some(" http://127.0.0.1:8888/ ")), &[]);
        check(at("searxng", Some("https://search.example.org/searx")), &[]);
        check(at("brave", None), &[]);
        check(at("tavily", Some(" ")), &[]);
        check(at("searxng", None), &["search.baseUrl"]);
        check(at("searxng", Some("http://search.example.org")), &["search.baseUrl"]);
        check(at("searxng", Some("http://169.254.169.254/")), &["search.baseUrl"]);
        check(at("brave", Some("https://a:b@search.example.org")), &["search.baseUrl"]);
        check(at("google", None), &["search.kind"]);
    }

    #[test]
    fn a_task_without_a_limit_has_the_settings_one() {
        let settings = Limits {
            max_cycles: 9,
            max_tokens: 9_000,
            ..Limits::default()
        };
        let limits = limits_of(&json!({ "limits": { "maxCycles": 2 } }), &settings);
        assert_eq!((limits.max_cycles, limits.max_tokens), (2, 9_000));
        assert_eq!(limits_of(&json!({}), &settings), settings);
    }
}
