//! The canonical form of a path: the one form in which declared and requested paths are compared.
//!
//! Origins read odd spellings in different ways: one takes `/shop%2Fx` for two segments, another for
//! one; one drops `;v=1`, another does not. The canonical form is the reading in which a path is
//! taken apart the furthest, so whatever an origin finds under a covered path is found here too.
//! Being covered by mistake costs a visitor a wait; not being covered by mistake opens a way round
//! the room.
//!
//! Two things escape that argument, because some readers drop a segment that others keep. A `..`
//! together with anything odd: `/shop/..;/x` is `/x` to one origin and lies in `/shop` for another.
//! And a parameter that holds a slash: `/;a%2Fx/shop` is `/shop` where parameters go before
//! decoding. Such a path is called ambiguous, and [`Canonical::may_lie_under`] answers for all of its
//! readings at once.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

/// What stays literal when a canonical path is spelled out: slashes, and RFC 3986 `pchar`, but for `;`,
/// which starts what the canonical form drops.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b'=')
    .remove(b':')
    .remove(b'@');

/// A path in canonical form.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Canonical<'a> {
    path: Cow<'a, [u8]>,
    /// Of an ambiguous path all segments, also those that a `..` removes; joined as in `path`.
    segments: Option<Vec<u8>>,
    odd: bool,
}

impl<'a> Canonical<'a> {
    /// Brings a path into canonical form. A query or fragment is cut off; a path that does not
    /// start with `/` is read as if it did. Borrows when there is nothing to change.
    pub fn new(raw: &'a [u8]) -> Self {
        let raw = raw.get(..end(raw)).unwrap_or(raw);
        if is_plain(raw) {
            Self {
                path: Cow::Borrowed(raw),
                segments: None,
                odd: false,
            }
        } else {
            resolve(raw)
        }
    }

    /// The path: decoded, without dot segments, empty segments and parameters. It starts with `/`,
    /// and ends with `/` if the request's does. Any bytes may occur in a segment but `/ \ ; ? #`
    /// and NUL.
    pub fn as_bytes(&self) -> &[u8] {
        &self.path
    }

    /// Whether readers may disagree on which segments count: the path has a `..` together with
    /// something odd (an encoded slash, a backslash, a parameter, an empty segment and the like),
    /// or a parameter that holds a slash.
    pub fn is_ambiguous(&self) -> bool {
        self.segments.is_some()
    }

    /// Whether the path is spelled with anything that readers disagree on.
    pub fn is_odd(&self) -> bool {
        self.odd
    }

    /// Whether the raw path is in canonical form already.
    pub fn is_plain(&self) -> bool {
        matches!(self.path, Cow::Borrowed(_))
    }

    /// Whether some reading of an ambiguous path lies under `route`, itself a canonical path.
    /// Whatever a reader makes of the path, it keeps some of the segments in their order; so a path
    /// may lie under all routes whose segments occur in it in order.
    pub fn may_lie_under(&self, route: &[u8]) -> bool {
        let Some(all) = &self.segments else {
            return false;
        };
        let mut all = segments(all);
        segments(route).all(|wanted| all.any(|segment| segment == wanted))
    }

    /// The same path without regard to case.
    pub fn folded(&self) -> Canonical<'static> {
        Canonical {
            path: Cow::Owned(fold(&self.path)),
            segments: self.segments.as_deref().map(fold),
            odd: self.odd,
        }
    }
}

/// The segments of a canonical path.
pub fn segments(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|&byte| byte == b'/')
        .filter(|segment| !segment.is_empty())
}

/// Spells a canonical path as a URL does. The canonical form of the result is `path` again. Borrows
/// when nothing is to be encoded.
pub fn spelling(path: &[u8]) -> Cow<'_, str> {
    percent_encode(path, ENCODED).into()
}

/// Lower case, by Unicode; upper case first, so that `ς` and `σ`, `ſ` and `s` are one. What is not
/// UTF-8 stays as it is. Agrees with ASCII lower case on ASCII.
pub fn fold(path: &[u8]) -> Vec<u8> {
    let mut folded = Vec::with_capacity(path.len());
    for chunk in path.utf8_chunks() {
        let text = chunk
            .valid()
            .chars()
            .flat_map(char::to_uppercase)
            .flat_map(char::to_lowercase);
        folded.extend_from_slice(text.collect::<String>().as_bytes());
        folded.extend_from_slice(chunk.invalid());
    }
    folded
}

