//! From the URL of a request to the room that covers it.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::site::path::{Canonical, end, segments, spelling};
use crate::site::room::{Room, Site};

/// Where ACME looks for its challenges (RFC 8555, section 8.3). Never covered: a certificate must
/// renew while people queue.
const ACME: &[u8] = b"/.well-known/acme-challenge/";
/// Where crawlers look for rules (RFC 9309). Never covered: a crawler must not take a waiting page
/// for them.
const ROBOTS: &[u8] = b"/robots.txt";
/// What a covered path is followed by where a visitor leaves.
const LEAVE: &[u8] = b"/.anteroom/leave";

/// The routes of all rooms, ordered for the search.
#[derive(Clone, Debug)]
pub struct Routes {
    /// In the order of [`shortest_first`].
    hosts: Vec<Host>,
    /// The path of each room's cookie, by the room's index.
    cookie_paths: Vec<String>,
}

/// The routes of one host.
#[derive(Clone, Debug)]
struct Host {
    name: Vec<u8>,
    /// The routes for which case matters.
    exact: Paths,
    /// The routes for which it does not, folded.
    folded: Paths,
}

/// Covered paths without a final slash (`/` is empty), each with the index of its room.
#[derive(Clone, Debug, Default)]
struct Paths {
    /// Sorted by path.
    sorted: Vec<(Vec<u8>, usize)>,
    /// The number of segments of the deepest path.
    depth: usize,
}

/// A request that a room covers.
#[derive(Clone, Debug)]
pub struct Match<'a> {
    /// The index of the room in [`Site::rooms`].
    pub room: usize,
    /// Whether the request came over https.
    pub https: bool,
    /// Whether the request is for the room's own endpoint where a visitor leaves:
    /// `<covered path>/.anteroom/leave`.
    pub leave: bool,
    /// Whether origins may find the path under routes of several rooms, so that a pass of one might
    /// open another. Only an ambiguous path can be disputed; no browser sends one. The gate refuses
    /// it.
    pub disputed: bool,
    path: Canonical<'a>,
    raw_path: &'a [u8],
    query: &'a [u8],
    cookie_path: &'a str,
}

impl Routes {
    /// Orders the routes of a site.
    pub fn new(site: &Site) -> Self {
        let mut hosts: Vec<Host> = Vec::new();
        for (index, room) in site.rooms.iter().enumerate() {
            for route in &room.routes {
                let name = route.host.as_bytes();
                let at = hosts.binary_search_by(|host| shortest_first(&host.name, name));
                let at = at.unwrap_or_else(|at| {
                    hosts.insert(at, Host::new(name));
                    at
                });
                if let Some(host) = hosts.get_mut(at) {
                    host.add(room, &route.path, index);
                }
            }
        }
        for host in &mut hosts {
            host.exact.sorted.sort();
            host.folded.sorted.sort();
        }
        let cookie_paths = site
            .rooms
            .iter()
            .map(|room| room.cookie.path.clone())
            .collect();
        Self {
            hosts,
            cookie_paths,
        }
    }

    /// The room that covers an absolute URL, `http(s)://[user@]host[:port][/path][?query]`. The
    /// most specific route decides. None if no room covers it, or if it is exempt.
    pub fn find<'a>(&'a self, url: &'a str) -> Option<Match<'a>> {
        // The runtime spells schemes in lower case; looking for the colon takes longer.
        let (https, rest) = match (url.strip_prefix("https://"), url.strip_prefix("http://")) {
            (Some(rest), _) => (true, rest),
            (_, Some(rest)) => (false, rest),
            _ => url
                .split_once("://")
                .map(|(scheme, rest)| (scheme.eq_ignore_ascii_case("https"), rest))?,
        };
        // URL parsers take any number of slashes here, and a backslash for a slash anywhere.
        let rest = rest.trim_start_matches(['/', '\\']).as_bytes();
        let authority = rest
            .iter()
            .position(|byte| matches!(byte, b'/' | b'\\' | b'?' | b'#'));
        let (authority, rest) = rest.split_at_checked(authority.unwrap_or(rest.len()))?;
        let host = self.host(host_of(authority))?;

        let (raw_path, query) = rest.split_at_checked(end(rest))?;
        if raw_path == ROBOTS || (raw_path.starts_with(ACME) && Canonical::new(raw_path).is_plain())
        {
            return None;
        }
        let raw_path = if raw_path.is_empty() { b"/" } else { raw_path };
        let path = Canonical::new(raw_path);
        let (room, disputed) = host.find(&path)?;
        Some(Match {
            room,
            https,
            leave: !path.is_ambiguous() && path.as_bytes().ends_with(LEAVE),
            disputed,
            path,
            raw_path,
            query,
            cookie_path: self.cookie_paths.get(room)?,
        })
    }

