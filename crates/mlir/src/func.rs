//! The `func` dialect: functions, calls, returns.

use slipring_ir::Reported;
use slipring_ir::function::{CALLEE, FUNCTION_TYPE, SYMBOL, VISIBILITY};
use slipring_ir::text::{BlockArg, CustomSyntax, OpParser, OpPrinter, Tok, same_type};
use slipring_ir::{
    Arity, Attr, AttrKind, Diagnostic, Diags, FuncType, Infer, Module, OpId, Part, ResultSpec, Span, Syntax, Touch,
    Type, ValueId,
};
use slipring_machine::Platform;

use slipring_op::decode::control;
use slipring_op::def::{OpDef, OpRef};
use slipring_op::function::{
    ASSUME, BOTH_LANES, ENTRY, FLAGS, KIND, RECORDED, SLOT_BYTES, SLOTS, SPLIT, is_entry, kernel_kind,
};
use slipring_op::names::{SIMT_ENTRY, SIMT_MAX};
use slipring_op::ops;
use slipring_op::rules::{ANY, PLAIN, counted, defaulted, required, variadic};
use slipring_op::workitems::is_entry as is_body;

const BASE: OpDef = OpDef { source: "MLIR, func dialect", ..PLAIN };

ops! {
    OPS;

    /// `func.func @name(%a: T) -> T attributes {…} { … }`. One marked `pto.entry`, or the only one with a body, is the
    /// kernel. `pto.kernel_kind` says which kind of core runs it; a kernel without it may call functions of both kinds,
    /// which then run side by side.
    pub FUNC "func.func" "A function": BASE, verify: verify_func
        => {
            syntax: Syntax::Custom(&FuncText),
            attrs: &[
                required(SYMBOL, AttrKind::Str, "its name"),
                required(FUNCTION_TYPE, AttrKind::Type, "types of arguments and results"),
                defaulted(VISIBILITY, AttrKind::Str, "`private`, `public` or `nested`"),
                defaulted("no_inline", AttrKind::Unit, "asks a compiler to keep calls of it; changes nothing here"),
                defaulted("arg_attrs", AttrKind::Any, "attributes of the arguments"),
                defaulted("res_attrs", AttrKind::Any, "attributes of the results"),
                defaulted(ENTRY[0], AttrKind::Any, "the kernel of the file"),
                defaulted(ENTRY[1], AttrKind::Any, "another spelling of `pto.entry`"),
                defaulted(ENTRY[2], AttrKind::Any, "another spelling of `pto.entry`"),
                defaulted(
                    SPLIT,
                    AttrKind::Int,
                    "asks the compiler to divide Vector work between the two Vector cores: 1 by rows, 2 by columns",
                ),
                defaulted(
                    ASSUME,
                    AttrKind::Str,
                    "what the scalar arguments of each launch satisfy: `n % 8 == 0, m <= 32`",
                ),
                defaulted(KIND, AttrKind::Any, "`#pto.kernel_kind<cube>` or `<vector>`: the core it runs on"),
                defaulted(
                    SLOT_BYTES,
                    AttrKind::Int,
                    "bytes of ring slots that each block of a launch needs: the last parameter, a pointer, is memory that \
                     the launch allocates for them",
                ),
                defaulted(
                    FLAGS,
                    AttrKind::Bool,
                    "the last parameter, after the one for ring slots, is where the hardware keeps flags between cores: the \
                     launch gives it",
                ),
                defaulted(SLOTS, AttrKind::Int, "slots of each ring that the compiler makes; 2 by default"),
                defaulted(BOTH_LANES, AttrKind::Bool, "whether both Vector cores run this Vector function"),
                defaulted(RECORDED, AttrKind::Bool, "whether this is the recording of one launch"),
                defaulted(SIMT_ENTRY, AttrKind::Any, "the body of workitems: a call of it launches them"),
                defaulted(SIMT_MAX, AttrKind::Int, "the most workitems that it is launched with; 1024 by default"),
                defaulted("pto.aicore", AttrKind::Any, "marks what runs on the device; every function here does"),
                defaulted("pto.auto_sync_tail_hint", AttrKind::Str, "read; it changes nothing here"),
            ],
            regions: &["body"],
            part: Part::Function,
        };

    /// The callee's ops run in place of the call. A function of the other kind of core is skipped: that core runs it.
    /// Recursion is refused: a kernel has no stack.
    pub CALL "func.call" "Call a function": BASE, verify: verify_call, lower: control::lower_call
        => {
            syntax: Syntax::Custom(&CallText),
            operands: &[variadic("args", ANY, Touch::Nothing, "the arguments")],
            results: &[RESULTS],
            attrs: &[required(CALLEE, AttrKind::Symbol, "the function")],
            aliases: &["call"],
            part: Part::Call,
        };

    pub RETURN "func.return" "Return from a function": BASE, doc: "", lower: control::lower_yield
        => {
            syntax: Syntax::Format("attr-dict ($values `:` type($values))?"),
            operands: &[variadic("values", ANY, Touch::Nothing, "what is returned")],
            aliases: &["return"],
            terminator: true,
        };
}