/// Where the path ends and a query or a fragment begins.
pub fn end(url: &[u8]) -> usize {
    url.iter()
        .position(|&byte| matches!(byte, b'?' | b'#'))
        .unwrap_or(url.len())
}

/// Whether a path without query is canonical as it stands. Runs on every request to a host with a
/// room, so it looks at each byte once.
fn is_plain(path: &[u8]) -> bool {
    let mut after_slash = false;
    let mut dots_only = false;
    for &byte in path {
        match byte {
            b'/' if after_slash || dots_only => return false,
            b'/' => after_slash = true,
            b'.' => {
                dots_only |= after_slash;
                after_slash = false;
            }
            b'%' | b';' | b'\\' | 0..=b' ' | 0x7f.. => return false,
            _ => {
                after_slash = false;
                dots_only = false;
            }
        }
    }
    !dots_only && path.first() == Some(&b'/')
}

/// The canonical form of a path that is not plain.
fn resolve(raw: &[u8]) -> Canonical<'static> {
    let (decoded, mut odd) = decode(raw);
    let mut path = Vec::with_capacity(decoded.len() + 1);
    let mut all = Vec::with_capacity(decoded.len() + 1);
    let mut climbs = false;
    let mut swallows = false;
    let mut open = true;
    for (n, piece) in decoded
        .split_inclusive(|byte| matches!(byte, b'/' | b'\\'))
        .enumerate()
    {
        let (token, separator) = match piece.split_last() {
            Some((separator @ (b'/' | b'\\'), token)) => (token, Some(*separator)),
            _ => (piece, None),
        };
        let name = token
            .split(|byte| matches!(byte, b';' | b'?' | b'#' | 0))
            .next();
        let name = name.unwrap_or_default();
        swallows |= name.len() < token.len() && separator == Some(b'\\');
        open = true;
        match name {
            // The slash at the start is no empty segment.
            b"" => odd |= n > 0 && separator.is_some(),
            b"." => {}
            b".." => {
                climbs = true;
                let parent = path.iter().rposition(|&byte| byte == b'/').unwrap_or(0);
                path.truncate(parent);
            }
            _ => {
                open = separator.is_some();
                for form in [&mut path, &mut all] {
                    form.push(b'/');
                    form.extend_from_slice(name);
                }
            }
        }
    }
    if open || path.is_empty() {
        path.push(b'/');
    }
    let ambiguous = swallows || (climbs && odd);
    Canonical {
        path: Cow::Owned(path),
        segments: ambiguous.then_some(all),
        odd,
    }
}

/// Decodes until nothing is left to decode; what is no percent-encoding stays. A decoded slash
/// becomes a backslash, so that all slashes left are those on which readers agree. Also says whether
/// there was anything on which they do not.
///
/// One pass is enough, because a byte that was just decoded is looked at again together with its
/// neighbours, and two encodings never overlap (`%` is no hexadecimal digit).
fn decode(raw: &[u8]) -> (Vec<u8>, bool) {
    let mut decoded: Vec<u8> = Vec::with_capacity(raw.len());
    let mut odd = false;
    // The place of the last byte in `decoded` that was decoded.
    let mut last = None;
    for &byte in raw {
        // URL parsers drop these.
        if matches!(byte, b'\t' | b'\n' | b'\r') {
            odd = true;
            continue;
        }
        odd |= matches!(byte, b'\\' | b';' | 0);
        decoded.push(byte);
        while let Some(&[b'%', high, low]) = decoded.last_chunk()
            && let (Some(high), Some(low)) = (digit(high), digit(low))
        {
            let start = decoded.len() - 3;
            // Decoded twice.
            odd |= last.is_some_and(|last| last >= start);
            let byte = high << 4 | low;
            odd |= matches!(byte, b'/' | b'\\' | b';' | b'?' | b'#' | 0);
            decoded.truncate(start);
            decoded.push(if byte == b'/' { b'\\' } else { byte });
            last = Some(start);
        }
    }
    (decoded, odd)
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte)
        .to_digit(16)
        .and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests;
