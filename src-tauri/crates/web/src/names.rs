//! Looking names up.

use std::io;
use std::net::SocketAddr;

use async_trait::async_trait;

/// Where names lead.
#[async_trait]
pub trait Names: Send + Sync {
    /// All addresses of a name.
    async fn look_up(&self, name: &str, port: u16) -> io::Result<Vec<SocketAddr>>;
}

/// As the system says.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemNames;

#[async_trait]
impl Names for SystemNames {
    async fn look_up(&self, name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        Ok(tokio::net::lookup_host((name, port)).await?.collect())
    }
}
