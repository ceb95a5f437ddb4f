//! What a tier says of its answer, in the header field [`super::marker::HEADER`]: who asks it must know
//! its answers from those of the runtime in its place.

/// One word.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Said {
    /// It is stored here.
    Hit,
    /// It is stored here by now: this request waited for another one's.
    Collapsed,
    /// The origin was asked.
    Miss,
    /// Nothing is stored here, and nothing else was wanted.
    Nothing,
    /// The origin was asked and has not answered.
    OriginFailed,
    /// I am here.
    Here,
    /// You are not known, or ask for what is not served here.
    Refused,
}

impl Said {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Hit,
        Self::Collapsed,
        Self::Miss,
        Self::Nothing,
        Self::OriginFailed,
        Self::Here,
        Self::Refused,
    ];

    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hit => "hit",
            Self::Collapsed => "collapsed",
            Self::Miss => "miss",
            Self::Nothing => "nothing",
            Self::OriginFailed => "origin-failed",
            Self::Here => "here",
            Self::Refused => "refused",
        }
    }

    /// What a word means.
    pub fn read(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|said| said.as_str() == word)
    }

    /// Whether the answer that it came with is one for the visitor.
    pub const fn is_answer(self) -> bool {
        matches!(self, Self::Hit | Self::Collapsed | Self::Miss)
    }
}