/// The most bytes of ring slots that a block can need: one slot for each flag, none larger than L1.
const MOST_SLOT_BYTES: i64 = 8 * 512 * 1024;

fn verify_func(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    let Some(ty) = op.module.function_type(op.id) else { return };
    verify_slots(op, ty, platform, diags);
    verify_workitems(op, ty, diags);
    if let Some(around) = op.module.parent_op(op.id).and_then(|parent| op.module.function_of(parent)) {
        let error = op.error("nested-function", "a function is nested in another one, where nothing can call it");
        let error = error.also(op.module.op(around).span, "the function around it");
        diags.push(error.help("put it beside that function"));
    }
    if !ty.results.is_empty() && is_entry(op.module, op.id) {
        diags.push(
            op.error("entry-result", "PTO entry functions must return void")
                .help("pass a buffer for the result; a function that another one calls may return it"),
        );
    }
    if op.attr(KIND).is_some() && kernel_kind(op.module, op.id).is_none() {
        diags.push(
            op.error("kernel-kind", "expects 'pto.kernel_kind' to be `#pto.kernel_kind<cube>` or `<vector>`")
                .help("leave it out where the function is for both kinds of core"),
        );
    }
    let body = op.module.body(op.id, 0);
    let last = body.and_then(|b| op.module.block(b).ops.last().copied());
    let ends = last.is_some_and(|id| op.module.op(id).schema().is_some_and(|s| s.terminator));
    if body.is_some() && !ends {
        diags.push(
            op.error("no-return", "the function does not end in `return`").help("add `return` at the end of its body"),
        );
    }
}

/// Checks what a function says about the workitems that run it (micro-instruction manual of assembler 0.60, 17).
fn verify_workitems(op: &OpRef<'_>, ty: &FuncType, diags: &mut Diags) {
    let body = is_body(op.module, op.id);
    if op.attr(SIMT_MAX).is_some() && !body {
        diags.push(op.error("simt-max-threads", format!("`{SIMT_MAX}` is for functions with `{SIMT_ENTRY}`")));
    }
    if op.attr(SIMT_MAX).is_some() && !op.int(SIMT_MAX).is_some_and(|n| (1..=2048).contains(&n)) {
        diags.push(op.error("simt-max-threads", format!("expects `{SIMT_MAX}` to be 1 to 2048")));
    }
    if body && !ty.results.is_empty() {
        diags.push(op.error("simt-result", "the body of workitems returns nothing").help("store what it computes"));
    }
}

/// Checks the depth of generated rings and the memory for their slots.
fn verify_slots(op: &OpRef<'_>, ty: &FuncType, platform: &Platform, diags: &mut Diags) {
    let flags = i64::from(platform.sync.ring_flags);
    if op.attr(SLOTS).is_some() && !op.int(SLOTS).is_some_and(|n| (1..=flags).contains(&n)) {
        diags.push(op.error("slot-num", format!("expects 'slot_num' to be 1 to {flags}: every slot has a flag")));
    }
    let flags = usize::from(slipring_op::function::has_flags(op.module, op.id));
    if flags > 0 && !matches!(ty.inputs.last(), Some(Type::MemRef(_) | Type::Ptr(..))) {
        diags.push(op.error("gm-flags", "expects the last parameter to be a memref or a pointer: the launch gives it"));
    }
    if op.attr(SLOT_BYTES).is_none() {
        return;
    }
    if !op.int(SLOT_BYTES).is_some_and(|n| (1..=MOST_SLOT_BYTES).contains(&n)) {
        diags.push(op.error("gm-slot-bytes", format!("expects 'gm_slot_bytes' to be 1 to {MOST_SLOT_BYTES}")));
    }
    if !matches!(ty.inputs.iter().rev().nth(flags), Some(Type::Ptr(..))) {
        diags.push(op.error("gm-slot-bytes", "expects the last parameter to be a pointer: the launch allocates it"));
    }
}

