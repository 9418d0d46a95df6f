//! The whole app over HTTP: for browser tests, and for work on the page in a browser.
//!
//! It is the real app on a data folder of its own; only what the desktop would do is played: file pickers answer what a
//! test told them to, and nothing is opened in other programs. It listens on this machine alone, and answers only
//! pages that it served itself. It is not part of what ships.

mod pickers;
mod server;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;

use app::commands::settings::Endpoint;
use app::{App, Config, KeyPlace, Pace};
use clap::{Parser, ValueEnum};
use contract::AppError;
use tokio::net::TcpListener;

/// Serves the app to a browser on this machine.
#[derive(Debug, Parser)]
struct Arguments {
    /// Where to listen; 0 takes a free one and prints it.
    #[arg(long, default_value_t = 5174)]
    port: u16,
    /// The data folder; otherwise the usual one.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Where keys are kept.
    #[arg(long, value_enum, default_value_t = Keys::Memory)]
    keys: Keys,
    /// Play the sample's recording at once.
    #[arg(long)]
    instant: bool,
    /// The built page.
    #[arg(long, value_name = "DIR", default_value = "ui/dist")]
    page: PathBuf,
    /// A model server for this process, in the place of the settings' one.
    #[arg(long, value_name = "URL", requires = "model")]
    url: Option<String>,
    /// The model to ask there.
    #[arg(long, value_name = "MODEL", requires = "url")]
    model: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Keys {
    Memory,
    Keychain,
}

fn main() -> ExitCode {
    app::serve_if_asked().unwrap_or_else(|| run(Arguments::parse()))
}

#[tokio::main]
async fn run(arguments: Arguments) -> ExitCode {
    match serve(arguments).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

async fn serve(arguments: Arguments) -> Result<(), AppError> {
    let endpoint = arguments
        .url
        .zip(arguments.model)
        .map(|(base_url, model)| Endpoint { base_url, model });
    let app = App::open(Config {
        data_folder: arguments.data,
        keys: match arguments.keys {
            Keys::Memory => KeyPlace::Memory,
            Keys::Keychain => KeyPlace::Keychain,
        },
        pace: if arguments.instant {
            Pace::Instant
        } else {
            Pace::Natural
        },
        endpoint,
        ..Config::default()
    })
    .await?;
    let _ = app::logging::start(app.data_folder());
    let cannot_listen = |error: std::io::Error| AppError::new("cannot_listen", format!("cannot listen: {error}"));
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, arguments.port));
    let listener = TcpListener::bind(address).await.map_err(cannot_listen)?;
    let address = listener.local_addr().map_err(cannot_listen)?;
    let router = server::router(app.clone(), &arguments.page, address.port());
    say(&format!("http://{address}"));
    tokio::select! {
        served = axum::serve(listener, router) => served.map_err(cannot_listen)?,
        // Streams of signals never end by themselves, so the server is left rather than drained.
        _ = tokio::signal::ctrl_c() => {}
    }
    app.close().await
}

/// The first line on the standard output is the address.
#[expect(clippy::print_stdout, reason = "a program for terminals and tests")]
fn say(line: &str) {
    println!("{line}");
}
