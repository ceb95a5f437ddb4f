//! The calls of cloud regions: see `openapi.rs` for the columns.

use serde_json::{Value, json};

pub(super) const CALLS: &[(&str, &str, &str, Option<&str>, &str)] = &[
    (ALL, "get", "list_cloud_regions", None, "[CloudRegion]"),
    (ONE, "get", "get_cloud_region", None, "CloudRegion"),
    (
        ONE,
        "put",
        "set_cloud_region",
        Some("CloudRegionSettings"),
        "CloudRegion",
    ),
    (
        ONE,
        "delete",
        "delete_cloud_region",
        None,
        "CloudRegionDeleted",
    ),
    (
        BATCH,
        "put",
        "set_cloud_regions",
        Some("CloudRegionBatch"),
        "CloudRegionOutcome",
    ),
    (
        BATCH,
        "delete",
        "delete_cloud_regions",
        Some("OriginBatch"),
        "CloudRegionOutcome",
    ),
    (
        "/zones/{zone}/origin/cloud_regions/supported_regions",
        "get",
        "list_supported_regions",
        None,
        "SupportedRegions",
    ),
    (V1, "get", "list_cloud_regions_v1", None, "CloudRegionV1"),
    (
        V1,
        "post",
        "create_cloud_region_v1",
        Some("CloudRegionSettingsV1"),
        "CloudRegionV1",
    ),
    (
        V1,
        "patch",
        "set_cloud_region_v1",
        Some("CloudRegionSettingsV1"),
        "CloudRegionV1",
    ),
    (V1_ONE, "get", "get_cloud_region_v1", None, "CloudRegionV1"),
    (
        V1_ONE,
        "delete",
        "delete_cloud_region_v1",
        None,
        "CloudRegionV1",
    ),
    (
        V1_BATCH,
        "patch",
        "set_cloud_regions_v1",
        Some("CloudRegionBatchV1"),
        "CloudRegionV1",
    ),
    (
        V1_BATCH,
        "delete",
        "delete_cloud_regions_v1",
        Some("OriginBatch"),
        "CloudRegionV1",
    ),
    (
        "/zones/{zone}/cache/origin_cloud_regions/supported_regions",
        "get",
        "list_supported_regions_v1",
        None,
        "SupportedRegions",
    ),
    (TABLE, "get", "get_table_of_cloud_regions", None, "Table"),
    (
        TABLE,
        "post",
        "add_table_of_cloud_regions",
        Some("Table"),
        "TableOutcome",
    ),
    (
        TABLE,
        "put",
        "replace_table_of_cloud_regions",
        Some("Table"),
        "TableOutcome",
    ),
    (
        "/zones/{zone}/anteroom/cloud_regions/export",
        "get",
        "export_cloud_regions",
        None,
        "CloudRegionExport",
    ),
];

const ALL: &str = "/zones/{zone}/origin/cloud_regions";
const ONE: &str = "/zones/{zone}/origin/cloud_regions/{origin_ip}";
const BATCH: &str = "/zones/{zone}/origin/cloud_regions/batch";
const V1: &str = "/zones/{zone}/cache/origin_cloud_regions";
const V1_ONE: &str = "/zones/{zone}/cache/origin_cloud_regions/{origin_ip}";
const V1_BATCH: &str = "/zones/{zone}/cache/origin_cloud_regions/batch";
const TABLE: &str = "/zones/{zone}/anteroom/cloud_regions.csv";

/// The schemas of what they take and give.
pub(super) fn schemas() -> [(&'static str, Value); 13] {
    let text = json!({ "type": "string" });
    let time = json!({ "type": "string", "format": "date-time" });
    let count = json!({ "type": "integer", "minimum": 0 });
    let object = |required: &[&str], properties: Value| json!({ "type": "object", "required": required, "properties": properties });
    let sent = |name: &str| {
        let mut schema = object(
            &[name, "vendor", "region"],
            json!({ name: text, "vendor": text, "region": text }),
        );
        schema["additionalProperties"] = false.into();
        schema
    };
    let reference = super::reference;
    let list = |items: Value| json!({ "type": "array", "items": items });
    let batch = |items: Value| json!({ "type": "array", "maxItems": 100, "items": items });
    let failure = object(&["origin_ip", "error"], json!({ "error": text }));
    let names = ["origin_ip", "vendor", "region", "modified_on"];
    [
        ("CloudRegionSettings", sent("origin_ip")),
        ("CloudRegionSettingsV1", sent("ip")),
        (
            "CloudRegion",
            object(
                &names,
                json!({ "origin_ip": text, "vendor": text, "region": text, "modified_on": time }),
            ),
        ),
        (
            "CloudRegionDeleted",
            object(&["origin_ip"], json!({ "origin_ip": text })),
        ),
        ("CloudRegionBatch", batch(json!({}))),
        ("CloudRegionBatchV1", batch(json!({}))),
        ("OriginBatch", batch(json!({}))),
        (
            "CloudRegionOutcome",
            object(
                &["succeeded", "failed"],
                json!({ "succeeded": list(reference("CloudRegion")), "failed": list(failure) }),
            ),
        ),
        (
            "CloudRegionV1",
            object(
                &["id", "editable", "value", "modified_on"],
                json!({
                    "id": { "const": "origin_public_cloud_region" }, "editable": { "const": true },
                    "value": { "type": ["array", "object"] }, "modified_on": { "type": ["string", "null"] },
                }),
            ),
        ),
        (
            "SupportedRegions",
            object(
                &["obtained_codes", "vendors"],
                json!({
                    "obtained_codes": { "const": true },
                    "vendors": { "type": "object", "additionalProperties": list(object(
                        &["name", "upper_tier_colos"],
                        json!({ "name": text, "upper_tier_colos": list(text.clone()) }),
                    )) },
                }),
            ),
        ),
        ("Table", json!({ "type": "string" })),
        (
            "TableOutcome",
            object(
                &["succeeded", "failed"],
                json!({ "succeeded": count, "failed": list(object(
                    &["line", "error"],
                    json!({ "line": count, "error": text }),
                )) }),
            ),
        ),
        (
            "CloudRegionExport",
            object(
                &["batches", "left_out"],
                json!({ "batches": list(list(reference("CloudRegionSettings"))), "left_out": list(text.clone()) }),
            ),
        ),
    ]
}
