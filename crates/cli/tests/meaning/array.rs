//! Arrays of numbers, and parts of them that share their memory.

use std::cell::RefCell;
use std::rc::Rc;

use slipring_tile::Elem;

use crate::meaning::number;

/// An array or a part of one. Parts share the memory of the array.
#[derive(Clone, Debug)]
pub struct Array {
    pub data: Rc<RefCell<Vec<f64>>>,
    pub elem: Elem,
    /// Offset of the first element.
    pub first: usize,
    pub shape: Vec<usize>,
    pub strides: Vec<usize>,
    /// True for a window of a kernel's parameter, false for a tile.
    pub tensor: bool,
    /// Valid rows and columns, if fewer than there are.
    pub valid: Option<[usize; 2]>,
}

/// Rows and columns of a shape.
pub fn fold(shape: &[usize]) -> [usize; 2] {
    match shape.split_last() {
        Some((cols, rows)) => [rows.iter().product(), *cols],
        None => [1, 1],
    }
}

impl Array {
    /// A new tile, from its elements row by row.
    pub fn new(shape: &[usize], elem: Elem, values: Vec<f64>) -> Array {
        assert_eq!(values.len(), shape.iter().product::<usize>());
        let mut strides: Vec<usize> = Vec::new();
        let mut stride = 1;
        for extent in shape.iter().rev() {
            strides.insert(0, stride);
            stride *= extent;
        }
        let data = Rc::new(RefCell::new(values));
        Array { data, elem, first: 0, shape: shape.to_vec(), strides, tensor: false, valid: None }
    }

    /// A tile of one number.
    pub fn full(shape: &[usize], elem: Elem, value: f64) -> Array {
        Array::new(shape, elem, vec![value; shape.iter().product()])
    }

    /// A parameter, from its bytes.
    pub fn parameter(shape: &[usize], elem: Elem, bytes: &[u8]) -> Array {
        let values = bytes.chunks_exact(elem.bytes()).map(|bytes| number::load(elem, bytes)).collect();
        Array { tensor: true, ..Array::new(shape, elem, values) }
    }

    /// The elements as bytes, row by row.
    pub fn bytes(&self) -> Vec<u8> {
        self.values().into_iter().flat_map(|x| number::store(self.elem, x)).collect()
    }

    pub fn count(&self) -> usize {
        self.shape.iter().product()
    }

    /// The offset of an element, by its row-major index.
    fn place(&self, mut at: usize) -> usize {
        let mut place = self.first;
        for (extent, stride) in self.shape.iter().zip(&self.strides).rev() {
            place += at % extent * stride;
            at /= extent;
        }
        place
    }

    /// The elements, row by row.
    pub fn values(&self) -> Vec<f64> {
        let data = self.data.borrow();
        (0..self.count()).map(|at| data[self.place(at)]).collect()
    }

    /// Writes the elements, row by row.
    pub fn write(&self, values: &[f64]) {
        assert_eq!(values.len(), self.count());
        let mut data = self.data.borrow_mut();
        for (at, value) in values.iter().enumerate() {
            data[self.place(at)] = *value;
        }
    }

    /// The same elements in new memory: a tile.
    pub fn copy(&self) -> Array {
        Array { valid: self.valid, ..Array::new(&self.shape, self.elem, self.values()) }
    }

    /// A part: first element and extent in each dimension. An extent of `None` removes the dimension.
    pub fn part(&self, parts: &[(i128, Option<usize>)]) -> Result<Array, String> {
        let mut result = Array { shape: Vec::new(), strides: Vec::new(), valid: None, ..self.clone() };
        if parts.len() != self.shape.len() {
            return Err(format!("{} subscripts for {:?}", parts.len(), self.shape));
        }
        for ((first, size), (extent, stride)) in parts.iter().zip(self.shape.iter().zip(&self.strides)) {
            let end = first + size.unwrap_or(1) as i128;
            if *first < 0 || end > *extent as i128 {
                return Err(format!("{first}..{end} is outside of 0..{extent}"));
            }
            result.first += *first as usize * stride;
            if let Some(size) = size {
                result.shape.push(*size);
                result.strides.push(*stride);
            }
        }
        Ok(result)
    }

    /// The same elements with another shape: a view if the elements are contiguous, else a copy.
    pub fn reshaped(&self, shape: &[usize]) -> Result<Array, String> {
        if shape.iter().product::<usize>() != self.count() {
            return Err(format!("{:?} is not {shape:?}", self.shape));
        }
        let dense = (0..self.count()).all(|at| self.place(at) == self.first + at);
        if !dense {
            return Ok(Array::new(shape, self.elem, self.values()));
        }
        let strides = Array::full(shape, self.elem, 0.0).strides;
        Ok(Array { shape: shape.to_vec(), strides, valid: None, ..self.clone() })
    }

    /// The transposed array, in the same memory.
    pub fn transposed(&self) -> Array {
        let mut result = self.clone();
        let rank = result.shape.len();
        result.shape[rank - 2..].reverse();
        result.strides[rank - 2..].reverse();
        result.valid = result.valid.map(|[rows, cols]| [cols, rows]);
        result
    }

    /// Rows and columns.
    pub fn rows_cols(&self) -> [usize; 2] {
        fold(&self.shape)
    }

    /// Valid rows and columns.
    pub fn counted(&self) -> [usize; 2] {
        self.valid.unwrap_or(self.rows_cols())
    }

    /// The valid elements, row by row.
    pub fn rows(&self) -> Vec<Vec<f64>> {
        let ([_, cols], [rows, valid]) = (self.rows_cols(), self.counted());
        let values = self.values();
        (0..rows).map(|row| values[row * cols..row * cols + valid].to_vec()).collect()
    }

    /// A tile of the same shape, with a function applied to each element.
    pub fn map(&self, elem: Elem, f: impl FnMut(f64) -> f64) -> Array {
        let values = self.values().into_iter().map(f).collect();
        Array { valid: self.valid, ..Array::new(&self.shape, elem, values) }
    }
}
