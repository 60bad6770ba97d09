//! Named arguments of work. An effect receives a list of integers; both the issuer and the effect refer to them by
//! name.

/// Declares the arguments of an effect by name, in the order in which the effect gets them: a struct with a field for
/// each.
///
/// `list` makes the list with which work is issued, `of` names the values of such a list (further values are private to
/// the effect), `AT` holds the index of each, and `COUNT` is their number.
///
/// ```
/// slipring_program::arguments! {
///     /// Where from, where to, how many.
///     pub struct CopyArgs { from, to, count }
/// }
/// let list = CopyArgs { from: 8, to: 16, count: 2 }.list();
/// assert_eq!(CopyArgs::of(&list).to, 16);
/// assert_eq!(CopyArgs::AT.count, 2);
/// ```
#[macro_export]
macro_rules! arguments {
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $($field:ident),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug)]
        #[allow(missing_docs)]
        $vis struct $name<T> { $(pub $field: T),* }

        impl<T: Copy> $name<T> {
            /// The arguments at the start of a list.
            ///
            /// # Panics
            /// If there are fewer: the issuer of the work must supply all of them.
            #[inline]
            pub fn of(args: &[T]) -> $name<T> {
                let [$($field,)* ..] = *args else { panic!("{} of {} arguments", args.len(), $name::COUNT) };
                $name { $($field),* }
            }

            /// The list that an effect is issued with.
            pub fn list(self) -> Vec<T> {
                vec![$(self.$field),*]
            }
        }

        #[allow(dead_code)]
        impl $name<usize> {
            /// Their indices.
            pub const AT: $name<usize> = {
                #[allow(non_camel_case_types)]
                enum At { $($field),* }
                $name { $($field: At::$field as usize),* }
            };
            /// Their number.
            pub const COUNT: usize = [$(stringify!($field)),*].len();
        }
    };
}
