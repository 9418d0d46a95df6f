//! The routes: commands, signals, pickers, and the page.

use std::collections::HashMap;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use app::{App, Signals, ipc};
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path as Named, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use contract::AppError;
use futures::stream::{self, Stream};
use serde_json::Value;
use tower_http::services::{ServeDir, ServeFile};

use crate::pickers::Pickers;

/// Larger requests are mistakes.
const LARGEST: usize = 4 * 1024 * 1024;

/// What the routes share.
#[derive(Clone)]
struct Desk {
    app: App,
    pickers: Arc<Pickers>,
}

/// Everything that is served, to pages of this address only.
pub(crate) fn router(app: App, page: &Path, port: u16) -> Router {
    let desk = Desk {
        app,
        pickers: Arc::default(),
    };
    Router::new()
        .route("/ipc/{name}", post(command))
        .route("/signals", get(signals))
        .route("/pick/{picker}", post(pick))
        .route("/test/picks", post(queue_picks))
        .route("/test/hand", post(hand))
        .route("/open", post(open))
        .fallback_service(ServeDir::new(page).fallback(ServeFile::new(page.join("index.html"))))
        .layer(DefaultBodyLimit::max(LARGEST))
        .layer(middleware::from_fn(move |request: Request, next: Next| {
            from_here(port, request, next)
        }))
        .with_state(desk)
}

/// Other pages in the same browser must not reach the app: neither under another name of this machine, nor from
/// another origin. The page's own development server is let in.
async fn from_here(port: u16, request: Request, next: Next) -> Response {
    if is_from_here(request.headers(), port) {
        next.run(request).await
    } else {
        StatusCode::FORBIDDEN.into_response()
    }
}

fn is_from_here(headers: &HeaderMap, port: u16) -> bool {
    let text = |name: header::HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let ours = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    let host = text(header::HOST).is_some_and(|host| ours.iter().any(|ours| ours == host));
    let origin = text(header::ORIGIN).is_none_or(|origin| {
        let origin = origin.strip_prefix("http://").unwrap_or_default();
        let (name, _) = origin.rsplit_once(':').unwrap_or((origin, ""));
        matches!(name, "127.0.0.1" | "localhost")
    });
    host && origin
}

async fn command(State(desk): State<Desk>, Named(name): Named<String>, headers: HeaderMap, body: Bytes) -> Response {
    // A page of another origin cannot send this type without asking first.
    let is_json = headers
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    if !is_json {
        return refusal(AppError::new("invalid_request", "the request is not JSON"));
    }
    let request = if body.is_empty() {
        Ok(Value::Null)
    } else {
        serde_json::from_slice(&body)
    };
    let Ok(request) = request else {
        return refusal(AppError::new("invalid_request", "the request is not JSON"));
    };
    match ipc::dispatch(&desk.app, &name, request).await {
        Ok(reply) => Json(reply).into_response(),
        Err(error) => refusal(error),
    }
}

fn refusal(error: AppError) -> Response {
    (StatusCode::UNPROCESSABLE_ENTITY, Json(error)).into_response()
}

async fn signals(State(desk): State<Desk>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let told = stream::unfold(desk.app.signals(), next_event);
    Sse::new(told).keep_alive(KeepAlive::new().interval(Duration::from_secs(15)))
}

async fn next_event(mut signals: Signals) -> Option<(Result<Event, Infallible>, Signals)> {
    let signal = signals.next().await?;
    let event = Event::default().json_data(&signal).unwrap_or_default();
    Some((Ok(event), signals))
}

async fn pick(State(desk): State<Desk>, Named(picker): Named<String>) -> Json<Value> {
    Json(desk.pickers.next(&picker))
}

async fn queue_picks(State(desk): State<Desk>, Json(picks): Json<HashMap<String, Vec<Value>>>) -> Json<Value> {
    desk.pickers.queue(picks);
    Json(Value::Null)
}

/// As when a person opens a run file with the app.
async fn hand(State(desk): State<Desk>, Json(file): Json<PathBuf>) -> Json<Value> {
    desk.app.hand_over(file);
    Json(Value::Null)
}

