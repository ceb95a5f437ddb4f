use proptest::prelude::*;
use serde_json::json;

use super::*;

fn render(source: &str) -> String {
    let data = json!({
        "waitTimeKnown": true, "waitTime": 10, "zero": 0, "off": false, "empty": "",
        "text": "<b class=\"x\">'&`=</b>", "name": "Zoë",
    });
    let template = Template::compile(source).unwrap_or_else(|fault| panic!("{source}: {fault}"));
    let mut engine = Engine::new();
    engine.insert("page", template);
    engine.render("page", data).unwrap()
}

fn fault(source: &str) -> String {
    Template::compile(source).unwrap_err().to_string()
}

#[test]
fn mustache_renders_unchanged() {
    for (source, expected) in [
        (
            "{{waitTime}}|{{ waitTime }}|{{waitTimeKnown}}|{{off}}",
            "10|10|true|false",
        ),
        (
            "{{{name}}} {{&name}} {{& name }} {{ &name}}",
            "Zoë Zoë Zoë Zoë",
        ),
        (
            "{{#waitTimeKnown}}yes{{/waitTimeKnown}}{{^waitTimeKnown}}no{{/waitTimeKnown}}",
            "yes",
        ),
        ("{{#off}}yes{{/off}}{{^off}}no{{/off}}", "no"),
        (
            "{{#waitTime}}some{{/waitTime}}{{^zero}}none{{/zero}}{{#zero}}!{{/zero}}",
            "somenone",
        ),
        (
            "{{#name}}[{{.}}]{{/name}}{{#empty}}!{{/empty}}{{^empty}}-{{/empty}}",
            "[Zoë]-",
        ),
        ("{{# name }}a{{/ name }}{{^ off }}b{{/ off }}", "ab"),
        (
            "{{#name}}{{^off}}{{#waitTime}}x{{/waitTime}}{{/off}}{{/name}}",
            "x",
        ),
        (
            "{{#waitTime}}{{#name}}{{.}}{{/name}}{{^off}}{{.}}{{/off}}{{/waitTime}}",
            "Zoë10",
        ),
        (
            "a{{! a comment, with {{ in it }}b{{!-- and }} in it --}}c",
            "abc",
        ),
        (
            "{{unknown}}{{#unknown}}x{{/unknown}}{{^unknown}}y{{/unknown}}",
            "y",
        ),
        (
            "{{=<% %>=}}<% waitTime %> {{name}} <%={{ }}=%>{{name}}",
            "10 {{name}} Zoë",
        ),
        (
            "var w = {{waitTime}}, k = {{waitTimeKnown}};",
            "var w = 10, k = true;",
        ),
        ("if (a) { b({{waitTime}}) }}", "if (a) { b(10) }}"),
    ] {
        assert_eq!(render(source), expected, "{source}");
    }
}

#[test]
fn handlebars_renders() {
    for (source, expected) in [
        ("{{#if off}}a{{else}}b{{/if}}", "b"),
        ("{{#unless off}}a{{/unless}}", "a"),
        ("{{#off}}a{{else}}b{{/off}}{{^off}}c{{^}}d{{/off}}", "bc"),
        (
            "{{#if (eq waitTime 10)}}ten{{else if zero}}x{{else}}y{{/if}}",
            "ten",
        ),
        ("{{#if (and waitTime (gt waitTime 5))}}long{{/if}}", "long"),
        ("{{#with name}}{{this}}{{/with}}", "Zoë"),
        ("a {{~name~}} b", "aZoëb"),
        ("a {{~{name}~}} b", "aZoëb"),
        ("\\{{name}}", "{{name}}"),
        ("{{#if (eq name \"}}\")}}a{{else}}b{{/if}}", "b"),
    ] {
        assert_eq!(render(source), expected, "{source}");
    }
}

#[test]
fn lines_of_sections_leave_no_gap() {
    assert_eq!(
        render("a\n{{#name}}\nb\n{{/name}}\n{{! c }}\nd\n"),
        "a\nb\nd\n"
    );
}

/// Handlebars does not see these texts.
#[test]
fn long_texts_are_copied_as_they_are() {
    let long = "0123456789 \u{2028} <b>é</b> }} { \" & ".repeat(4);
    let source = format!(
        "{long}{{{{#name}}}}\n {long}\n{{{{.}}}} {long}{{{{/name}}}}{{{{#off}}}}{long}{{{{/off}}}}{long}\n  {{{{#name}}}}  \n{long}{{{{/name}}}}"
    );
    let expected = format!("{long}\n {long}\nZoë {long}{long}\n{long}");
    assert_eq!(render(&source), expected);
    assert_eq!(
        fault("a\n{{name}} \u{1}"),
        "line 2, column 9: the control character U+0001 stands in the text"
    );
}

#[test]
fn values_are_escaped() {
    assert_eq!(
        render("{{text}}"),
        "&lt;b class&#x3D;&quot;x&quot;&gt;&#x27;&amp;&#x60;&#x3D;&lt;/b&gt;"
    );
}

