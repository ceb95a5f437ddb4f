//! The languages of the page: one file each under `templates/languages`, packed by `build.rs`.

mod choose;

pub use choose::choose;

use super::plural;
use super::texts::{Forms, Texts};

/// A language that the page speaks.
#[derive(Debug)]
pub struct Language {
    /// Its tag (RFC 5646) and the name of its file: `en-US`.
    pub tag: &'static str,
    /// Its texts.
    pub texts: Texts<&'static str>,
    /// Those of the texts that the page's script needs, as JSON that may stand inside `<script>`.
    pub(super) script_texts: &'static str,
}

impl Language {
    /// A number in the digits and groups of the language, as `Intl.NumberFormat` writes it.
    pub fn number(&self, number: u64) -> String {
        let mut written = String::new();
        let plain = number.to_string();
        let grouped = number >= self.texts.separator_from;
        for (n, digit) in plain.bytes().enumerate() {
            if grouped && n > 0 && (plain.len() - n).is_multiple_of(3) {
                written += self.texts.separator;
            }
            let digit = usize::from(digit - b'0');
            written.extend(self.texts.digits.chars().nth(digit));
        }
        written
    }

    /// The form of a counted text for `number`, with the number in it.
    pub fn count(&self, forms: &Forms<&'static str>, number: u64) -> String {
        self.form(forms, number)
            .replace("{count}", &self.number(number))
    }

    fn form(&self, forms: &Forms<&'static str>, number: u64) -> &'static str {
        let rules = &self.texts.plural;
        let applies =
            |rule: Option<&str>| rule.is_some_and(|rule| plural::holds(rule, number) == Some(true));
        let form = match () {
            () if applies(rules.zero) => forms.zero,
            () if applies(rules.one) => forms.one,
            () if applies(rules.two) => forms.two,
            () if applies(rules.few) => forms.few,
            () if applies(rules.many) => forms.many,
            () => None,
        };
        form.unwrap_or(forms.other)
    }

    /// An expected wait: `about 1 hour 5 minutes`.
    pub fn wait(&self, minutes: u64) -> String {
        match minutes {
            0 => self.texts.moment.into(),
            _ => self.texts.about.replace("{time}", &self.time(minutes)),
        }
    }

    /// A wait that lies between two: `5 minutes to 1 hour 5 minutes`.
    pub fn wait_between(&self, least: u64, most: u64) -> String {
        let between = self.texts.between.replace("{from}", &self.time(least));
        between.replace("{to}", &self.time(most))
    }

    fn time(&self, minutes: u64) -> String {
        let texts = &self.texts;
        match (minutes / 60, minutes % 60) {
            (0, minutes) => self.count(&texts.minutes, minutes),
            (hours, 0) => self.count(&texts.hours, hours),
            (hours, minutes) => texts
                .hours_and_minutes
                .replace("{hours}", &self.count(&texts.hours, hours))
                .replace("{minutes}", &self.count(&texts.minutes, minutes)),
        }
    }
}

/// The language of a tag, whatever its case.
pub fn language(tag: &str) -> Option<&'static Language> {
    all()
        .iter()
        .find(|language| language.tag.eq_ignore_ascii_case(tag))
}