/// `private @name(%a: T {attrs}) -> (T) attributes {…} { … }`; a declaration has types only and no body.
struct FuncText;

impl CustomSyntax for FuncText {
    fn parse(&self, p: &mut OpParser<'_>, op: OpId) -> Result<(), Reported> {
        for visibility in ["private", "public", "nested"] {
            if p.eat_text(visibility) {
                p.module.op_mut(op).attrs.set(VISIBILITY, Attr::Str(visibility.into()));
            }
        }
        let name = p.symbol()?;
        p.module.op_mut(op).attrs.set(SYMBOL, Attr::Str(name));
        let mut ty = FuncType::default();
        let mut args = Vec::new();
        let mut arg_attrs = Vec::new();
        p.expect(Tok::LParen, "`(` and the arguments")?;
        p.list_until(Tok::RParen, "`)`", |p| {
            let named = p.tok() == Tok::Percent;
            let arg = if named { Some(p.value_name()?) } else { None };
            if named {
                p.expect(Tok::Colon, "`:` and the type of the argument")?;
            }
            let arg_type = p.parse_type()?;
            if let Some((name, span)) = arg {
                args.push(BlockArg { name, ty: arg_type.clone(), span });
            }
            ty.inputs.push(arg_type);
            arg_attrs.push(p.free_dict()?);
            if p.at_loc() {
                p.loc()?;
            }
            Ok(())
        })?;
        let mut res_attrs = Vec::new();
        if p.eat(Tok::Arrow) {
            if p.eat(Tok::LParen) {
                p.list_until(Tok::RParen, "`)`", |p| {
                    ty.results.push(p.parse_type()?);
                    res_attrs.push(p.free_dict()?);
                    Ok(())
                })?;
            } else {
                ty.results = p.result_type_list()?;
            }
        }
        p.module.set_function_type(op, ty);
        for (name, attrs) in [("arg_attrs", arg_attrs), ("res_attrs", res_attrs)] {
            if attrs.iter().any(|a| !a.is_empty()) {
                let list = attrs.into_iter().map(Attr::Dict).collect();
                p.module.op_mut(op).attrs.set(name, Attr::Array(list));
            }
        }
        if p.eat_text("attributes") {
            p.attr_dict(op)?;
        }
        if p.at("{") { p.region(op, args) } else { Ok(()) }
    }

    fn says_all(&self, module: &Module, op: OpId) -> Option<bool> {
        let data = module.op(op);
        let Some(ty) = module.function_type(op) else { return Some(false) };
        let text = |name: &str| data.attrs.get(name).is_none_or(|attr| matches!(attr, Attr::Str(_)));
        let visibility = data.attrs.get(VISIBILITY).and_then(Attr::as_str);
        let visible = visibility.is_none_or(|v| ["private", "public", "nested"].contains(&v));
        // One dictionary for each argument or result, and at least one of them not empty.
        let described = |name: &str, count: usize| match data.attrs.get(name) {
            None => true,
            Some(Attr::Array(list)) => {
                list.len() == count
                    && list.iter().all(|attr| matches!(attr, Attr::Dict(_)))
                    && list.iter().any(|attr| matches!(attr, Attr::Dict(dict) if !dict.is_empty()))
            }
            Some(_) => false,
        };
        let body = match data.regions.first().map(|region| &module.region(*region).blocks[..]) {
            None | Some([]) => true,
            Some([block, ..]) => module.block(*block).args.iter().map(|arg| module.ty(*arg)).eq(&ty.inputs),
        };
        let named = matches!(data.attrs.get(SYMBOL), Some(Attr::Str(_)));
        let attrs = described("arg_attrs", ty.inputs.len()) && described("res_attrs", ty.results.len());
        let plain = data.operands.is_empty() && data.regions.len() <= 1;
        Some(named && text(VISIBILITY) && visible && attrs && body && plain)
    }

