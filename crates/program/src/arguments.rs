//! Named arguments of work: what an effect is given is a list of numbers, and both who issues it and the effect itself name them.

/// Declares the arguments of an effect by name, in the order in which the effect gets them: a struct with a field for each.
///
/// `list` makes the list that work is issued with, `of` names the values of such a list (what follows them is the effect's own matter),
/// `AT` holds the position of each, and `COUNT` says how many there are.
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
            /// If there are fewer: who issues the work names all of them.
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
            /// Their positions.
            pub const AT: $name<usize> = {
                #[allow(non_camel_case_types)]
                enum At { $($field),* }
                $name { $($field: At::$field as usize),* }
            };
            /// How many there are.
            pub const COUNT: usize = [$(stringify!($field)),*].len();
        }
    };
}
