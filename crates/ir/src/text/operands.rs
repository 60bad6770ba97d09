//! Matching of operands in the text to declared operands; types of results.

use smallvec::SmallVec;

use super::ops::segment_sizes;
use super::parser::{Parsed, is_unknown, unknown_type};
use super::types::same_type;
use crate::declaration::OpParser;
use crate::{Arity, Attr, Diagnostic, Infer, OpId, OpSchema, OperandSpec, Span, Type, ValueId};

/// The number of values of each declared operand, given the types of the values in order: an optional operand is
/// skipped if its rule rejects the value, and otherwise taken if the rest still fits. `None` if nothing fits.
pub(crate) fn assign(types: &[&Type], specs: &[OperandSpec]) -> Option<SmallVec<[u16; 4]>> {
    assign_with(types.len(), specs, |value, spec| is_unknown(types[value]) || (spec.ty.accepts)(types[value]))
}

/// As [`assign`], by count alone.
pub(crate) fn assign_by_count(count: usize, specs: &[OperandSpec]) -> Option<SmallVec<[u16; 4]>> {
    assign_with(count, specs, |_, _| true)
}

fn assign_with(
    count: usize,
    specs: &[OperandSpec],
    accepts: impl Fn(usize, &OperandSpec) -> bool,
) -> Option<SmallVec<[u16; 4]>> {
    if count > u16::MAX as usize {
        return None;
    }
    // Most declarations are unambiguous.
    if specs.iter().all(|spec| spec.arity == Arity::One) {
        let fits = count == specs.len() && specs.iter().enumerate().all(|(value, spec)| accepts(value, spec));
        return fits.then(|| SmallVec::from_elem(1, count));
    }
    // The next spec after one that has taken a value: an alternative to it is skipped.
    let after = |j: usize| j + 1 + usize::from(specs.get(j + 1).is_some_and(|next| next.arity == Arity::Instead));
    // fits[j][i]: the values from i on match the specs from j on.
    let mut fits = vec![vec![false; count + 1]; specs.len() + 1];
    fits[specs.len()][count] = true;
    for (j, spec) in specs.iter().enumerate().rev() {
        for i in (0..=count).rev() {
            let take = i < count && accepts(i, spec);
            fits[j][i] = match spec.arity {
                Arity::One => take && fits[j + 1][i + 1],
                Arity::Optional | Arity::Instead => fits[j + 1][i] || (take && fits[after(j)][i + 1]),
                Arity::Variadic => fits[j + 1][i] || (take && fits[j][i + 1]),
            };
        }
    }
    if !fits[0][0] {
        return None;
    }
    let mut at = 0;
    let mut sizes: SmallVec<[u16; 4]> = SmallVec::new();
    for (j, spec) in specs.iter().enumerate() {
        let start = at;
        let before: bool = sizes.last().is_some_and(|size| *size > 0);
        match spec.arity {
            Arity::One => at += 1,
            Arity::Instead if before => {}
            Arity::Optional | Arity::Instead => {
                at += usize::from(at < count && accepts(at, spec) && fits[after(j)][at + 1]);
            }
            Arity::Variadic => {
                while at < count && accepts(at, spec) && fits[j][at + 1] {
                    at += 1;
                }
            }
        }
        sizes.push((at - start) as u16);
    }
    Some(sizes)
}

/// True if the sizes are allowed by the declaration and add up to `count` operands.
pub(crate) fn sizes_fit(sizes: &[u16], count: usize, specs: &[OperandSpec]) -> bool {
    sizes.len() == specs.len()
        && sizes.iter().map(|n| *n as usize).sum::<usize>() == count
        && sizes.iter().zip(specs).all(|(n, spec)| match spec.arity {
            Arity::One => *n == 1,
            Arity::Optional | Arity::Instead => *n <= 1,
            Arity::Variadic => true,
        })
}

/// `%lhs, %rhs[, %tmp]`: the operands of a declaration, for messages.
fn describe(specs: &[OperandSpec]) -> String {
    let mut out = String::new();
    for (i, spec) in specs.iter().enumerate() {
        let comma = if i > 0 { ", " } else { "" };
        match spec.arity {
            Arity::One => out.push_str(&format!("{comma}{} ({})", spec.name, spec.ty.describe)),
            Arity::Optional | Arity::Instead => out.push_str(&format!("[{comma}{} ({})]", spec.name, spec.ty.describe)),
            Arity::Variadic => out.push_str(&format!("{comma}{}... ({})", spec.name, spec.ty.describe)),
        }
    }
    out
}

