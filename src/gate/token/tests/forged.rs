//! What was not signed.

use super::*;

#[test]
fn no_bit_can_be_flipped() {
    for token in [ticket(), waiting(), admitted(), provisional()] {
        let text = sign(&token);
        for place in 0..text.len() * 8 {
            let mut bytes = text.clone().into_bytes();
            bytes[place / 8] ^= 1 << (place % 8);
            // What is no longer UTF-8 reaches the verifier as the runtime repairs it.
            let flipped = String::from_utf8_lossy(&bytes);
            let refusal = verify(&flipped).unwrap_err();
            assert!(
                matches!(
                    refusal,
                    Refusal::Malformed | Refusal::Key | Refusal::Signature
                ),
                "bit {place}: {refusal}"
            );
        }
    }
}

#[test]
fn no_other_header_is_read() {
    let text = sign(&admitted());
    let [_, claims, signature] = segments(&text);
    for header in [
        r#"{"alg":"none","kid":"2025","typ":"JWT"}"#,
        r#"{"alg":"None","kid":"2025","typ":"JWT"}"#,
        r#"{"alg":"RS256","kid":"2025","typ":"JWT"}"#,
        r#"{"alg":"HS512","kid":"2025","typ":"JWT"}"#,
        r#"{"alg":"hs256","kid":"2025","typ":"JWT"}"#,
        r#"{"alg":"HS256","kid":"2026","typ":"JWT"}"#,
        r#"{"alg":"HS256","kid":"","typ":"JWT"}"#,
        r#"{"alg":"HS256","typ":"JWT"}"#,
        r#"{"kid":"2025","alg":"HS256","typ":"JWT"}"#,
        r#"{"alg":"HS256", "kid":"2025","typ":"JWT"}"#,
        r#"{"alg":"HS256","kid":"2025","typ":"JWT","crit":["b64"]}"#,
        "",
    ] {
        let header = URL_SAFE_NO_PAD.encode(header);
        for signature in [signature, ""] {
            let forged = format!("{header}.{claims}.{signature}");
            assert_eq!(verify(&forged), Err(Refusal::Key), "{forged}");
        }
    }
}

#[test]
fn an_empty_or_short_or_padded_signature_is_none() {
    let text = sign(&admitted());
    let [header, claims, signature] = segments(&text);
    for wrong in [
        "",
        "AA",
        signature.get(..42).unwrap(),
        &format!("{signature}="),
        &format!("{signature}AAAA"),
    ] {
        let refusal = verify(&format!("{header}.{claims}.{wrong}")).unwrap_err();
        assert_eq!(refusal, Refusal::Malformed, "{wrong}");
    }
}

#[test]
fn segments_cannot_be_swapped() {
    let (one, other) = (sign(&waiting()), sign(&admitted()));
    let [header, waiting, waiting_signature] = segments(&one);
    let [_, admitted, admitted_signature] = segments(&other);
    for forged in [
        format!("{header}.{admitted}.{waiting_signature}"),
        format!("{header}.{waiting}.{admitted_signature}"),
    ] {
        assert_eq!(verify(&forged), Err(Refusal::Signature));
    }
    assert_eq!(
        verify(&format!("{waiting}.{header}.{waiting_signature}")),
        Err(Refusal::Key)
    );
}

#[test]
fn there_are_three_segments() {
    let text = sign(&admitted());
    let [header, claims, signature] = segments(&text);
    for forged in [
        format!("{text}."),
        format!(".{text}"),
        format!("{text}.{signature}"),
        format!("{header}.{claims}.{claims}.{signature}"),
        format!("{header}..{claims}.{signature}"),
        format!("{header}.{claims}"),
        format!("{header}.{signature}"),
        header.to_owned(),
    ] {
        assert_eq!(verify(&forged), Err(Refusal::Malformed), "{forged}");
    }
}

#[test]
fn junk_is_refused() {
    let million = "a".repeat(1_000_000);
    let dots = ".".repeat(1_000_000);
    let long_claims = sign_claims(&format!(r#"{{"iss":"{}"}}"#, "a".repeat(1000)));
    for junk in [
        "",
        ".",
        "..",
        "...",
        "a.b.c.d",
        " ",
        "\0",
        "ä.ö.ü",
        "💡",
        &million,
        &dots,
        &long_claims,
    ] {
        assert_eq!(
            verify(junk).unwrap_err(),
            match junk {
                ".." | "ä.ö.ü" => Refusal::Key,
                _ => Refusal::Malformed,
            }
        );
    }
    assert_eq!(
        verify(&format!(" {}", sign(&admitted()))),
        Err(Refusal::Key)
    );
    assert!(verify(&format!("{}ä", sign(&admitted()))).is_err());
}

#[test]
fn a_kid_does_not_vouch_for_another_secret() {
    let other = keys(&NEW.replace("2026:", "2025:"));
    assert_eq!(
        verify(&other.sign(&room('a'), &admitted())),
        Err(Refusal::Signature)
    );
}

#[test]
fn a_kid_is_no_prefix_of_another() {
    let short = keys(&OLD.replace("2025:", "202:"));
    assert_eq!(
        verify(&short.sign(&room('a'), &admitted())),
        Err(Refusal::Key)
    );
}
