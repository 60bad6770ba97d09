(comment) @comment
(string) @string
(integer) @number
(hex) @number
(float) @number.float
(value) @variable
(type) @type
(attribute) @constant
(label) @label
(symbol) @function
(function name: (symbol) @function)
(op_name) @function.builtin
(punctuation) @punctuation.delimiter
["{" "}" "(" ")" "[" "]"] @punctuation.bracket

((word) @type.builtin
  (#match? @type.builtin "^(index|none|bf16|f(16|32|64)|[us]?i[0-9]+|ui[0-9]+|memref|tensor|vector)$"))
((word) @keyword
  (#match? @keyword "^(return|call|else|module|func|ins|outs|to|step|iter_args|attributes|private|loc)$"))
((op_name) @keyword
  (#match? @keyword "^(scf\\.(for|if|while|yield|condition)|func\\.(func|call|return))$"))
((word) @constant.builtin
  (#match? @constant.builtin "^(PIPE_[A-Z0-9]+|EVENT_ID[0-9]+|DIR_[A-Z0-9_]+|true|false)$"))
"func.func" @keyword