impl<'a> OpParser<'a> {
    /// Assigns values to declared operands by their types, otherwise by their number; types that do not fit are then
    /// reported by the check of the op.
    pub(crate) fn assign_operands(
        &mut self,
        values: &[ValueId],
        specs: &[OperandSpec],
        what: impl FnOnce() -> String,
        span: Span,
    ) -> Parsed<SmallVec<[u16; 4]>> {
        let told = {
            let types: SmallVec<[&Type; 8]> = values.iter().map(|v| self.module.ty(*v)).collect();
            assign(&types, specs)
        };
        if let Some(sizes) = told.or_else(|| assign_by_count(values.len(), specs)) {
            return Ok(sizes);
        }
        let message = format!("{} {}", plural(values.len(), "operand does not fit", "operands do not fit"), what());
        let d = Diagnostic::error("operand-count", span, message);
        let takes = if specs.is_empty() { "no operands".to_string() } else { describe(specs) };
        Err(self.fail(d.note(format!("expected {takes}"))))
    }

    /// The operands of a declared op in generic form.
    pub(crate) fn generic_operands(&mut self, op: OpId, schema: &OpSchema, values: &[ValueId]) -> Parsed<()> {
        let span = self.module.op(op).span;
        let span = Span::new(span.start, self.cur.prev_end.max(span.start));
        let attrs = &mut self.module.op_mut(op).attrs;
        attrs.remove("resultSegmentSizes");
        let given = attrs.remove("operandSegmentSizes");
        // If the declaration does not specify the order, optional operands may come last in the generic form, whatever
        // their position in the text.
        let mut orders = vec![schema.generic_order()];
        if schema.generic.is_empty() {
            let mut late: Vec<usize> = (0..schema.operands.len()).collect();
            late.sort_by_key(|i| !matches!(schema.operands[*i].arity, Arity::One | Arity::Variadic));
            orders.push(late);
        }
        let in_order = |order: &Vec<usize>| order.iter().map(|place| schema.operands[*place]).collect();
        let specs: Vec<Vec<OperandSpec>> = orders.iter().map(in_order).collect();
        let types: Vec<&Type> = values.iter().map(|v| self.module.ty(*v)).collect();
        let (chosen, sizes) = match given.as_ref().map(segment_sizes) {
            Some(None) => return Err(self.error("attribute", span, "`operandSegmentSizes` is an `array<i32: …>`")),
            Some(Some(mut sizes)) => {
                // Otherwise an op may have further optional operands, after the declared ones.
                let declared = schema.operands.len();
                if sizes.len() > declared && sizes[declared..].iter().all(|size| *size == 0) {
                    sizes.truncate(declared);
                }
                let fits = |specs: &[OperandSpec]| sizes_fit(&sizes, values.len(), specs);
                let accepted = |specs: &Vec<OperandSpec>| fits(specs) && groups_accepted(&types, &sizes, specs);
                match specs.iter().position(accepted) {
                    Some(chosen) => (chosen, sizes),
                    None if fits(&specs[0]) => (0, sizes),
                    None => {
                        let message = format!("{:?} are not valid sizes for the operands", &sizes[..]);
                        let d = Diagnostic::error("operand-count", span, message);
                        return Err(self.fail(d.note(format!("expected {}", describe(&specs[0])))));
                    }
                }
            }
            None => {
                let mut told = specs.iter().enumerate().filter_map(|(at, specs)| Some((at, assign(&types, specs)?)));
                match told.next() {
                    Some(told) => told,
                    None => (0, self.assign_operands(values, &specs[0], || format!("`{}`", schema.name), span)?),
                }
            }
        };
        let mut groups: Vec<&[ValueId]> = vec![&[]; schema.operands.len()];
        let mut rest = values;
        for (place, size) in orders[chosen].iter().zip(&sizes) {
            (groups[*place], rest) = rest.split_at(usize::from(*size));
        }
        self.set_operands(op, &groups);
        Ok(())
    }