    fn host(&self, name: &[u8]) -> Option<&Host> {
        let at = self
            .hosts
            .binary_search_by(|host| shortest_first(&host.name, name))
            .ok()?;
        self.hosts.get(at)
    }
}

impl Host {
    fn new(name: &[u8]) -> Self {
        Self {
            name: name.to_vec(),
            exact: Paths::default(),
            folded: Paths::default(),
        }
    }

    fn add(&mut self, room: &Room, path: &str, index: usize) {
        let path = path.as_bytes();
        if room.path_case_sensitive {
            self.exact.add(path, index);
        } else {
            self.folded
                .add(Canonical::new(path).folded().as_bytes(), index);
        }
    }

    /// The room of the most specific route over `path`, and whether other rooms may cover it too.
    fn find(&self, path: &Canonical<'_>) -> Option<(usize, bool)> {
        if path.is_ambiguous() {
            return self.find_ambiguous(path);
        }
        let exact = self.exact.find(path.as_bytes(), |key, path| key.cmp(path));
        if self.folded.sorted.is_empty() {
            return exact.map(|(_, room)| (room, false));
        }
        let folded = if path.as_bytes().is_ascii() {
            self.folded.find(path.as_bytes(), folding_ascii)
        } else {
            self.folded
                .find(path.folded().as_bytes(), |key, path| key.cmp(path))
        };
        // No two routes of one depth cover one path: a pair belongs to one room.
        exact.max(folded).map(|(_, room)| (room, false))
    }

    fn find_ambiguous(&self, path: &Canonical<'_>) -> Option<(usize, bool)> {
        let folded = path.folded();
        let exact = self
            .exact
            .sorted
            .iter()
            .filter(|(route, _)| path.may_lie_under(route));
        let others = self
            .folded
            .sorted
            .iter()
            .filter(|(route, _)| folded.may_lie_under(route));
        let mut found = exact.chain(others);
        let (route, room) = found.next()?;
        let (mut depth, mut room, mut disputed) = (segments(route).count(), *room, false);
        for (route, other) in found {
            disputed |= *other != room;
            let deeper = segments(route).count();
            if deeper > depth {
                (depth, room) = (deeper, *other);
            }
        }
        Some((room, disputed))
    }
}

impl Paths {
    fn add(&mut self, path: &[u8], room: usize) {
        let path = path.strip_suffix(b"/").unwrap_or(path);
        self.depth = self.depth.max(segments(path).count());
        self.sorted.push((path.to_vec(), room));
    }

    /// The deepest of these paths that `path` lies under, as its depth and its room. `order`
    /// compares one of these with the beginning of `path`.
    fn find(
        &self,
        path: &[u8],
        order: impl Fn(&[u8], &[u8]) -> Ordering,
    ) -> Option<(usize, usize)> {
        let path = path.strip_suffix(b"/").unwrap_or(path);
        let mut depth = 0;
        let mut end = 0;
        // From the root down as far as any route goes, then back up.
        while depth < self.depth && end < path.len() {
            end = next_slash(path, end + 1);
            depth += 1;
        }
        loop {
            let prefix = path.get(..end)?;
            if let Ok(at) = self
                .sorted
                .binary_search_by(|(route, _)| order(route, prefix))
            {
                return self.sorted.get(at).map(|(_, room)| (depth, *room));
            }
            end = prefix.iter().rposition(|&byte| byte == b'/')?;
            depth -= 1;
        }
    }
}

