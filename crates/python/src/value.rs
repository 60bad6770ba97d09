//! Converts facts of the library to Python values.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::Value;
use slipring_lang::{Elsewhere, Members, Name, Names, Part, Span};

use crate::words::words;

/// Facts as dictionaries, lists, numbers and strings.
pub fn to_python<'py>(py: Python<'py>, facts: &impl serde::Serialize) -> PyResult<Bound<'py, PyAny>> {
    let value = serde_json::to_value(facts).map_err(|error| PyValueError::new_err(error.to_string()))?;
    of_json(py, &value)
}

/// Like [`to_python`], with options in Python's syntax in all texts.
pub fn to_python_words<'py>(py: Python<'py>, facts: &impl serde::Serialize) -> PyResult<Bound<'py, PyAny>> {
    let mut value = serde_json::to_value(facts).map_err(|error| PyValueError::new_err(error.to_string()))?;
    in_words(&mut value);
    of_json(py, &value)
}

fn in_words(value: &mut Value) {
    match value {
        Value::String(text) => *text = words(text),
        Value::Array(items) => items.iter_mut().for_each(in_words),
        Value::Object(fields) => fields.values_mut().for_each(in_words),
        _ => {}
    }
}

fn of_json<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(boolean) => PyBool::new(py, *boolean).to_owned().into_any(),
        Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(n), ..) => n.into_pyobject(py)?.into_any(),
            (_, Some(n), _) => n.into_pyobject(py)?.into_any(),
            (.., x) => x.unwrap_or(f64::NAN).into_pyobject(py)?.into_any(),
        },
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(of_json(py, item)?)?;
            }
            list.into_any()
        }
        Value::Object(fields) => {
            let dict = PyDict::new(py);
            for (name, item) in fields {
                dict.set_item(name, of_json(py, item)?)?;
            }
            dict.into_any()
        }
    })
}

/// A function of a text: its range in the text, its names, the scopes in which it was defined.
type GivenPart<'py> = ((u32, u32), Bound<'py, PyDict>, Vec<String>);

/// The values of names around a text: an object with `whole`, `parts` and `elsewhere`.
pub fn names(value: &Bound<'_, PyAny>) -> PyResult<Names> {
    let parts: Vec<GivenPart<'_>> = value.getattr("parts")?.extract()?;
    let part = |((start, end), own, within): GivenPart<'_>| Ok(Part { range: start..end, own: pairs(&own)?, within });
    let elsewhere: Vec<((u32, u32), String, usize)> = value.getattr("elsewhere")?.extract()?;
    let elsewhere =
        elsewhere.into_iter().map(|((start, end), name, line)| Elsewhere { span: Span::new(start, end), name, line });
    Ok(Names {
        elsewhere: elsewhere.collect(),
        whole: pairs(&value.getattr("whole")?.cast_into()?)?,
        parts: parts.into_iter().map(part).collect::<PyResult<_>>()?,
    })
}

fn pairs(names: &Bound<'_, PyDict>) -> PyResult<Vec<(String, Name)>> {
    names.iter().map(|(key, value)| Ok((key.extract()?, name(&value)?))).collect()
}

/// The value of a name in a closure. An element of the language is `("path", "pl.FP32")` in a tuple of its own class;
/// the Python side passes an object with the attribute `__slipring_path__`.
fn name(value: &Bound<'_, PyAny>) -> PyResult<Name> {
    if let Ok(path) = value.getattr("__slipring_path__") {
        return Ok(Name::Path(path.extract()?));
    }
    if let Ok(function) = value.getattr("__slipring_function__") {
        return Ok(match value.getattr("part").and_then(|part| part.extract()) {
            Ok(Some(part)) => Name::Part(part),
            _ => Name::Function(function.extract()?),
        });
    }
    if let Ok(partial) = value.getattr("__slipring_partial__") {
        let (function, args, named): (Bound<'_, PyAny>, Bound<'_, PyTuple>, Bound<'_, PyDict>) = partial.extract()?;
        let args = args.iter().map(|item| name(&item)).collect::<PyResult<_>>()?;
        let named = named.iter().map(|(key, item)| Ok((key.extract()?, name(&item)?))).collect::<PyResult<_>>()?;
        return Ok(Name::Partial(Box::new(name(&function)?), args, named));
    }
    if value.is_none() {
        return Ok(Name::None);
    }
    if value.is_instance_of::<PyBool>() {
        return Ok(Name::Bool(value.extract()?));
    }
    if value.is_instance_of::<PyInt>() {
        let beyond =
            |_| PyTypeError::new_err(format!("a whole number of a kernel has 64 bits, and {value} is beyond them"));
        return Ok(Name::Int(value.extract().map_err(beyond)?));
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(Name::Float(value.extract()?));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Name::Str(text.to_str()?.to_owned()));
    }
    if let Ok(items) = value.cast::<PyTuple>() {
        return Ok(Name::Tuple(items.iter().map(|item| name(&item)).collect::<PyResult<_>>()?));
    }
    if let Ok(members) = value.getattr("__slipring_members__") {
        return Ok(Name::Members(Members {
            what: value.getattr("what")?.extract()?,
            same: value.getattr("same")?.extract()?,
            fields: pairs(&members.cast_into()?)?,
        }));
    }
    if let Ok(entries) = value.cast::<PyDict>() {
        let each = entries.iter().map(|(key, item)| Ok((name(&key)?, name(&item)?)));
        return Ok(Name::Dict { same: value.getattr("same")?.extract()?, entries: each.collect::<PyResult<_>>()? });
    }
    Err(PyTypeError::new_err(format!("a kernel cannot use a value of type {}", value.get_type().name()?)))
}
