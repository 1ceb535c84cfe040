//! The smallest useful front door on Pingora: one upstream, X-Forwarded fields, a request id and one JSON line for
//! a request, written with one write as by nginx.
//!
//! usage: pingora-door LISTEN UPSTREAM THREADS off|stdout|FILE

use async_trait::async_trait;
use pingora::http::{RequestHeader, ResponseHeader};
use pingora::prelude::*;
use pingora::proxy::http_proxy_service;
use pingora::server::configuration::ServerConf;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

struct Door {
    upstream: SocketAddr,
    log: Option<File>,
    next: AtomicU64,
}

struct Exchange {
    started: Instant,
    id: String,
}

#[async_trait]
impl ProxyHttp for Door {
    type CTX = Exchange;

    fn new_ctx(&self) -> Exchange {
        let n = self.next.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        Exchange { started: Instant::now(), id: format!("{:016x}{:016x}", n ^ (n >> 31), n) }
    }

    async fn upstream_peer(&self, _: &mut Session, _: &mut Exchange) -> Result<Box<HttpPeer>> {
        Ok(Box::new(HttpPeer::new(self.upstream, false, String::new())))
    }

    async fn upstream_request_filter(
        &self,
        session: &mut Session,
        request: &mut RequestHeader,
        exchange: &mut Exchange,
    ) -> Result<()> {
        if let Some(client) = session.client_addr().and_then(|a| a.as_inet()) {
            request.insert_header("X-Forwarded-For", client.ip().to_string())?;
        }
        if let Some(host) = session.req_header().headers.get("host") {
            request.insert_header("X-Forwarded-Host", host.clone())?;
        }
        request.insert_header("X-Forwarded-Proto", "http")?;
        request.insert_header("X-Request-Id", exchange.id.as_str())
    }

    async fn response_filter(
        &self,
        _: &mut Session,
        response: &mut ResponseHeader,
        exchange: &mut Exchange,
    ) -> Result<()> {
        response.insert_header("X-Request-Id", exchange.id.as_str())
    }

    async fn logging(&self, session: &mut Session, _: Option<&Error>, exchange: &mut Exchange) {
        let Some(mut log) = self.log.as_ref() else { return };
        let request = session.req_header();
        let field = |name| request.headers.get(name).and_then(|v| v.to_str().ok()).unwrap_or("");
        let line = format!(
            concat!(
                r#"{{"created_at":{:.6},"namespace":"front-door","event":"http request completed","trace_id":"{}","#,
                r#""severity":3,"http":{{"status_code":{},"method":"{}","scheme":"http","host":{:?},"path":{:?},"#,
                r#""query":{:?},"duration":{},"response_content_length":{},"user_agent":{:?}}},"#,
                r#""data":{{"destination":"{}","proxy_name":"backend"}}}}"#,
                "\n"
            ),
            SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64(),
            exchange.id,
            session.response_written().map_or(0, |r| r.status.as_u16()),
            request.method,
            field("host"),
            request.uri.path(),
            request.uri.query().unwrap_or(""),
            exchange.started.elapsed().as_nanos(),
            session.body_bytes_sent(),
            field("user-agent"),
            self.upstream,
        );
        if let Err(e) = log.write_all(line.as_bytes()) {
            panic!("write the log: {e}");
        }
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let [_, listen, upstream, threads, log] = args.as_slice() else {
        panic!("usage: pingora-door LISTEN UPSTREAM THREADS off|stdout|FILE");
    };
    let log = match log.as_str() {
        "off" => None,
        "stdout" => Some(File::from(std::io::stdout().as_fd().try_clone_to_owned().expect("stdout"))),
        file => Some(OpenOptions::new().append(true).create(true).open(file).expect("open the log")),
    };
    let conf = ServerConf {
        threads: threads.parse().expect("THREADS is a number"),
        upstream_keepalive_pool_size: 1024,
        grace_period_seconds: Some(0),
        graceful_shutdown_timeout_seconds: Some(1),
        ..ServerConf::default()
    };
    let mut server = Server::new_with_opt_and_conf(None, conf);
    server.bootstrap();
    let door = Door { upstream: upstream.parse().expect("UPSTREAM is an address"), log, next: AtomicU64::new(1) };
    let mut service = http_proxy_service(&server.configuration, door);
    service.add_tcp(listen);
    server.add_service(service);
    server.run_forever();
}