impl Match<'_> {
    /// The canonical path; see [`Canonical::as_bytes`].
    pub fn path(&self) -> &[u8] {
        self.path.as_bytes()
    }

    /// The same, spelled as a URL does.
    pub fn spelled_path(&self) -> Cow<'_, str> {
        spelling(self.path.as_bytes())
    }

    /// The path as it came.
    pub fn raw_path(&self) -> &str {
        str::from_utf8(self.raw_path).unwrap_or_default()
    }

    /// The query as it came, without `?` and fragment.
    pub fn query(&self) -> &str {
        let query = self.query.strip_prefix(b"?").unwrap_or_default();
        let query = query.split(|&byte| byte == b'#').next();
        str::from_utf8(query.unwrap_or_default()).unwrap_or_default()
    }

    /// Whether origins may disagree on where the path leads; see [`Canonical::is_ambiguous`].
    pub fn is_ambiguous(&self) -> bool {
        self.path.is_ambiguous()
    }

    /// The way back to the room's cookie. Browsers match a cookie's path byte by byte, so a request
    /// for `/%73hop` comes without the cookie of `/shop`. Such a GET is sent to the reference that
    /// is returned here, which begins with exactly one slash, lies inside the cookie's path and
    /// keeps the query. None where the cookie reaches the request as it is.
    pub fn redirect(&self) -> Option<String> {
        let inside = |path: &[u8]| reaches(self.cookie_path.as_bytes(), path);
        if inside(self.raw_path) {
            return None;
        }
        let mut reference = spelling(self.path.as_bytes()).into_owned();
        // An ambiguous path may lead out of the room.
        if !inside(reference.as_bytes()) {
            return None;
        }
        // A fragment stays with the browser.
        let query = self
            .query
            .split(|&byte| byte == b'#')
            .next()
            .unwrap_or_default();
        for &byte in query {
            if byte.is_ascii_graphic() {
                reference.push(char::from(byte));
            } else {
                reference.push_str(percent_encoding::percent_encode_byte(byte));
            }
        }
        Some(reference)
    }
}

/// Whether a browser sends a cookie of path `cookie` along with a request for `path` (RFC 6265,
/// section 5.1.4).
fn reaches(cookie: &[u8], path: &[u8]) -> bool {
    match path.strip_prefix(cookie) {
        Some(rest) => rest.is_empty() || cookie.ends_with(b"/") || rest.starts_with(b"/"),
        None => false,
    }
}

/// The host in the authority of a URL, without user, port and trailing dots.
fn host_of(authority: &[u8]) -> &[u8] {
    let host = match authority.iter().rposition(|&byte| byte == b'@') {
        Some(at) => authority.get(at + 1..).unwrap_or_default(),
        None => authority,
    };
    // The colons of an IPv6 address stand in brackets.
    let mut host = match host.iter().rposition(|byte| matches!(byte, b':' | b']')) {
        Some(colon) if host.get(colon) == Some(&b':') => host.get(..colon).unwrap_or_default(),
        _ => host,
    };
    while let Some(shorter) = host.strip_suffix(b".") {
        host = shorter;
    }
    host
}

fn next_slash(path: &[u8], from: usize) -> usize {
    let rest = path.get(from..).unwrap_or_default();
    rest.iter()
        .position(|&byte| byte == b'/')
        .map_or(path.len(), |at| from + at)
}

/// Orders hosts by length, then by name: most comparisons end at the length. `key` is in lower case.
fn shortest_first(key: &[u8], name: &[u8]) -> Ordering {
    key.len()
        .cmp(&name.len())
        .then_with(|| folding_ascii(key, name))
}

/// Compares `text`, put into lower case, with `key`, which is.
fn folding_ascii(key: &[u8], text: &[u8]) -> Ordering {
    key.iter()
        .copied()
        .cmp(text.iter().map(u8::to_ascii_lowercase))
}