/// The desktop would show a file in another program; here there is none.
async fn open() -> Json<Value> {
    Json(Value::Null)
}

#[cfg(test)]
mod tests {
    use app::{Config, KeyPlace};
    use axum::body::{Body, to_bytes};
    use serde_json::json;
    use tower::ServiceExt;

    use super::*;

    struct Browser {
        router: Router,
        _folder: tempfile::TempDir,
    }

    impl Browser {
        async fn open() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let page = folder.path().join("page");
            std::fs::create_dir(&page).unwrap();
            std::fs::write(page.join("index.html"), "<title>Tepa</title>").unwrap();
            let data_folder = Some(folder.path().join("data"));
            let app = App::open(Config {
                data_folder,
                keys: KeyPlace::Memory,
                ..Config::default()
            })
            .await
            .unwrap();
            Self {
                router: router(app, &page, 80),
                _folder: folder,
            }
        }

        async fn send(&self, request: axum::http::request::Builder, body: &str) -> (StatusCode, String) {
            let request = request.body(Body::from(body.to_owned())).unwrap();
            let response = self.router.clone().oneshot(request).await.unwrap();
            let status = response.status();
            let body = to_bytes(response.into_body(), LARGEST).await.unwrap();
            (status, String::from_utf8_lossy(&body).into_owned())
        }

        async fn post(&self, path: &str, body: &str) -> (StatusCode, String) {
            let request = Request::post(path)
                .header("host", "localhost:80")
                .header("content-type", "application/json");
            self.send(request, body).await
        }
    }

    #[tokio::test]
    async fn answers_commands_and_refuses_in_words() {
        let browser = Browser::open().await;
        let (status, body) = browser.post("/ipc/app_info", "null").await;
        assert_eq!(status, StatusCode::OK);
        assert!(body.contains("dataFolder"), "{body}");
        for (path, request) in [("/ipc/nothing", "null"), ("/ipc/run_get", "{"), ("/ipc/run_get", "[1]")] {
            let (status, body) = browser.post(path, request).await;
            assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{path}");
            assert!(serde_json::from_str::<AppError>(&body).is_ok(), "{body}");
        }
    }

    #[tokio::test]
    async fn serves_the_page_under_every_address_of_it() {
        let browser = Browser::open().await;
        for path in ["/", "/runs/abc"] {
            let (status, body) = browser
                .send(Request::get(path).header("host", "127.0.0.1:80"), "")
                .await;
            assert_eq!((status, body.as_str()), (StatusCode::OK, "<title>Tepa</title>"));
        }
    }

    #[tokio::test]
    async fn pickers_answer_what_was_queued() {
        let browser = Browser::open().await;
        let queued = json!({ "folder": ["/a", null, "/b"] }).to_string();
        browser.post("/test/picks", &queued).await;
        let mut picked = Vec::new();
        for _ in 0..4 {
            picked.push(browser.post("/pick/folder", "{}").await.1);
        }
        assert_eq!(picked, ["\"/a\"", "null", "\"/b\"", "null"]);
    }

    #[tokio::test]
    async fn pages_from_elsewhere_are_not_answered() {
        let browser = Browser::open().await;
        let here = || Request::get("/").header("host", "localhost:80");
        assert_eq!(
            browser
                .send(here().header("origin", "http://localhost:5173"), "")
                .await
                .0,
            StatusCode::OK
        );
        assert_eq!(
            browser.send(here().header("origin", "https://example.org"), "").await.0,
            StatusCode::FORBIDDEN
        );
        let renamed = Request::get("/").header("host", "example.org");
        assert_eq!(browser.send(renamed, "").await.0, StatusCode::FORBIDDEN);
        let plain = Request::post("/ipc/app_info").header("host", "localhost:80");
        assert_eq!(browser.send(plain, "null").await.0, StatusCode::UNPROCESSABLE_ENTITY);
    }

    #[tokio::test]
    async fn large_requests_are_refused() {
        let browser = Browser::open().await;
        let body = format!("\"{}\"", "x".repeat(LARGEST));
        assert_eq!(
            browser.post("/ipc/task_check", &body).await.0,
            StatusCode::PAYLOAD_TOO_LARGE
        );
    }
}
