//! This backend without a patch of Burn: a server of it in the same process, and Burn's client for it as the device.
//!
//! Burn 0.22 has no place for other backends, but its server runs any. So the ops of a program go through a socket of
//! the loopback interface and come back to this process. Burn has no shorter way between its client and its server.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::Mutex;

use burn_remote::Credential;
use burn_remote::server::{AuthorizationRequest, BackendServer, PeerAuthorizer, TokenAuthorizer, WebSocketTransport};
use burn_tensor::Device;
use burn_tensor::remote::RemoteHost;
use tokio::runtime::{Builder, Runtime};

use super::public::MpsGraph;
use super::signal;
use crate::device::MpsGraphDevice;
use crate::error::Error;
use crate::lock::LockAnyway;

/// Bytes of the secret that a client has to show.
const TOKEN: usize = 32;

/// Burn's device for this backend. It needs no patch, and is one of the process: every call gives the same.
///
/// The first call starts a server in this process, which listens on the loopback interface only and serves nobody who
/// does not show a secret of this process. It ends with the process. An op costs more than with the patch, because it
/// goes through a socket; the README says what to do about it.
///
/// ```no_run
/// let device = burn_mpsgraph::device()?.autodiff();
/// # Ok::<(), burn_mpsgraph::Error>(())
/// ```
///
/// An operation that breaks its contract panics on a thread of the server, which writes why to stderr and to the log.
/// Burn then ends the device: its reads are errors. [`session`] gives one that works.
///
/// # Errors
/// [`Error::Device`] if there is no port or no thread. Those of [`MpsGraphDevice::new`].
pub fn device() -> Result<Device, Error> {
    static DEVICE: Mutex<Option<Device>> = Mutex::new(None);
    let mut device = DEVICE.lock_anyway();
    if let Some(device) = &*device {
        return Ok(device.clone());
    }
    Ok(device.insert(session()?).clone())
}

/// Another device of the server behind [`device`]: its ops wait for nobody else's, and a panic in one of them ends only
/// this device. `Tensor::to_device` moves a tensor between two of them without copying it.
///
/// Burn keeps two threads for each, and the memory of its transfers, until the process ends.
///
/// # Errors
/// As of [`device`].
pub fn session() -> Result<Device, Error> {
    static SERVER: Mutex<Option<Server>> = Mutex::new(None);
    let mut server = SERVER.lock_anyway();
    if server.is_none() {
        MpsGraphDevice::new()?;
        *server = Some(Server::start()?);
    }
    server.as_mut().unwrap_or_else(|| unreachable!("it has been started")).connect()
}

/// A server of this backend, which runs until its runtime is dropped.
struct Server {
    address: String,
    token: [u8; TOKEN],
    sessions: u64,
    _runtime: Runtime,
}

impl Server {
    fn start() -> Result<Self, Error> {
        let failed = |what: &str, reason: &dyn std::fmt::Display| Error::Device {
            reason: format!("the server of this process: {what}: {reason}"),
        };
        let mut token = [0; TOKEN];
        getrandom::fill(&mut token).map_err(|error| failed("no random token", &error))?;
        let bound =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| Ok((listener.local_addr()?, listener)));
        let (address, listener) = bound.map_err(|error| failed("no port of the loopback interface", &error))?;
        // One thread passes tasks on while another answers reads.
        let runtime =
            Builder::new_multi_thread().worker_threads(2).thread_name("burn-mpsgraph-server").enable_all().build();
        let runtime = runtime.map_err(|error| failed("no threads", &error))?;
        let server = BackendServer::<MpsGraph>::new([MpsGraphDevice]);
        let server = server.with_authorizer(authorizer(token)).with_custom_ops(signal::custom_ops());
        let serving = server.serve_async(WebSocketTransport::from_listener(listener));
        runtime.spawn(async {
            if let Err(error) = serving.await {
                log::error!("burn-mpsgraph's server has ended: {error}");
            }
        });
        Ok(Self { address: format!("ws://{address}"), token, sessions: 0, _runtime: runtime })
    }

    /// Opens a session. Burn keeps one for each credential, so each has its own: the token and a number.
    fn connect(&mut self) -> Result<Device, Error> {
        let credential = [&self.token[..], &self.sessions.to_le_bytes()].concat();
        self.sessions += 1;
        let host = RemoteHost::websocket(&self.address).with_credential(credential);
        Device::remote_options(&host)
            .init()
            .map_err(|error| Error::Device { reason: format!("the server of this process does not answer: {error}") })
    }
}

/// Lets those in whose credential begins with the token.
fn authorizer(token: [u8; TOKEN]) -> impl PeerAuthorizer {
    let right = TokenAuthorizer::new(&token).unwrap_or_else(|empty| unreachable!("{empty}: it has {TOKEN} bytes"));
    move |request: AuthorizationRequest<'_>| {
        let shown = request.credential.as_bytes();
        let credential = Credential::from(&shown[..shown.len().min(TOKEN)]);
        right.authorize(AuthorizationRequest { credential: &credential, ..request })
    }
}
