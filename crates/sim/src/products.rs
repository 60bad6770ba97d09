//! The layout of products in the accumulator memory.
//!
//! The matrix unit stores m × n results as columns of 16 × 16 fractals, each column having m rows rounded up to a
//! multiple of 16, whatever the tile declares (device headers: `TMATMUL_IMPL` takes m from the valid rows of the left
//! operand, and `mad` has no operand for the destination's rows). The path out uses the rows of its tile, or its valid
//! rows where the tile is compact (`TStoreAccNz2nd`). Where the two differ, all columns but the first 16 differ.

use slipring_program::{Finding, Site, SiteRef};

use crate::report;

/// Rows and columns of a fractal.
const FRACTAL: u64 = 16;
/// Bytes of a row of a fractal.
const ROW: u64 = 64;

/// Rows of the columns of fractals needed for this many rows.
pub(crate) const fn columns_of(rows: u64) -> u64 {
    rows.next_multiple_of(FRACTAL)
}

/// The products whose results are in an accumulator memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Products(Vec<Product>);

#[derive(Clone, Copy, Debug)]
struct Product {
    start: u64,
    end: u64,
    /// Rows in each of its columns of fractals.
    pitch: u64,
    site: SiteRef,
}

impl Products {
    /// Marks the memory as empty.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// A product of m rows and n columns writes from byte `at`.
    pub fn write(&mut self, at: u64, m: u64, n: u64, site: SiteRef) {
        let pitch = columns_of(m.min(u64::from(u32::MAX)));
        let bytes = pitch.saturating_mul(ROW).saturating_mul(n.div_ceil(FRACTAL));
        let end = at.saturating_add(bytes);
        self.0.retain(|old| old.start < at || old.end > end);
        self.0.push(Product { start: at, end, pitch, site });
    }

    /// Serialises the contents.
    pub fn note(&self, words: &mut Vec<u64>) {
        words.push(self.0.len() as u64);
        self.0.iter().for_each(|own| words.extend([own.start, own.end, own.pitch, own.site.into()]));
    }

    /// `cols` columns are read from byte `at`, as columns of fractals of `pitch` rows.
    pub fn read(&self, at: u64, cols: u64, pitch: u64, sites: &[Site], site: SiteRef) -> Result<(), Box<Finding>> {
        // Fractals are whole, even if the tile has fewer rows.
        let pitch = columns_of(pitch.min(u64::from(u32::MAX)));
        let of = |product: &&Product| (product.start..product.end).contains(&at);
        let Some(product) = self.0.iter().rev().find(of).filter(|product| cols > FRACTAL && product.pitch != pitch)
        else {
            return Ok(());
        };
        let op = &sites[site as usize].op;
        let message = format!(
            "`{op}` takes columns of fractals of {pitch} rows out of the accumulator, where the product left columns of {} rows",
            product.pitch
        );
        let mut finding = report::error_at(
            slipring_program::Kind::AccumulatorRows,
            site,
            "all columns but the first 16 are wrong",
            message,
        );
        finding
            .secondary
            .push(report::label(product.site, "the product takes its rows from the left operand's valid rows"));
        finding.notes.push("a store goes by the rows of the tile, or by its valid rows if it is compact".to_string());
        finding.hint = Some(
            "make the accumulator `compact=1` with the product's valid rows, or as many rows as the product has"
                .to_string(),
        );
        Err(finding)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site() -> Vec<Site> {
        vec![Site { op: "op".into(), span: (0, 0), note: "" }]
    }

    #[test]
    fn a_product_is_read_as_it_was_written() {
        let mut products = Products::default();
        products.write(1024, 16, 128, 0);
        let sites = site();
        let read = |products: &Products, at, cols, pitch| products.read(at, cols, pitch, &sites, 0).is_ok();
        assert!(read(&products, 1024, 128, 16) && !read(&products, 1024, 128, 64));
        // One column of fractals lies the same way.
        assert!(read(&products, 1024, 16, 64));
        // Nobody knows what lies elsewhere; a part of it lies as it does.
        assert!(read(&products, 0, 128, 64) && !read(&products, 2048, 32, 64));
        // The last one counts, and what it covers is forgotten.
        products.write(0, 48, 256, 0);
        assert!(read(&products, 1024, 128, 48) && products.0.len() == 1);
    }
}
