//! The languages of the waiting page.

/// The values that Cloudflare's `default_template_language` can have.
pub const CLOUDFLARE: [&str; 39] = [
    "en-US", "es-ES", "de-DE", "fr-FR", "it-IT", "ja-JP", "ko-KR", "pt-BR", "zh-CN", "zh-TW",
    "nl-NL", "pl-PL", "id-ID", "tr-TR", "ar-EG", "ru-RU", "fa-IR", "bg-BG", "hr-HR", "cs-CZ",
    "da-DK", "fi-FI", "lt-LT", "lv-LV", "ms-MY", "nb-NO", "ro-RO", "el-GR", "he-IL", "hi-IN",
    "hu-HU", "sr-BA", "sk-SK", "sl-SI", "sv-SE", "tl-PH", "th-TH", "uk-UA", "vi-VN",
];

/// The language that stands where none is declared.
pub const DEFAULT: &str = "en-US";

/// Why `language` cannot be the default, when `translated` are the ones there are; none if it can.
pub(super) fn refusal(language: &str, translated: &[String]) -> Option<String> {
    if translated.iter().any(|known| known == language) {
        return None;
    }
    let translated = translated.join(", ");
    Some(if CLOUDFLARE.contains(&language) {
        format!("{language} is not translated yet; there are {translated}")
    } else {
        format!("must be one of {translated}, not {language:?}")
    })
}
