//! What travels from the control object to isolates and rooms.

use serde::{Deserialize, Serialize};

use super::published::Published;
use super::version::{NoVersion, Version};

/// A configuration on its way: what is published, and in which life of the object's storage.
///
/// On its way it is a text: a line with the version, and the rest as JSON. So whoever carries it sees
/// which it is without reading all of it. An isolate may be newer or older than the object that wrote
/// the text; so fields are only ever added, with defaults.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Publication {
    /// See [`Version`].
    pub life: u64,
    /// What is published.
    #[serde(flatten)]
    pub published: Published,
}

/// Why a text is no publication.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// The first line.
    #[error(transparent)]
    Version(#[from] NoVersion),
    /// The rest.
    #[error("not a publication: {0}")]
    Publication(#[from] serde_json::Error),
    /// The two do not belong together.
    #[error("a publication of version {0}, called {1}")]
    Mixed(Version, Version),
}

impl Publication {
    /// Which one it is.
    pub const fn version(&self) -> Version {
        Version(self.life, self.published.version)
    }

    /// Writes it as a text.
    ///
    /// # Errors
    /// None that is known; the encoder's own are passed on.
    pub fn write(&self) -> Result<String, serde_json::Error> {
        let body = serde_json::to_string(self)?;
        Ok(format!("{}\n{body}", self.version()))
    }

    /// Reads a text. None where it has a version and nothing more: its writer took it that the reader
    /// has the rest, or nothing was published yet.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn read(text: &str) -> Result<(Version, Option<Self>), Unreadable> {
        let (version, body) = text.split_once('\n').unwrap_or((text, ""));
        let version = version.parse()?;
        if body.is_empty() {
            return Ok((version, None));
        }
        let publication: Self = serde_json::from_str(body)?;
        if publication.version() == version {
            Ok((version, Some(publication)))
        } else {
            Err(Unreadable::Mixed(publication.version(), version))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text as it was first written. A line here may be added, never changed: isolates and objects of
    /// two versions live side by side, and a data centre keeps a copy for weeks.
    const FIRST: &str = include_str!("publication/first.txt");

    #[test]
    fn a_text_of_the_first_version_is_read() {
        let (version, publication) = Publication::read(FIRST.trim_end()).unwrap();
        let publication = publication.unwrap();
        assert_eq!(version, Version(0x19a, 7));
        assert_eq!(publication.published.site.rooms.len(), 1);
        assert_eq!(publication.published.pages.len(), 1);
    }

    #[test]
    fn is_read_as_it_is_written() {
        let (_, publication) = Publication::read(FIRST.trim_end()).unwrap();
        let publication = publication.unwrap();
        let text = publication.write().unwrap();
        let (version, read) = Publication::read(&text).unwrap();
        assert_eq!((version, read), (publication.version(), Some(publication)));
    }

    #[test]
    fn a_version_alone_is_no_publication() {
        for text in ["19a.7", "19a.7\n"] {
            assert_eq!(Publication::read(text).unwrap(), (Version(0x19a, 7), None));
        }
        let renamed = FIRST.trim_end().replacen("19a.7", "19a.8", 1);
        assert!(matches!(
            Publication::read(&renamed),
            Err(Unreadable::Mixed(..))
        ));
        for text in ["", "{}", "19a.7\n{}", "19a.7\nnull", "\n{}"] {
            assert!(Publication::read(text).is_err(), "{text}");
        }
    }
}