    /// Adds the results whose types the text does not give, according to the declaration.
    ///
    /// # Errors
    /// If the types of the operands are inconsistent.
    pub fn infer_results(&mut self, op: OpId) -> Parsed<()> {
        self.results(op, &[])
    }

    /// Adds the results of a declared op. `written` contains the types given in the text, by result.
    pub(crate) fn results(&mut self, op: OpId, written: &[(usize, Vec<Type>, Span)]) -> Parsed<()> {
        let Some(schema) = self.module.op(op).schema() else { return Ok(()) };
        for (index, spec) in schema.results.iter().enumerate() {
            let inferred = self.infer(op, &spec.infer);
            if let Some((_, types, span)) = written.iter().find(|w| w.0 == index) {
                if let (Some(Some(inferred)), [ty]) = (&inferred, types.as_slice())
                    && !same_type(inferred, ty)
                {
                    let d =
                        Diagnostic::error("type-mismatch", *span, format!("`{}` does not give this type", schema.name))
                            .label(format!("written as `{ty}`"))
                            .help(format!("write `{inferred}`"));
                    self.fail(d);
                }
                for ty in types {
                    self.add_result(op, ty.clone());
                }
                continue;
            }
            match inferred {
                Some(Some(ty)) => drop(self.add_result(op, ty)),
                _ if spec.arity != Arity::One => {}
                // Operands of wrong types are reported individually.
                Some(None) if !self.operands_accepted(op, schema) => drop(self.add_result(op, unknown_type())),
                Some(None) => {
                    let types: Vec<_> = self.operand_type_list(op).iter().map(|t| format!("`{t}`")).collect();
                    let span = self.span_from(self.module.op(op).span);
                    let message = format!("`{}` has no result for operands of these types", schema.name);
                    let d = Diagnostic::error("type-mismatch", span, message);
                    self.fail(d.note(format!("they are {}", types.join(", "))));
                    self.add_result(op, unknown_type());
                }
                None => {
                    let span = self.span_from(self.module.op(op).span);
                    let message = format!("the text does not tell the type of `{}`, the result", spec.name);
                    return Err(self.error("type", span, message));
                }
            }
        }
        Ok(())
    }

    fn operands_accepted(&self, op: OpId, schema: &OpSchema) -> bool {
        let data = self.module.op(op);
        let types: Vec<&Type> = data.operands.iter().map(|v| self.module.ty(*v)).collect();
        groups_accepted(&types, &data.segments, schema.operands)
    }

    fn operand_type_list(&self, op: OpId) -> Vec<Type> {
        self.module.op(op).operands.iter().map(|v| self.module.ty(*v).clone()).collect()
    }

    /// The type determined by a declaration: `None` if it determines none, `Some(None)` if the operands are
    /// inconsistent.
    fn infer(&self, op: OpId, rule: &Infer) -> Option<Option<Type>> {
        match rule {
            Infer::Written => None,
            Infer::Fixed(ty) => Some(Some(ty())),
            Infer::SameAs(index) => {
                let value = self.module.operand_group(op, *index).first()?;
                Some(Some(self.module.ty(*value).clone()))
            }
            Infer::From(rule) => {
                let types = self.operand_type_list(op);
                if types.iter().any(is_unknown) {
                    return Some(Some(unknown_type()));
                }
                Some(rule(&types))
            }
        }
    }
}

fn groups_accepted(types: &[&Type], sizes: &[u16], specs: &[OperandSpec]) -> bool {
    let mut rest = types;
    specs.iter().zip(sizes).all(|(spec, n)| {
        let (group, after) = rest.split_at(*n as usize);
        rest = after;
        group.iter().all(|ty| is_unknown(ty) || (spec.ty.accepts)(ty))
    })
}

/// `1 operand does not fit`, `2 operands do not fit`.
fn plural(n: usize, one: &str, many: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {many}") }
}

/// `array<i32: …>` of the sizes of an op's operand groups.
pub(crate) fn segment_attr(sizes: &[u16]) -> Attr {
    Attr::DenseArray(Type::I32, sizes.iter().map(|n| (*n).into()).collect())
}