    fn print(&self, p: &mut OpPrinter<'_>, op: OpId) {
        let module = p.module;
        let data = module.op(op);
        p.write(" ");
        if let Some(visibility) = data.attrs.get(VISIBILITY).and_then(Attr::as_str) {
            p.write(visibility);
            p.write(" ");
        }
        p.symbol(module.symbol_name(op).unwrap_or(""));
        let ty = module.function_type(op).cloned().unwrap_or_default();
        let body = module.body(op, 0);
        p.write("(");
        for (at, input) in ty.inputs.iter().enumerate() {
            p.write(if at > 0 { ", " } else { "" });
            match body.and_then(|b| module.block(b).args.get(at)) {
                Some(arg) => p.value_with_type(*arg),
                None => p.ty(input),
            }
            print_attrs_of(p, data.attrs.get("arg_attrs"), at);
        }
        p.write(")");
        match ty.results.as_slice() {
            [] => {}
            [one] if !matches!(one, Type::Function(_)) && data.attrs.get("res_attrs").is_none() => {
                p.write(" -> ");
                p.ty(one);
            }
            several => {
                p.write(" -> (");
                for (at, result) in several.iter().enumerate() {
                    p.write(if at > 0 { ", " } else { "" });
                    p.ty(result);
                    print_attrs_of(p, data.attrs.get("res_attrs"), at);
                }
                p.write(")");
            }
        }
        p.attr_dict_after(" attributes ", op, &[SYMBOL, FUNCTION_TYPE, VISIBILITY, "arg_attrs", "res_attrs"]);
        if body.is_some() {
            p.write(" ");
            p.region(op, 0, false);
        }
    }
}

/// ` {…}` of one argument or result, if it has any.
fn print_attrs_of(p: &mut OpPrinter<'_>, list: Option<&Attr>, at: usize) {
    let Some(Attr::Array(list)) = list else { return };
    if let Some(attrs @ Attr::Dict(dict)) = list.get(at)
        && !dict.is_empty()
    {
        p.write(" ");
        p.attr(attrs);
    }
}

const RESULTS: ResultSpec = ResultSpec {
    name: "results",
    arity: Arity::Variadic,
    ty: ANY,
    infer: Infer::Written,
    doc: "what the function returns",
};

fn verify_call(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    let name = op.module.callee_name(op.id).unwrap_or("");
    let Some(callee) = op.module.symbol_from(op.id, name) else {
        diags.push(op.error("unknown-function", format!("there is no function `@{name}`")));
        return;
    };
    let Some(ty) = op.module.function_type(callee) else { return };
    let args = op.operands("args");
    let given = args.iter().map(|v| op.module.ty(*v));
    if args.len() != ty.inputs.len() || !given.zip(&ty.inputs).all(|(a, b)| same_type(a, b)) {
        diags.push(
            Diagnostic::error("call-types", op.span(), format!("the arguments are not those of `@{name}`"))
                .also(op.module.op(callee).span, "the function is declared here"),
        );
    }
}

/// `@name(%a, %b) : (T, T) -> T`.
struct CallText;

impl CustomSyntax for CallText {
    fn parse(&self, p: &mut OpParser<'_>, op: OpId) -> Result<(), Reported> {
        let callee = p.symbol()?;
        p.module.set_callee(op, &callee);
        let mut args = Vec::new();
        p.expect(Tok::LParen, "`(` and the arguments")?;
        p.list_until(Tok::RParen, "`)`", |p| {
            args.push(p.operand()?);
            Ok(())
        })?;
        p.set_operands(op, &[&args]);
        p.attr_dict(op)?;
        p.expect(Tok::Colon, "`:` and the function's type")?;
        let start = p.span();
        let ty = p.function_type()?;
        if ty.inputs.len() != args.len() {
            let message = format!("{} for {}", counted(ty.inputs.len(), "type"), counted(args.len(), "argument"));
            return Err(p.error("type-mismatch", p.span_from(start), message));
        }
        for (arg, input) in args.iter().zip(&ty.inputs) {
            let known = p.module.ty(*arg).clone();
            if !same_type(&known, input) {
                let name = p.module.value_name(*arg);
                p.error("type-mismatch", p.span_from(start), format!("`{name}` is a `{known}`, not a `{input}`"));
            }
        }
        for result in ty.results {
            p.add_result(op, result);
        }
        Ok(())
    }

    fn print(&self, p: &mut OpPrinter<'_>, op: OpId) {
        let module = p.module;
        let data = module.op(op);
        p.write(" ");
        p.symbol(module.callee_name(op).unwrap_or(""));
        p.write("(");
        p.values(&data.operands);
        p.write(")");
        p.attr_dict(op, &[CALLEE]);
        p.write(" : (");
        p.types_of(&data.operands);
        p.write(") -> ");
        p.result_types_of(&data.results);
    }
}

/// A call of the function with this name that is not in a block yet.
pub fn call(module: &mut Module, callee: &str, args: &[ValueId], results: &[Type], span: Span) -> OpId {
    CALL.make(module, &[("args", args)], [(CALLEE, Attr::Symbol(callee.into()))], results, span)
}
