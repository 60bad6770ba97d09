//! Contents of a value, as far as they are known without running code.

use super::limits::MOST_VALUES;
use super::value::{HostValue, Part, Wrapped};
use crate::value::Const;

impl<'a> HostValue<'a> {
    /// Truth value in Python, if it is known without running code.
    pub fn as_bool(&self) -> Option<bool> {
        if self.lost().is_some() {
            return None;
        }
        Some(match self {
            HostValue::Const(Const::Member(..) | Const::Split(_)) => return None,
            HostValue::Const(c) => crate::constants::is_true(c),
            HostValue::Tuple(items) => !items.is_empty(),
            HostValue::List(items) => !items.borrow().is_empty(),
            HostValue::Dict(items) | HostValue::Set(items) | HostValue::View(items, _) => !items.borrow().is_empty(),
            HostValue::Range(first, end, step) => range(*first, *end, *step).next().is_some(),
            HostValue::Function(_) | HostValue::Kernel(_) | HostValue::Bound(_) | HostValue::Iter(_) => true,
            HostValue::Method(_) | HostValue::Dynamic(_) | HostValue::Task(_) | HostValue::Exception(_) => true,
            HostValue::Wrapped(wrapped) => !matches!(&**wrapped, Wrapped::Property(..)),
            HostValue::Class(class) if class.foreign.borrow().is_none() => true,
            _ => return None,
        })
    }

    /// True for an extent that a call determines.
    pub fn is_extent(&self) -> bool {
        matches!(self, HostValue::Dynamic(_))
    }

    /// The string, if it is one.
    pub fn text(&self) -> Option<String> {
        match self {
            HostValue::Const(Const::Str(text)) => Some(text.to_string()),
            _ => None,
        }
    }

    /// Its description in messages.
    pub fn said(&self) -> String {
        match self {
            HostValue::Const(constant) => crate::text::python_text(constant),
            HostValue::Device(view) => format!("a tensor {} {}", crate::value::show(&view.shape), view.elem),
            HostValue::Tuple(_) | HostValue::List(_) => {
                let items: Vec<String> =
                    self.items().unwrap_or_default().iter().take(16).map(HostValue::said).collect();
                format!("[{}]", items.join(", "))
            }
            HostValue::Task(_) => "the id of a task".into(),
            _ => "…".into(),
        }
    }

    /// The values that a loop over it binds, if they are known without running code and not too many.
    pub fn items(&self) -> Option<Vec<HostValue<'a>>> {
        if self.lost().is_some() {
            return None;
        }
        let all: Vec<HostValue<'a>> = match self {
            HostValue::Tuple(items) => items.to_vec(),
            HostValue::List(items) => items.borrow().clone(),
            HostValue::Dict(items) => items.borrow().values().map(|(key, _)| key.clone()).collect(),
            HostValue::View(items, part) => {
                let all = items.borrow().clone();
                all.into_values()
                    .map(|(key, value)| match part {
                        Part::Keys => key,
                        Part::Values => value,
                        Part::Items => HostValue::tuple(vec![key, value.seen()]),
                    })
                    .collect()
            }
            // The order of a set depends on the Python implementation.
            HostValue::Set(items) if items.borrow().len() < 2 => {
                items.borrow().values().map(|(key, _)| key.clone()).collect()
            }
            HostValue::Range(first, end, step) => {
                let all: Vec<_> = range(*first, *end, *step).take(MOST_VALUES + 1).collect();
                if all.len() > MOST_VALUES {
                    return None;
                }
                all.into_iter().map(HostValue::int).collect()
            }
            HostValue::Const(Const::Str(text)) => text.chars().map(|c| HostValue::str(c.to_string())).collect(),
            _ => return None,
        };
        Some(all.into_iter().map(HostValue::seen).collect())
    }
}

/// Numbers of a range.
pub(super) fn range(first: i64, end: i64, step: i64) -> impl Iterator<Item = i64> {
    let inside = move |i: &i64| if step > 0 { *i < end } else { *i > end };
    std::iter::successors(Some(first), move |i| i.checked_add(step)).take_while(move |i| step != 0 && inside(i))
}

/// The length of a range.
pub(super) fn range_len(first: i64, end: i64, step: i64) -> i64 {
    let (first, end, step) = (i128::from(first), i128::from(end), i128::from(step));
    let count = match step {
        0 => 0,
        1.. => (end - first + step - 1) / step,
        _ => (first - end - step - 1) / -step,
    };
    i64::try_from(count.max(0)).unwrap_or(i64::MAX)
}
