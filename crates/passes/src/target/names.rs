//! Function names in C++: reserved names are renamed.

use std::collections::BTreeSet;

use slipring_ir::function::SYMBOL;
use slipring_ir::{Attr, Diagnostic, Diags, Module, Severity};
use slipring_op::symbol_name;

/// Reserved words of C++, and names defined by the headers that an assembler's C++ output includes.
const TAKEN: &str = "\
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class \
    co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype \
    default delete do double dynamic_cast else enum explicit export extern false float for friend goto half if \
    inline int long main mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected pto \
    public register reinterpret_cast requires return short signed sizeof static static_assert static_cast std \
    struct switch template this thread_local throw true try typedef typeid typename union unsigned using virtual \
    void volatile wchar_t while xor xor_eq";

/// Renames functions whose names are reserved in C++, and reports it.
pub fn rename_taken(module: &mut Module, target: &str, diags: &mut Diags) {
    let mut names: BTreeSet<String> = module.functions().map(|f| symbol_name(module, f).to_string()).collect();
    for function in module.functions().collect::<Vec<_>>() {
        let old = symbol_name(module, function).to_string();
        if !TAKEN.split(' ').any(|word| word == old) {
            continue;
        }
        let mut new = format!("{old}_");
        while names.contains(&new) {
            new.push('_');
        }
        names.insert(new.clone());
        for op in module.walk(module.top) {
            let attrs = &mut module.op_mut(op).attrs;
            for place in 0..attrs.len() {
                let Some((name, attr)) = attrs.at(place) else { break };
                if matches!(attr, Attr::Symbol(symbol) if **symbol == *old) {
                    let name = name.clone();
                    attrs.set(name, Attr::Symbol(new.as_str().into()));
                }
            }
        }
        module.op_mut(function).attrs.set(SYMBOL, Attr::Str(new.as_str().into()));
        let message = format!("`@{old}` is called `@{new}` for `{target}`: the name is reserved in C++");
        let note = Diagnostic::warning("renamed", module.op(function).span, message);
        diags.push(Diagnostic { severity: Severity::Note, ..note });
    }
}
