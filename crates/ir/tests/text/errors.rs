//! All errors of a file are reported, at the correct locations, with help.

use slipring_ir::Severity;

use super::read;

/// Every diagnostic as `line:column code message (help)`.
fn errors(text: &str) -> Vec<String> {
    let (module, diags) = read(text);
    let _ = diags.render(&module.source, true);
    diags
        .list
        .iter()
        .map(|d| {
            let (line, column) = module.source.line_column(d.primary.as_ref().map_or(0, |p| p.span.start));
            let help = d.help.as_ref().map(|h| format!(" ({h})")).unwrap_or_default();
            let mark = if d.severity == Severity::Warning { "~" } else { "" };
            format!("{mark}{line}:{column} {} {}{help}", d.code, d.message)
        })
        .collect()
}

#[test]
fn every_error_of_a_file_is_reported() {
    let found = errors(
        r#"module {
  t.func @f(%p: !pto.ptr<f32>, %n: index) {
    %t = t.allok : !pto.tile_buf<vec, 16x64xf32>
    t.add ins(%t, %t : f32, f32) outs(%t : f32)
    %u = t.alloc : !pto.tile_buf<vec, 16x64xf33>
    t.add ins(%u, %u : f32, f32) outs(%u : f32)
    %a = t.alloc : !pto.tile_buf<vec, 16x64xf32>
    t.add ins(%a, %b : !pto.tile_buf<vec, 16x64xf32>, f32) outs(%aa : !pto.tile_buf<vec, 16x64xf32>)
    t.add ins(%a, %n : !pto.tile_buf<vec, 16x64xf32>, i32) outs(%a : !pto.tile_buf<vec, 16x64xf32>) {modes = 1}
    t.flag[<PIPE_X>, <PIPE_V>, 1]
    t.flag[<PIPE_M>, <PIPE_V>
    t.loop %i < 4 {
      %z = t.summ %i, %n : index
      %y = t.sum %n, %p : index
    }
    %a = t.idx
    %c = t.const 1 : f32 -> f32
    %d, %e = t.idx
    t.flag[<PIPE_M>, <PIPE_V>, 1] {a = 1, a = 2}
    return
  }
}
"#,
    );
    let expected = [
        "3:10 unknown-op no operation is called `t.allok` (is `t.alloc` meant?)",
        "5:45 syntax expected an element type, found `f33` (is `f32` meant?)",
        "8:19 undefined-value `%b` is not defined here",
        "8:65 undefined-value `%aa` is not defined here",
        "9:19 operand-type `b` of `t.add` is a tile",
        "9:55 type-mismatch `%n` does not have this type (write `index`)",
        "9:102 unknown-attribute `t.add` has no attribute `modes` (is `mode` meant?)",
        "10:12 attribute `pipe` has no member `PIPE_X` (is `PIPE_M` meant?)",
        "11:29 syntax expected `,`, found `t.loop`",
        "12:17 syntax expected a value such as `%name`, found `4`",
        "13:12 unknown-op no operation is called `t.summ` (is `t.sum` meant?)",
        "14:22 operand-type `b` of `t.sum` is a scalar",
        "16:5 redefinition `%a` is defined twice (give it another name)",
        "17:18 attribute an integer is not a `f32` (write `1.0`)",
        "18:5 results `t.idx` has one result, but 2 are named",
        "19:36 unknown-attribute `t.flag` has no attribute `a`",
        "19:43 attribute `a` is given twice",
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_wrong_header_does_not_hide_errors_of_its_body() {
    let found = errors(
        "t.func @f(%p: !pto.ptr<f32, %n: index) {
  t.loop %i < %n {
    %s = t.sum %i, %nn : index
  }
  %q = t.ptr %p, %o : <f32> -> <f32>
}
t.func @g(%p: f32) {
  %o = t.sum %p, %p
  return %o : f32,
  return %o f32
}
",
    );
    let expected = [
        "1:29 syntax expected a memory space, found `%n` (one of gm, mat, left, right, acc, vec, bias, scaling, left_scale, right_scale)",
        "3:20 undefined-value `%nn` is not defined here",
        "5:18 undefined-value `%o` is not defined here",
        "8:19 syntax expected `:`, found `return` (write `: f32`)",
        "9:18 syntax expected an operation, found `,`",
        "10:13 syntax expected `:`, found `f32`",
    ];
    assert_eq!(found, expected);
}

#[test]
fn both_places_of_a_contradiction_are_shown() {
    let (module, diags) = read("%n = t.idx\n%s = t.sum %n, %n : i32\n");
    let text = diags.render(&module.source, false);
    assert!(text.contains("defined as `index`") && text.contains("written as `i32`"), "{text}");
    let (module, diags) = read("%s = t.sum %n, %n : index\n%n = t.idx\n");
    let text = diags.render(&module.source, false);
    assert!(text.contains("defined only here"), "{text}");
    assert_eq!(diags.list.len(), 1);
}

#[test]
fn missing_ends_are_named() {
    assert_eq!(errors("t.func @f() {\n  return\n"), ["2:8 syntax the file ends inside a region"]);
    assert_eq!(errors("t.func @f() {\n  return\n}}\n"), ["3:2 syntax this `}` closes nothing"]);
    assert_eq!(errors("%a = \"x"), ["1:6 syntax expected an operation, found a string without its closing quote"]);
    assert_eq!(
        errors("t.flag[<PIPE_M>, <PIPE_V>, 1] {a = 1\n%a = t.idx\n%b = t.idk\n"),
        [
            "1:36 syntax expected `,` or `}`, found `%a`",
            "3:6 unknown-op no operation is called `t.idk` (is `t.idx` meant?)",
        ]
    );
    assert_eq!(errors("\"a.b\"()[^bb1] : () -> ()\n"), ["1:9 syntax a branch is inside of a region",]);
}
