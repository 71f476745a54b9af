//! The defaults are complete and usable.

use almanac_graph::GraphParams;

#[test]
fn the_defaults_are_the_settings_of_the_stage() {
    let defaults: toml::Table = include_str!("../../../../config/defaults.toml").parse().expect("valid TOML");
    let table = defaults["graph"]["params"].clone();
    let params: GraphParams = table.try_into().expect("every setting and no other");
    params.check().expect("values in range");
    assert_eq!(params.max_candidates, 8);
}