/// All languages, by tag.
pub fn all() -> &'static [Language] {
    &super::packed::LANGUAGES
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `Intl.NumberFormat` of CLDR 48 writes.
    #[test]
    fn numbers_are_written_as_the_script_writes_them() {
        for (tag, expected) in [
            ("en-US", ["0", "999", "1,234", "12,345", "1,234,567"]),
            ("ja-JP", ["0", "999", "1,234", "12,345", "1,234,567"]),
            ("es-ES", ["0", "999", "1234", "12.345", "1.234.567"]),
            ("de-DE", ["0", "999", "1.234", "12.345", "1.234.567"]),
            (
                "fr-FR",
                [
                    "0",
                    "999",
                    "1\u{202f}234",
                    "12\u{202f}345",
                    "1\u{202f}234\u{202f}567",
                ],
            ),
            ("ar-EG", ["٠", "٩٩٩", "١٬٢٣٤", "١٢٬٣٤٥", "١٬٢٣٤٬٥٦٧"]),
        ] {
            let language = language(tag).unwrap();
            let written = [0, 999, 1234, 12_345, 1_234_567].map(|n| language.number(n));
            assert_eq!(written, expected, "{tag}");
        }
    }

    #[test]
    fn people_are_counted() {
        for (tag, number, expected) in [
            ("en-US", 1, "1 person is ahead of you."),
            ("en-US", 1200, "1,200 people are ahead of you."),
            ("ja-JP", 1, "前に1人の方がお待ちです。"),
            ("es-ES", 1, "Hay 1 persona delante de ti."),
            (
                "es-ES",
                2_000_000,
                "Hay 2.000.000 de personas delante de ti.",
            ),
            ("de-DE", 2, "2 Personen sind vor Ihnen."),
            ("fr-FR", 1, "1 personne est devant vous."),
            ("fr-FR", 2, "2 personnes sont devant vous."),
            ("ar-EG", 1, "أمامك شخص واحد."),
            ("ar-EG", 2, "أمامك شخصان."),
            ("ar-EG", 7, "أمامك ٧ أشخاص."),
            ("ar-EG", 45, "أمامك ٤٥ شخصًا."),
            ("ar-EG", 100, "أمامك ١٠٠ شخص."),
        ] {
            let language = language(tag).unwrap();
            assert_eq!(language.count(&language.texts.ahead, number), expected);
        }
    }

    #[test]
    fn waits_are_told() {
        for (tag, minutes, expected) in [
            ("en-US", 0, "less than a minute"),
            ("en-US", 1, "about 1 minute"),
            ("en-US", 60, "about 1 hour"),
            ("en-US", 125, "about 2 hours 5 minutes"),
            ("de-DE", 61, "etwa 1 Stunde 1 Minute"),
            ("ja-JP", 90, "約1時間30分"),
            ("ar-EG", 122, "حوالي ساعتين ودقيقتين"),
        ] {
            assert_eq!(language(tag).unwrap().wait(minutes), expected);
        }
    }

    #[test]
    fn a_wait_between_two_is_told() {
        for (tag, expected) in [
            ("en-US", "5 minutes to 1 hour 5 minutes"),
            ("de-DE", "5 Minuten bis 1 Stunde 5 Minuten"),
            ("es-ES", "de 5 minutos a 1 hora y 5 minutos"),
            ("fr-FR", "de 5 minutes à 1 heure et 5 minutes"),
            ("ja-JP", "5分～1時間5分"),
            ("ar-EG", "من ٥ دقائق إلى ساعة واحدة و٥ دقائق"),
        ] {
            assert_eq!(language(tag).unwrap().wait_between(5, 65), expected);
        }
    }

    /// The samples of integers in CLDR 48's `plurals.xml`, shortened.
    #[test]
    fn plural_rules_are_those_of_cldr() {
        let marks = Forms {
            zero: Some("zero"),
            one: Some("one"),
            two: Some("two"),
            few: Some("few"),
            many: Some("many"),
            other: "other",
        };
        let samples: [(&str, &str, &[u64]); 19] = [
            ("en-US", "one", &[1]),
            ("en-US", "other", &[0, 2, 16, 100, 101, 1000, 1_000_000]),
            ("de-DE", "one", &[1]),
            ("de-DE", "other", &[0, 2, 16, 100, 101, 1000, 1_000_000]),
            ("ja-JP", "other", &[0, 1, 2, 15, 100, 1000, 1_000_000]),
            ("es-ES", "one", &[1]),
            ("es-ES", "many", &[1_000_000, 2_000_000, 6_000_000]),
            ("es-ES", "other", &[0, 2, 16, 100, 1000, 100_000, 1_000_001]),
            ("fr-FR", "one", &[0, 1]),
            ("fr-FR", "many", &[1_000_000, 2_000_000, 6_000_000]),
            ("fr-FR", "other", &[2, 17, 100, 1000, 100_000, 1_000_001]),
            ("ar-EG", "zero", &[0]),
            ("ar-EG", "one", &[1]),
            ("ar-EG", "two", &[2]),
            ("ar-EG", "few", &[3, 7, 10, 103, 110, 1003]),
            ("ar-EG", "many", &[11, 26, 99, 111, 1011]),
            ("ar-EG", "other", &[100, 101, 102, 200, 202, 300]),
            ("ar-EG", "other", &[1000, 10_000, 100_000, 1_000_000]),
            ("ar-EG", "few", &[1_000_103]),
        ];
        for (tag, category, numbers) in samples {
            for number in numbers {
                let form = language(tag).unwrap().form(&marks, *number);
                assert_eq!(form, category, "{tag} for {number}");
            }
        }
    }
}