#[test]
fn faults_have_a_place_and_a_reason() {
    for (source, expected) in [
        (
            "a\n  {{#if x}}",
            "line 2, column 3: {{#if}} is never closed",
        ),
        ("é{{/x}}", "line 1, column 2: {{/x}} closes nothing"),
        (
            "{{#a}}\n{{/b}}",
            "line 2, column 1: {{/b}} closes nothing: {{/a}} is expected first, for the one of line 1, column 1",
        ),
        (
            "\n{{name",
            "line 2, column 1: this tag is not closed: }} is missing",
        ),
        (
            "{{{name}}",
            "line 1, column 1: this tag is not closed: }}} is missing",
        ),
        ("{{}}", "line 1, column 1: {{}}: a name is missing"),
        (
            "{{a b c}}",
            "line 1, column 1: there is no helper a; there are and, each, eq, gt, gte, if, len, lookup, lt, lte, ne, not, or, unless, with",
        ),
        (
            "{{#a b}}{{/a}}",
            "line 1, column 1: there is no block helper a; there are each, if, unless, with",
        ),
        (
            "{{#if (nope x)}}{{/if}}",
            "line 1, column 1: there is no helper nope; there are and, each, eq, gt, gte, if, len, lookup, lt, lte, ne, not, or, unless, with",
        ),
        (
            "{{> head}}",
            "line 1, column 1: {{> head}}: partials, decorators and raw blocks are not available",
        ),
        (
            "{{{{raw}}}}x{{{{/raw}}}}",
            "line 1, column 1: {{{{raw}}}}: partials, decorators and raw blocks are not available",
        ),
        (
            "{{else}}",
            "line 1, column 1: {{else}} stands in no section",
        ),
        (
            "{{^if x}}{{/if}}",
            "line 1, column 1: {{^if x}}: write {{#unless ...}} instead",
        ),
        ("x {{a%b}}", "line 1, column 3: {{a%b}} is not valid"),
        (
            "{{len}}",
            "line 1, column 1: {{len}}: the helper needs parameters",
        ),
        (
            "{{=<%=}}",
            "line 1, column 1: delimiters are changed as in {{=<% %>=}}",
        ),
    ] {
        assert_eq!(fault(source), expected, "{source}");
    }
}

#[test]
fn size_and_depth_are_limited() {
    assert!(Template::compile(&"x".repeat(MAX_BYTES)).is_ok());
    assert!(fault(&"x".repeat(MAX_BYTES + 1)).contains("the limit is 1048576"));
    assert!(fault(&"{{#a}}".repeat(100_000)).contains("more than 32 sections"));
    let deep = "{{#name}}".repeat(32) + "x" + &"{{/name}}".repeat(32);
    assert_eq!(render(&deep), "x");
}

#[test]
fn mentions_are_the_variables_of_the_page() {
    let source = "{{a}}{{#b}}{{.}}{{/b}}{{^c}}{{/c}}{{#if (eq d \"e\")}}{{{f.g}}}{{/if}}\n{{#with h}}{{i}}{{/with}}";
    let template = Template::compile(source).unwrap();
    let names: Vec<&str> = template
        .mentions()
        .iter()
        .map(|m| m.name.as_str())
        .collect();
    assert_eq!(names, ["a", "b", "b", "c", "d", "f", "h"]);
    assert_eq!(template.mentions()[6].at, Position { line: 2, column: 1 });
}

proptest! {
    /// Whatever the text, a compiled template renders, and a refused one says where.
    #[test]
    fn any_text_compiles_or_has_a_fault(source in r#"(\{\{|\}\}|\{|\}|[#^/!&>=~\\"'. \n]|if|else|name|off|=<% %>=|<%|%>|é){0,24}"#) {
        match Template::compile(&source) {
            Ok(template) => {
                let mut engine = Engine::new();
                engine.insert("page", template);
                let _ = engine.render("page", json!({"name": "x", "off": false}));
            }
            Err(fault) => {
                let lines = source.split('\n').count();
                prop_assert!((1..=lines).contains(&fault.at.line), "{fault}");
            }
        }
    }

    /// Text without tags is copied as it is.
    #[test]
    fn text_is_copied(source in "[^{\\\\\\x01]{0,64}") {
        let mut engine = Engine::new();
        engine.insert("page", Template::compile(&source).unwrap());
        prop_assert_eq!(engine.render("page", json!({})).unwrap(), source);
    }

    /// The only values that are not escaped are those that the template asks for raw.
    #[test]
    fn no_value_breaks_out(value in any::<String>()) {
        let mut engine = Engine::new();
        engine.insert("page", Template::compile("{{value}}").unwrap());
        let page = engine.render("page", json!({ "value": value })).unwrap();
        prop_assert!(!page.contains(['<', '>', '"', '\'', '`', '=']));
    }
}
