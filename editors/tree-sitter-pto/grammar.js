// The text of modules as slipring reads it: the tokens of crates/ir/src/text/lexer.rs, brackets, and what stands before `=`.
// An op's own form is not part of it: each declaration has one, and a text with a mistake is to be shown in colours, too.

module.exports = grammar({
  name: "pto",

  extras: ($) => [/[ \t\r\n\f\uFEFF]/, $.comment],

  conflicts: ($) => [[$.definition, $._element]],

  rules: {
    source_file: ($) => repeat($._element),

    _element: ($) =>
      choice(
        $.definition,
        $.function,
        $.op_name,
        $.word,
        $.value,
        $.type,
        $.attribute,
        $.label,
        $.symbol,
        $.string,
        $.float,
        $.hex,
        $.integer,
        $.block,
        $.arguments,
        $.list,
        $.punctuation,
      ),

    // `%a, %b:2 = scf.if …`: the values that an op gives, and the op.
    definition: ($) =>
      prec.dynamic(
        1,
        seq($.value, repeat(choice(seq(",", $.value), seq(":", $.integer))), "=", field("op", choice($.op_name, $.word, $.string))),
      ),

    // `func.func private @name`, `func @name`.
    function: ($) => prec(1, seq(alias(token(prec(2, "func.func")), "func.func"), optional(choice("private", "public", "nested")), field("name", $.symbol))),

    block: ($) => seq("{", repeat($._element), "}"),
    arguments: ($) => seq("(", repeat($._element), ")"),
    list: ($) => seq("[", repeat($._element), "]"),

    comment: () => token(seq("//", /[^\n]*/)),
    op_name: () => token(prec(1, /[A-Za-z_][A-Za-z0-9_$]*(\.[A-Za-z0-9_$]+)+/)),
    word: () => /[A-Za-z_][A-Za-z0-9_$.]*/,
    value: () => /%([0-9]+|[A-Za-z$._-][A-Za-z0-9$._-]*)/,
    attribute: () => /#([0-9]+|[A-Za-z$._-][A-Za-z0-9$._-]*)/,
    type: () => /!([0-9]+|[A-Za-z$._-][A-Za-z0-9$._-]*)/,
    label: () => /\^([0-9]+|[A-Za-z$._-][A-Za-z0-9$._-]*)/,
    symbol: () => token(choice(/@[A-Za-z_][A-Za-z0-9_$.-]*/, /@"([^"\\\n]|\\[^\n])*"/)),
    string: () => /"([^"\\\n]|\\[^\n])*"/,
    integer: () => /[0-9]+/,
    hex: () => token(prec(1, /0x[0-9A-Fa-f]+/)),
    float: () => /[0-9]+\.[0-9]*([eE][-+]?[0-9]+)?/,
    punctuation: () => choice("<", ">", ",", ":", "::", "=", "?", "*", "+", "-", "->", "/", "|"),
  },
});
