//! What is below one request: that it is sent once, and how long its server's name may be looked up.

use std::sync::Mutex;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::*;
use crate::testing::Jumping;

const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
const ACKNOWLEDGED: u8 = 1;

/// A frame of HTTP/2 (RFC 9113, section 4.1).
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = length[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// What a request gets, and whether the connection ends with it.
struct Frames {
    bytes: Vec<u8>,
    ends: bool,
}

impl Frames {
    fn open(bytes: Vec<u8>) -> Self {
        Self { bytes, ends: false }
    }
}

/// Answers each request of a connection with `answer`, which is told the request's stream; counts the requests.
async fn speaks_frames(mut stream: TcpStream, seen: &Mutex<usize>, answer: impl Fn(u32) -> Frames) -> io::Result<()> {
    stream.read_exact(&mut [0; 24]).await?;
    stream.write_all(&frame(SETTINGS, 0, 0, &[])).await?;
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).await?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let (kind, flags) = (head[3], head[4]);
        let number = u32::from_be_bytes([head[5], head[6], head[7], head[8]]) & (u32::MAX >> 1);
        stream
            .read_exact(&mut vec![0; usize::try_from(length).unwrap()])
            .await?;
        if kind == SETTINGS && flags & ACKNOWLEDGED == 0 {
            stream.write_all(&frame(SETTINGS, ACKNOWLEDGED, 0, &[])).await?;
        }
        if kind == HEADERS {
            *seen.lock().unwrap() += 1;
            let answer = answer(number);
            stream.write_all(&answer.bytes).await?;
            if answer.ends {
                stream.shutdown().await?;
            }
        }
    }
}

/// The error of one request to a server of frames, and how many the server saw.
async fn asked_once(answer: impl Fn(u32) -> Frames + Clone + Send + 'static) -> (LlmError, usize) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = Endpoint::new(format!("http://{}", listener.local_addr().unwrap()), None);
    let seen = Arc::new(Mutex::new(0));
    let noted = Arc::clone(&seen);
    let serving = tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            // Whoever has heard enough goes away.
            let _ = speaks_frames(stream, &noted, answer.clone()).await;
        }
    });
    let wire = crate::openai_compatible::WIRE;
    let mut http = Http::new(wire, endpoint, Arc::new(Jumping::default())).unwrap();
    // The same client, told beforehand what it would else agree on with the server under TLS.
    let builder = builder(&http.address, &http.timeouts);
    http.client = builder.http2_prior_knowledge().build().unwrap();
    let error = http.get("models").await.err().unwrap().error;
    serving.abort();
    let seen = *seen.lock().unwrap();
    (error, seen)
}

#[tokio::test]
async fn a_request_that_a_server_sends_back_unseen_is_not_sent_again_underneath() {
    // Every error of RFC 9113, section 7, and one that does not exist; 7 is REFUSED_STREAM: "not processed, may be sent again".
    for code in 0..=14_u32 {
        let (error, seen) =
            asked_once(move |stream| Frames::open(frame(RST_STREAM, 0, stream, &code.to_be_bytes()))).await;
        assert_eq!(
            (error.code, seen),
            (LlmErrorCode::Connection, 1),
            "error {code}: {error}"
        );
    }
    let going = [0_u32.to_be_bytes(), 0_u32.to_be_bytes()].concat();
    let (error, seen) = asked_once(move |_| Frames::open(frame(GOAWAY, 0, 0, &going))).await;
    assert_eq!((error.code, seen), (LlmErrorCode::Connection, 1), "{error}");
}

#[tokio::test]
async fn frames_that_are_none_end_in_an_error() {
    let seed = 0x6832;
    let mut random = fastrand::Rng::with_seed(seed);
    for round in 0..50 {
        let noise: Vec<u8> = (0..200).map(|_| random.u8(..)).collect();
        let (error, seen) = asked_once(move |_| Frames {
            bytes: noise.clone(),
            ends: true,
        })
        .await;
        assert!(
            !error.message.is_empty() && seen <= 1,
            "seed {seed:#x}, round {round}: {error}"
        );
    }
}

#[tokio::test]
async fn a_name_server_that_does_not_answer_is_not_waited_for_as_long_as_a_server() {
    // Looking the name up is part of connecting, and has to be over before that is.
    assert!(LONGEST_LOOKUP < Timeouts::default().connect);
    let silent = std::future::pending::<io::Result<std::vec::IntoIter<SocketAddr>>>();
    let found = looked_up(silent, Duration::ZERO).await;
    assert!(matches!(found, Err(UnknownName::NoAnswer)), "{found:?}");
    let known = async { Ok(vec![SocketAddr::from(([192, 0, 2, 1], 443))].into_iter()) };
    assert_eq!(looked_up(known, LONGEST_LOOKUP).await.unwrap().len(), 1);
}
