//! The values of names.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::meaning::array::Array;

/// A value of a kernel's text.
#[derive(Clone, Debug)]
pub enum Value {
    Int(i128),
    Float(f64),
    /// A float computed at run time: arithmetic on it is rounded to `f32`.
    Single(f32),
    Bool(bool),
    Text(String),
    None,
    /// A name of the language, of Python or (with `@`) of the file.
    Word(String),
    Array(Array),
    Tuple(Vec<Value>),
    /// A separate value for each Vector core.
    Lanes(Box<[Value; 2]>),
}

/// A value, or why there is none.
pub type Eval<T = Value> = Result<T, String>;

/// Names and their values.
pub type Names = BTreeMap<String, Value>;

impl Value {
    pub fn as_bool(&self) -> Eval<bool> {
        Ok(match self {
            Value::Int(n) => *n != 0,
            Value::Float(x) => *x != 0.0,
            Value::Single(x) => *x != 0.0,
            Value::Bool(b) => *b,
            Value::Text(text) => !text.is_empty(),
            Value::None => false,
            other => return Err(format!("{other:?} is not a condition")),
        })
    }

    pub fn int(&self) -> Eval<i128> {
        match self {
            Value::Int(n) => Ok(*n),
            Value::Bool(b) => Ok(i128::from(*b)),
            Value::Array(array) if !array.elem.is_float() && array.count() == 1 => Ok(array.values()[0] as i128),
            other => Err(format!("{other:?} is not an integer")),
        }
    }

    pub fn float(&self) -> Eval<f64> {
        match self {
            Value::Float(x) => Ok(*x),
            Value::Single(x) => Ok(f64::from(*x)),
            Value::Array(array) if array.count() == 1 => Ok(array.values()[0]),
            other => other.int().map(|n| n as f64),
        }
    }

    pub fn array(&self) -> Eval<Array> {
        match self {
            Value::Array(array) => Ok(array.clone()),
            other => Err(format!("{other:?} is not a tile")),
        }
    }

    pub fn items(&self) -> Vec<Value> {
        match self {
            Value::Tuple(items) => items.clone(),
            single => vec![single.clone()],
        }
    }

    pub fn ints(&self) -> Eval<Vec<i128>> {
        self.items().iter().map(Value::int).collect()
    }

    pub fn shape(&self) -> Eval<Vec<usize>> {
        self.items().iter().map(|n| n.int().map(|n| n as usize)).collect()
    }

    /// The last part of a name of the language.
    pub fn member(&self) -> Eval<&str> {
        match self {
            Value::Word(word) => Ok(word.rsplit('.').next().unwrap_or(word)),
            Value::Text(text) => Ok(text),
            other => Err(format!("{other:?} is not a name")),
        }
    }

    /// The value for one Vector core. Tiles that both shared are copied; `copies` holds those already copied.
    pub fn of_lane(&self, lane: usize, copies: &mut Vec<(Array, Array)>) -> Value {
        match self {
            Value::Lanes(values) => values[lane].of_lane(0, copies),
            Value::Tuple(items) => Value::Tuple(items.iter().map(|item| item.of_lane(lane, copies)).collect()),
            Value::Array(array) if !array.tensor && lane == 1 => {
                let known = copies.iter().find(|(from, _)| Rc::ptr_eq(&from.data, &array.data));
                let data = known.map(|(_, to)| to.data.clone()).unwrap_or_else(|| {
                    let data = Rc::new(std::cell::RefCell::new(array.data.borrow().clone()));
                    copies.push((array.clone(), Array { data: data.clone(), ..array.clone() }));
                    data
                });
                Value::Array(Array { data, ..array.clone() })
            }
            other => other.clone(),
        }
    }

    /// The combined value of two Vector cores.
    pub fn of_both(first: &Value, second: &Value) -> Value {
        match (first, second) {
            (Value::Array(a), Value::Array(b)) => {
                let same = Rc::ptr_eq(&a.data, &b.data) || {
                    let bits = |array: &Array| array.data.borrow().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                    bits(a) == bits(b)
                };
                if same && (a.first, &a.shape) == (b.first, &b.shape) {
                    return first.clone();
                }
            }
            (Value::Tuple(a), Value::Tuple(b)) if a.len() == b.len() => {
                return Value::Tuple(a.iter().zip(b).map(|(a, b)| Value::of_both(a, b)).collect());
            }
            (Value::Int(a), Value::Int(b)) if a == b => return first.clone(),
            (Value::Bool(a), Value::Bool(b)) if a == b => return first.clone(),
            (Value::Float(a), Value::Float(b)) if a.to_bits() == b.to_bits() => return first.clone(),
            (Value::Single(a), Value::Single(b)) if a.to_bits() == b.to_bits() => return first.clone(),
            (Value::Word(a), Value::Word(b)) | (Value::Text(a), Value::Text(b)) if a == b => return first.clone(),
            (Value::None, Value::None) => return Value::None,
            _ => {}
        }
        Value::Lanes(Box::new([first.clone(), second.clone()]))
    }
}
