//! Parsing of the types of logical vectors: `!pto.vmi.vreg<128xsi32>`, `!pto.vmi.mask<128xpred>`.

use slipring_tile::Elem;

use super::lexer::Tok;
use super::parser::Parsed;
use crate::declaration::OpParser;
use crate::{Diagnostic, LaneType, LogicalMask, LogicalVector, Span, Type};

impl OpParser<'_> {
    /// `128xf32` after `!pto.vmi.vreg<`, up to the `>`.
    pub(super) fn logical_vector(&mut self, start: Span) -> Parsed<Type> {
        let lanes = self.lanes(start)?;
        if !self.dim_x() {
            return Err(self.error("type", self.span_from(start), "a logical vector is written `128xf32`"));
        }
        let vector = LogicalVector { lanes, lane: self.lane()? };
        self.no_layout()?;
        if vector.registers() > LogicalVector::MOST_REGISTERS as usize {
            let message = format!(
                "a vector of {} bytes needs {} registers: there are {}",
                vector.bytes(),
                vector.registers(),
                LogicalVector::MOST_REGISTERS
            );
            return Err(self.error("type", self.span_from(start), message));
        }
        Ok(Type::LogicalVector(vector))
    }

    /// `128`, `128xpred` or `128xb32` after `!pto.vmi.mask<`, up to the `>`.
    pub(super) fn logical_mask(&mut self, start: Span) -> Parsed<Type> {
        let lanes = self.lanes(start)?;
        let mut bits = None;
        if self.dim_x() {
            bits = match self.text() {
                "pred" => None,
                "b8" => Some(8),
                "b16" => Some(16),
                "b32" => Some(32),
                _ => {
                    let d = self.expectation("the width of the lanes that the predicate governs");
                    return Err(self.fail(d.help("one of pred, b8, b16, b32")));
                }
            };
            self.bump();
        }
        self.no_layout()?;
        Ok(Type::LogicalMask(LogicalMask { lanes, bits }))
    }

    fn lanes(&mut self, start: Span) -> Parsed<u32> {
        let lanes = self.dim_number()?;
        match u32::try_from(lanes) {
            Ok(lanes) if (1..=LogicalVector::MOST_LANES).contains(&lanes) => Ok(lanes),
            _ => {
                let message = format!("a logical vector has 1 to {} lanes, not {lanes}", LogicalVector::MOST_LANES);
                Err(self.error("type", self.span_from(start), message))
            }
        }
    }

    fn lane(&mut self) -> Parsed<LaneType> {
        let word = self.text();
        if word == "!pto.bf16x2" {
            self.bump();
            return Ok(LaneType::PairOfBf16);
        }
        // Names of the SPEC that the dialect does not have.
        if let Some(elem) = match word {
            "fp8_e4m3" => Some(Elem::F8E4M3),
            "fp8_e5m2" => Some(Elem::F8E5M2),
            _ => None,
        } {
            self.bump();
            return Ok(LaneType::Elem(elem));
        }
        let (signed, start) = (word.starts_with("si"), self.span());
        let elem = self.elem()?;
        if elem.bytes() > 4 {
            let message = format!("lanes of a logical vector have 8, 16 or 32 bits, not those of {elem}");
            return Err(self.error("type", self.span_from(start), message));
        }
        Ok(if signed && elem.is_signed_int() { LaneType::Signed(elem) } else { LaneType::Elem(elem) })
    }

    /// Layouts are what the assembler's own passes add.
    fn no_layout(&mut self) -> Parsed<()> {
        if self.cur.tok != Tok::Comma {
            return Ok(());
        }
        let message = "a layout of a logical vector is what the assembler decides: programs do not give it";
        let d = Diagnostic::error(crate::Kind::Unsupported, self.span(), message);
        Err(self.fail(d.help("leave the layout out")))
    }
}
